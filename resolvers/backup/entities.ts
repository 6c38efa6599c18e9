// What the graph joins on: vaults, plans, and what the service adds to accounts and to resources.
//
// Whatever resource the graph asks about, only what the caller's own accounts know of it is told.
import { isOwnArn, readArn } from '../families/aws.ts'
import { arnOfResource } from '../families/cloud-resources.ts'
import { mayUse, type Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect } from '../kernel/paging.ts'
import type { Kind } from '../kernel/store.ts'
import { holdsOver } from './hold-rules.ts'
import { backupJobs } from './job-records.ts'
import {
  planArnOf,
  plans,
  protectedKey,
  protectedResources,
  recoveryPoints,
  selections,
  planKey,
  vaultKey,
  vaults,
  type Creator,
  type Plan,
  type ProtectedResource,
  type RecoveryPoint,
  type Selection,
  type Vault,
} from './kinds.ts'
import { resolvePlan } from './plan-snapshots.ts'
import { notifications } from './notifications.ts'
import { tagsOf } from './tags.ts'

const VAULT_RESOURCE = 'backup-vault:'

interface Paged {
  readonly first?: number
  readonly after?: string
}

interface Resource {
  readonly id: string
}

export const entities = {
  BackupVault: resolveVault,
  BackupPlan: resolvePlan,
  CloudAccount: ({ id }: Resource, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
  /** Any id is answered: what is told of it is the caller's own. */
  CloudResource: ({ id }: Resource) => ({ id }),
}

export const fields = {
  BackupVault: {
    tags: ({ BackupVaultArn }: Vault, _: unknown, ctx: Context) => tagsOf(ctx, BackupVaultArn),
    recoveryPoints: (vault: Vault, paged: Paged, ctx: Context) =>
      connect(ctx, recoveryPoints, newest({ vault: vaults.key(vault) }, paged)),
    notifications: (vault: Vault, { first, after }: Paged, ctx: Context) =>
      connect(ctx, notifications, { first, after, prefix: `${vaults.key(vault)}/` }),
  },
  BackupPlan: {
    tags: (plan: Plan, _: unknown, ctx: Context) => tagsOf(ctx, planArnOf(plan)),
    selections: ({ Account, BackupPlanId }: Plan, { first, after }: Paged, ctx: Context) =>
      connect(ctx, selections, { first, after, prefix: `${planKey(Account, BackupPlanId)}/` }),
    protection: (plan: Plan, _: unknown, ctx: Context) => protectionOf(planArnOf(plan), ctx),
    recoveryPoints: (plan: Plan, paged: Paged, ctx: Context) =>
      ofResource(recoveryPoints, planArnOf(plan), paged, ctx),
    backupJobs: (plan: Plan, paged: Paged, ctx: Context) =>
      ofResource(backupJobs, planArnOf(plan), paged, ctx),
  },
  BackupSelection: {
    plan: ({ Account, BackupPlanId }: Selection, _: unknown, ctx: Context) =>
      load(ctx, plans, planKey(Account, BackupPlanId)),
  },
  CloudAccount: {
    backupVaults: ({ id }: Resource, { first, after }: Paged, ctx: Context) =>
      connect(ctx, vaults, { first, after, prefix: `${ownAccount(id, ctx)}/` }),
    backupPlans: ({ id }: Resource, { first, after }: Paged, ctx: Context) =>
      connect(ctx, plans, { first, after, where: { active: ownAccount(id, ctx) } }),
    backupJobs: ({ id }: Resource, paged: Paged, ctx: Context) =>
      connect(ctx, backupJobs, newest({ account: ownAccount(id, ctx) }, paged)),
  },
  CloudResource: {
    protection: ({ id }: Resource, _: unknown, ctx: Context) => protectionOf(id, ctx),
    recoveryPoints: ({ id }: Resource, paged: Paged, ctx: Context) =>
      ofResource(recoveryPoints, id, paged, ctx),
    backupJobs: ({ id }: Resource, paged: Paged, ctx: Context) =>
      ofResource(backupJobs, id, paged, ctx),
  },
  BackupRecoveryPoint: {
    legalHolds: (point: RecoveryPoint, _: unknown, ctx: Context) => holdsOver(point, ctx),
  },
  BackupCreator: {
    plan: ({ BackupPlanArn }: Creator, _: unknown, ctx: Context) =>
      resolvePlan({ id: BackupPlanArn }, ctx),
  },
  BackupProtection: {
    lastBackupVault: (
      { Account, LastBackupVaultArn }: ProtectedResource,
      _: unknown,
      ctx: Context,
    ) => load(ctx, vaults, vaultKey(Account, vaultNameIn(LastBackupVaultArn))),
    lastRecoveryPoint: (
      { Account, LastRecoveryPointArn }: ProtectedResource,
      _: unknown,
      ctx: Context,
    ) =>
      load(ctx, recoveryPoints, `${Account}/${LastRecoveryPointArn.split(':recovery-point:')[1]}`),
  },
}

export async function resolveVault({ id }: Resource, ctx: Context): Promise<Vault | null> {
  const arn = readArn(id)
  if (!arn || !isOwnArn(ctx, arn, 'backup') || !arn.resource.startsWith(VAULT_RESOURCE)) return null
  return (await load(ctx, vaults, vaultKey(arn.account, vaultNameIn(id)))) ?? null
}

const vaultNameIn = (arn: string): string =>
  arn.slice(arn.indexOf(VAULT_RESOURCE) + VAULT_RESOURCE.length)

/** The account of a reference; a subscription or a project, which has no vaults, is none. */
const ownAccount = (id: string, { caller }: Context): string =>
  mayUse(caller, 'ACCOUNT', id) ? id : 'none'

/**
 * The account that knows of a resource: that of its ARN, where the id is one, or else the caller's.
 * Chosen: the first of several, as everywhere in the signed services.
 */
function accountFor(id: string, { caller }: Context): string {
  const own = caller.accounts.filter(({ kind }) => kind === 'ACCOUNT')
  const named = readArn(id)?.account
  const account = named ? own.find((one) => one.id === named) : own[0]
  return account?.id ?? 'none'
}

async function protectionOf(id: string, ctx: Context): Promise<ProtectedResource | null> {
  const account = accountFor(id, ctx)
  const key = protectedKey(account, '', arnOfResource(account, id))
  return (await load(ctx, protectedResources, key)) ?? null
}

function ofResource<T extends object>(kind: Kind<T>, id: string, paged: Paged, ctx: Context) {
  const account = accountFor(id, ctx)
  return connect(ctx, kind, newest({ resource: `${account}/${arnOfResource(account, id)}` }, paged))
}

const newest = (where: Record<string, string>, { first, after }: Paged) => ({
  first,
  after,
  where,
  order: 'createdMs',
  descending: true,
})
