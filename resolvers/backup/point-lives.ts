// The life of a recovery point on the clock: to cold storage, and to its end.
//
// One step waits for the next moment of a point. A step that finds another moment noted, because the
// lifecycle was changed, leaves the point alone.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { stopContinuous } from './continuous-records.ts'
import { holdOver } from './hold-rules.ts'
import { recoveryPoints, type RecoveryPoint } from './kinds.ts'
import { calculated } from './lifecycles.ts'
import { forgetBytes } from './point-bytes.ts'
import { forgetLatest, noteLatest } from './protected-resources.ts'
import { DELETE, roleMay } from './roles.ts'
import { setTags } from './tags.ts'

const LIFE_STEP = 'moveBackupRecoveryPoint'

export const steps = { [LIFE_STEP]: moveOn }

interface DuePoint {
  readonly Key: string
  readonly DueMs: number
}

/** Adds a point whose bytes are kept already. */
export async function addPoint(
  tx: Records,
  point: RecoveryPoint,
  { tags, ctx }: { tags: Readonly<Record<string, string>> | undefined; ctx: Context },
): Promise<void> {
  await tx.insert(recoveryPoints, point)
  await setTags(tx, point.RecoveryPointArn, tags)
  await noteLatest(tx, point)
  await waitForPoint(tx, point, ctx)
  await announce(tx, 'created', point, ctx)
}

export async function changePoint(tx: Records, point: RecoveryPoint, ctx: Context): Promise<void> {
  await tx.save(recoveryPoints, point)
  await announce(tx, 'changed', point, ctx)
}

export async function removePoint(tx: Records, point: RecoveryPoint, ctx: Context): Promise<void> {
  await tx.remove(recoveryPoints, recoveryPoints.key(point))
  await forgetBytes(tx, point, ctx)
  await setTags(tx, point.RecoveryPointArn)
  await forgetLatest(tx, point)
  if (point.Continuous) await stopContinuous(tx, point)
  await announce(tx, 'deleted', point, ctx)
}

/** What becomes of a point whose role may not delete it. */
export const expired = (point: RecoveryPoint): RecoveryPoint => ({
  ...point,
  Status: 'EXPIRED',
  StatusMessage: `The role ${point.IamRoleArn} does not permit to delete the recovery point.`,
})

/**
 * Lets a continuous point go: it is captured no more, and ends by its lifecycle from now on.
 */
export async function stopCapture(tx: Records, point: RecoveryPoint, ctx: Context): Promise<void> {
  const CalculatedLifecycle = calculated(point.Lifecycle, ctx.clock.now().toISOString())
  const stopped: RecoveryPoint = {
    ...point,
    Status: 'STOPPED',
    Continuous: { ...point.Continuous!, DueMs: null },
    ...(CalculatedLifecycle && { CalculatedLifecycle }),
  }
  await changePoint(tx, stopped, ctx)
  await waitForPoint(tx, stopped, ctx)
}

/** The next moment at which something happens to a point. */
function momentOf({ CalculatedLifecycle, StorageClass, Continuous }: RecoveryPoint) {
  // What is captured continuously ends when it was last captured long enough ago, and not here.
  if (Continuous?.DueMs) return undefined
  const { MoveToColdStorageAt, DeleteAt } = CalculatedLifecycle ?? {}
  const next = StorageClass === 'WARM' ? (MoveToColdStorageAt ?? DeleteAt) : DeleteAt
  return next === undefined ? undefined : Date.parse(next)
}

export async function waitForPoint(tx: Records, point: RecoveryPoint, ctx: Context): Promise<void> {
  const DueMs = momentOf(point)
  if (DueMs === undefined) return
  const due: DuePoint = { Key: recoveryPoints.key(point), DueMs }
  await ctx.work.later(tx, Math.max(0, DueMs - ctx.clock.now().getTime()), LIFE_STEP, due)
}

async function moveOn({ Key, DueMs }: DuePoint, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const point = await tx.get(recoveryPoints, Key)
    if (!point || momentOf(point) !== DueMs || point.Status === 'EXPIRED') return
    const { DeleteAt } = point.CalculatedLifecycle ?? {}
    if (DeleteAt === undefined || Date.parse(DeleteAt) > DueMs) {
      const cold: RecoveryPoint = { ...point, StorageClass: 'COLD' }
      await changePoint(tx, cold, ctx)
      await waitForPoint(tx, cold, ctx)
      return
    }
    // What a hold keeps is looked at again when the hold is cancelled.
    if (await holdOver(tx, point)) return
    const mayDelete = await roleMay(tx, point.IamRoleArn, DELETE)
    await (mayDelete ? removePoint(tx, point, ctx) : changePoint(tx, expired(point), ctx))
  })
}

const announce = (tx: Records, happened: string, point: RecoveryPoint, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.recovery-point.${happened}`,
    subject: point.RecoveryPointArn,
    body: { ResourceArn: point.ResourceArn, BackupVaultName: point.BackupVaultName },
  })
