// Recovery points: what a vault keeps of a resource as it was at one moment. Specification 3, service K.
import { z } from 'zod'
import { accountOf, readArn } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { flag, optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { InvalidRequest, InvalidResourceState, ResourceNotFound } from './errors.ts'
import { holdOver } from './hold-rules.ts'
import { pointKey, recoveryPoints, vaultKey, type RecoveryPoint, type Vault } from './kinds.ts'
import { calculated, readLifecycle } from './lifecycles.ts'
import { filteredPage, page, pageShown } from './lists.ts'
import { notify } from './notifications.ts'
import { changePoint, expired, removePoint, stopCapture, waitForPoint } from './point-lives.ts'
import { DELETE, DELETE_EXPIRED, roleMay } from './roles.ts'
import { arn, lifecycle, moment, nothing, only, paged, type SentLifecycle } from './shapes.ts'
import { checkAccess } from './vault-policies.ts'
import { needVault } from './vaults.ts'
import { idOfArn } from '../families/cloud-resources.ts'

const MANY = '/backup-vaults/{BackupVaultName}/recovery-points'
const ONE = `${MANY}/{RecoveryPointArn}`
const one = { BackupVaultName: text, RecoveryPointArn: text }

const shown = only(
  'RecoveryPointArn',
  'BackupVaultName',
  'BackupVaultArn',
  'SourceBackupVaultArn',
  'ResourceArn',
  'ResourceType',
  'CreatedBy',
  'IamRoleArn',
  'Status',
  'StatusMessage',
  'CreationDate',
  'InitiationDate',
  'CompletionDate',
  'BackupSizeInBytes',
  'CalculatedLifecycle',
  'Lifecycle',
  'EncryptionKeyArn',
  'EncryptionKeyType',
  'IsEncrypted',
  'StorageClass',
  'LastRestoreTime',
  'ResourceName',
  'VaultType',
)
const ofResource = (point: RecoveryPoint) => ({
  ...only(
    'RecoveryPointArn',
    'CreationDate',
    'Status',
    'StatusMessage',
    'EncryptionKeyArn',
    'BackupVaultName',
    'ResourceName',
    'VaultType',
  )(point),
  BackupSizeBytes: point.BackupSizeInBytes,
})
const missing = { 400: 'There is no such vault or recovery point.' }

export const operations = [
  operation({
    name: 'backupRecoveryPoint',
    rest: get(ONE, {
      show: shown,
      answer: z.object({ RecoveryPointArn: z.string(), CreationDate: z.number() }),
    }),
    input: { ...one, backupVaultAccountId: optional(text) },
    needs: 'backup:DescribeRecoveryPoint',
    refuses: missing,
    run: async (input, ctx) => (await needPoint(ctx.store, ctx, input)).point,
  }),
  operation({
    name: 'deleteBackupRecoveryPoint',
    rest: del(ONE, nothing),
    input: one,
    needs: 'backup:DeleteRecoveryPoint',
    refuses: { 400: 'There is no such recovery point, or a hold or a lock keeps it.' },
    run: deletePoint,
  }),
  operation({
    name: 'updateBackupRecoveryPointLifecycle',
    rest: post(ONE, {
      isBeyond: true,
      show: only('BackupVaultArn', 'RecoveryPointArn', 'Lifecycle', 'CalculatedLifecycle'),
    }),
    input: { ...one, Lifecycle: optional(lifecycle) },
    needs: 'backup:UpdateRecoveryPointLifecycle',
    run: updateLifecycle,
  }),
  operation({
    name: 'disassociateBackupRecoveryPoint',
    rest: post(`${ONE}/disassociate`, { isBeyond: true, ...nothing }),
    input: one,
    needs: 'backup:DisassociateRecoveryPoint',
    run: disassociate,
  }),
  operation({
    name: 'backupRecoveryPointRestoreMetadata',
    rest: get(`${ONE}/restore-metadata`, {
      isBeyond: true,
      show: (point: RecoveryPoint) => ({
        ...only('BackupVaultArn', 'RecoveryPointArn', 'ResourceType')(point),
        RestoreMetadata: metadataOf(point),
      }),
    }),
    input: { ...one, backupVaultAccountId: optional(text) },
    needs: 'backup:GetRecoveryPointRestoreMetadata',
    run: async (input, ctx) => (await needPoint(ctx.store, ctx, input)).point,
  }),
  operation({
    name: 'backupRecoveryPointsByVault',
    rest: get(MANY, { isBeyond: true, show: pageShown('RecoveryPoints', shown) }),
    input: {
      BackupVaultName: text,
      backupVaultAccountId: optional(text),
      resourceArn: optional(arn),
      resourceType: optional(text),
      backupPlanId: optional(text),
      createdBefore: optional(moment),
      createdAfter: optional(moment),
      ...paged,
    },
    needs: 'backup:ListRecoveryPointsByBackupVault',
    run: listByVault,
  }),
  operation({
    name: 'backupRecoveryPointsByResource',
    rest: get('/resources/{ResourceArn}/recovery-points', {
      isBeyond: true,
      show: pageShown('RecoveryPoints', ofResource),
    }),
    // Chosen: all recovery points are managed here, so that managedByAWSBackupOnly changes nothing.
    input: { ResourceArn: arn, managedByAWSBackupOnly: optional(flag), ...paged },
    needs: 'backup:ListRecoveryPointsByResource',
    run: ({ ResourceArn, nextToken, maxResults }, ctx) =>
      page(
        ctx,
        recoveryPoints,
        { nextToken, maxResults },
        {
          where: { resource: `${accountOf(ctx)}/${ResourceArn}` },
          order: 'createdMs',
          descending: true,
        },
      ),
  }),
]

export const fields = {
  BackupRecoveryPoint: {
    restoreMetadata: metadataOf,
    isContinuous: ({ Continuous }: RecoveryPoint) => Continuous !== undefined,
  },
}

/** What a restore job can be told of this point: the id that the resource had, and when. */
export function metadataOf({ ResourceArn, Continuous }: RecoveryPoint): Record<string, string> {
  return {
    resourceId: idOfArn(ResourceArn),
    ...(Continuous && { restoreTime: 'latest' }),
  }
}

interface Listing {
  readonly BackupVaultName: string
  readonly backupVaultAccountId?: string | undefined
  readonly resourceArn?: string | undefined
  readonly resourceType?: string | undefined
  readonly backupPlanId?: string | undefined
  readonly createdBefore?: string | undefined
  readonly createdAfter?: string | undefined
  readonly nextToken?: string | undefined
  readonly maxResults?: number | undefined
}

async function listByVault(input: Listing, ctx: Context) {
  const { Account, BackupVaultName } = await needVault(ctx.store, ctx, input)
  const { resourceArn, resourceType, backupPlanId, createdBefore, createdAfter } = input
  const vault = vaultKey(Account, BackupVaultName)
  const where = {
    vault,
    ...(resourceArn !== undefined && { resource: `${Account}/${resourceArn}` }),
  }
  const query = {
    where,
    order: 'createdMs',
    descending: true,
    ...(createdAfter !== undefined && { from: Date.parse(createdAfter) }),
    ...(createdBefore !== undefined && { below: Date.parse(createdBefore) }),
  }
  return filteredPage(ctx, recoveryPoints, input, query, {
    filters: { resourceType, backupPlanId },
    isHit: (point) =>
      (resourceType === undefined || point.ResourceType === resourceType) &&
      (backupPlanId === undefined || point.CreatedBy?.BackupPlanId === backupPlanId),
  })
}

interface Named {
  readonly BackupVaultName: string
  readonly RecoveryPointArn: string
  readonly backupVaultAccountId?: string | undefined
}

export async function needPoint(
  from: Records,
  ctx: Context,
  named: Named,
): Promise<{ vault: Vault; point: RecoveryPoint }> {
  const vault = await needVault(from, ctx, named)
  const point = await pointAt(from, named.RecoveryPointArn, vault.Account)
  if (point?.BackupVaultName === vault.BackupVaultName) return { vault, point }
  throw ResourceNotFound(
    `The vault ${vault.BackupVaultName} has no recovery point ${named.RecoveryPointArn}.`,
  )
}

/** A recovery point of an account by its ARN. */
export async function pointAt(
  from: Records,
  RecoveryPointArn: string,
  account: string,
): Promise<RecoveryPoint | undefined> {
  const parts = readArn(RecoveryPointArn)
  const [, id] = /^recovery-point:(.+)$/.exec(parts?.resource ?? '') ?? []
  if (parts?.service !== 'backup' || parts.account !== account || id === undefined) return undefined
  return from.get(recoveryPoints, pointKey(account, id))
}

async function deletePoint(named: Named, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const { vault, point } = await needPoint(tx, ctx, named)
    checkPointAccess('backup:DeleteRecoveryPoint', vault, point, ctx)
    await checkHeld(tx, point)
    const { DeleteAt } = point.CalculatedLifecycle ?? {}
    const hasEnded = DeleteAt !== undefined && Date.parse(DeleteAt) <= ctx.clock.now().getTime()
    if (vault.Lock && !hasEnded) {
      throw InvalidRequest(
        `The lock of the vault ${vault.BackupVaultName} keeps its recovery points until their end.`,
      )
    }
    const mayDelete = await roleMay(tx, point.IamRoleArn, DELETE)
    const mayDeleteExpired =
      point.Status !== 'EXPIRED' || (await roleMay(tx, point.IamRoleArn, DELETE_EXPIRED))
    if (mayDelete && mayDeleteExpired) await removePoint(tx, point, ctx)
    else await changePoint(tx, expired(point), ctx)
  })
  return reply(200)
}

