// Protected resources: those that have recovery points, with the latest. Specification 3, service K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { ResourceNotFound } from './errors.ts'
import {
  protectedKey,
  protectedResources,
  recoveryPoints,
  vaultKey,
  type ProtectedResource,
  type RecoveryPoint,
} from './kinds.ts'
import { page, pageShown } from './lists.ts'
import { only, paged } from './shapes.ts'
import { needVault } from './vaults.ts'

const MEMBERS = [
  'ResourceArn',
  'ResourceType',
  'LastBackupTime',
  'ResourceName',
  'LastBackupVaultArn',
  'LastRecoveryPointArn',
]
const listed = only(...MEMBERS)
const shown = only(
  ...MEMBERS,
  'LatestRestoreExecutionTimeMinutes',
  'LatestRestoreJobCreationDate',
  'LatestRestoreRecoveryPointCreationDate',
)

export const operations = [
  operation({
    name: 'backupProtectedResource',
    rest: get('/resources/{ResourceArn}', {
      show: shown,
      answer: z.object({ ResourceArn: z.string(), LastBackupTime: z.number() }),
    }),
    input: { ResourceArn: text },
    needs: 'backup:DescribeProtectedResource',
    refuses: { 400: 'The resource has no recovery point.' },
    async run({ ResourceArn }, ctx) {
      const key = protectedKey(accountOf(ctx), '', ResourceArn)
      const resource = await ctx.store.get(protectedResources, key)
      if (resource) return resource
      throw ResourceNotFound(`The resource ${ResourceArn} has no recovery point.`)
    },
  }),
  operation({
    name: 'backupProtectedResources',
    rest: get('/resources', { isBeyond: true, show: pageShown('Results', listed) }),
    input: paged,
    needs: 'backup:ListProtectedResources',
    run: (asked, ctx) =>
      page(ctx, protectedResources, asked, { prefix: protectedKey(accountOf(ctx), '', '') }),
  }),
  operation({
    name: 'backupProtectedResourcesByVault',
    rest: get('/backup-vaults/{BackupVaultName}/resources', {
      isBeyond: true,
      show: pageShown('Results', listed),
    }),
    input: { BackupVaultName: text, backupVaultAccountId: optional(text), ...paged },
    needs: 'backup:ListProtectedResourcesByBackupVault',
    async run({ BackupVaultName, backupVaultAccountId, ...asked }, ctx) {
      const named = { BackupVaultName, backupVaultAccountId }
      const { Account } = await needVault(ctx.store, ctx, named)
      return page(ctx, protectedResources, asked, {
        prefix: protectedKey(Account, BackupVaultName, ''),
      })
    },
  }),
]

/** Notes a new recovery point as the latest of its resource, in the account and in the vault. */
export async function noteLatest(tx: Records, point: RecoveryPoint): Promise<void> {
  for (const Scope of ['', point.BackupVaultName]) {
    const key = protectedKey(point.Account, Scope, point.ResourceArn)
    const before = await tx.get(protectedResources, key)
    // A copy is as old as what it was made of, which stays the latest.
    const isCopy = point.SourceBackupVaultArn !== undefined
    const last = before?.LastBackupTime ?? ''
    if (last > timeOf(point) || (isCopy && last === timeOf(point))) continue
    await tx.save(protectedResources, { ...before, ...latestOf(point), Scope })
  }
}

/** Notes that a recovery point is gone: another becomes the latest, or the resource is unprotected. */
export async function forgetLatest(tx: Records, gone: RecoveryPoint): Promise<void> {
  const { Account, ResourceArn, BackupVaultName } = gone
  const resource = `${Account}/${ResourceArn}`
  const vault = vaultKey(Account, BackupVaultName)
  for (const [Scope, where] of [
    ['', { resource }],
    [BackupVaultName, { vault, resource }],
  ] as const) {
    const key = protectedKey(Account, Scope, ResourceArn)
    const before = await tx.get(protectedResources, key)
    if (before?.LastRecoveryPointArn !== gone.RecoveryPointArn) continue
    const newest = { where, order: 'createdMs', descending: true, limit: 1 }
    const [latest] = (await tx.list(recoveryPoints, newest)).items
    if (latest) await tx.save(protectedResources, { ...before, ...latestOf(latest), Scope })
    else await tx.remove(protectedResources, key)
  }
}

/** When a point was made, or last captured where it is continuous. */
const timeOf = ({ Continuous, CreationDate, CompletionDate }: RecoveryPoint): string =>
  Continuous ? CompletionDate : CreationDate

const latestOf = (point: RecoveryPoint): Omit<ProtectedResource, 'Scope'> => ({
  Account: point.Account,
  ResourceArn: point.ResourceArn,
  ResourceType: point.ResourceType,
  ResourceName: point.ResourceName,
  TypeName: point.TypeName,
  ...(point.ResourceTags && { ResourceTags: point.ResourceTags }),
  LastBackupTime: timeOf(point),
  LastBackupVaultArn: point.BackupVaultArn,
  LastRecoveryPointArn: point.RecoveryPointArn,
})