async function updateLifecycle(
  input: Named & { Lifecycle?: SentLifecycle | undefined },
  ctx: Context,
): Promise<RecoveryPoint> {
  return ctx.store.transaction(async (tx) => {
    const { vault, point } = await needPoint(tx, ctx, input)
    checkPointAccess('backup:UpdateRecoveryPointLifecycle', vault, point, ctx)
    if (vault.Lock) {
      throw InvalidRequest(
        `The lock of the vault ${vault.BackupVaultName} keeps the lifecycles of its recovery points.`,
      )
    }
    const isContinuous = point.Continuous !== undefined
    const Lifecycle = readLifecycle(input.Lifecycle, { isContinuous })
    const cold = (of: typeof Lifecycle) => of?.MoveToColdStorageAfterDays
    if (point.StorageClass === 'COLD' && cold(Lifecycle) !== cold(point.Lifecycle)) {
      throw InvalidRequest('The recovery point is in cold storage already, and stays there.')
    }
    const { Lifecycle: _, CalculatedLifecycle: __, ...rest } = point
    const CalculatedLifecycle = point.Continuous?.DueMs
      ? undefined
      : calculated(Lifecycle, point.CreationDate)
    const changed: RecoveryPoint = {
      ...rest,
      ...(Lifecycle && { Lifecycle }),
      ...(CalculatedLifecycle && { CalculatedLifecycle }),
    }
    await changePoint(tx, changed, ctx)
    await waitForPoint(tx, changed, ctx)
    const subject = point.RecoveryPointArn
    await notify(tx, vault, { event: 'RECOVERY_POINT_MODIFIED', subject }, ctx)
    return changed
  })
}

/**
 * Chosen: a continuous point that is let go is captured no more. What it holds stays until its end.
 */
async function disassociate(named: Named, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const { vault, point } = await needPoint(tx, ctx, named)
    checkPointAccess('backup:DisassociateRecoveryPoint', vault, point, ctx)
    await checkHeld(tx, point)
    if (!point.Continuous) {
      throw InvalidRequest('Only a continuous recovery point can be disassociated.')
    }
    if (point.Status === 'STOPPED') {
      throw InvalidResourceState('The recovery point is disassociated already.')
    }
    await stopCapture(tx, point, ctx)
    const subject = point.RecoveryPointArn
    await notify(tx, vault, { event: 'CONTINUOUS_BACKUP_INTERRUPTED', subject }, ctx)
  })
  return reply(200)
}

function checkPointAccess(action: string, vault: Vault, point: RecoveryPoint, ctx: Context): void {
  checkAccess({ vault, action, resource: point.RecoveryPointArn }, ctx)
}

async function checkHeld(tx: Records, point: RecoveryPoint): Promise<void> {
  const hold = await holdOver(tx, point)
  if (!hold) return
  throw InvalidResourceState(
    `The legal hold ${hold.LegalHoldId} keeps the recovery point. Cancel it first.`,
  )
}
