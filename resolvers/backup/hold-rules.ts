// Which legal hold keeps a recovery point.
import type { Context } from '../kernel/context.ts'
import { loadBy } from '../kernel/load.ts'
import type { Records } from '../kernel/store.ts'
import type { RecoveryPoint } from './kinds.ts'
import { legalHolds, type HoldSelection, type LegalHold } from './legal-hold-records.ts'

/** How many holds an account may have in force. */
export const HOLDS_MAX = 500

const inForce = (account: string) => ({ where: { active: account }, limit: HOLDS_MAX })

/** A hold in force that covers a point; undefined when there is none. */
export async function holdOver(
  from: Records,
  point: RecoveryPoint,
): Promise<LegalHold | undefined> {
  const { items } = await from.list(legalHolds, inForce(point.Account))
  return items.find(({ RecoveryPointSelection }) => covers(RecoveryPointSelection, point))
}

/** All holds in force that cover a point; those of many points are read once. */
export async function holdsOver(point: RecoveryPoint, ctx: Context): Promise<LegalHold[]> {
  const read = async (accounts: readonly string[]) =>
    (await ctx.store.listMany(legalHolds, accounts.map(inForce))).map(({ items }) => items)
  const items = await loadBy(ctx, holdsOver, read, point.Account)
  return items.filter(({ RecoveryPointSelection }) => covers(RecoveryPointSelection, point))
}

/**
 * Whether a hold covers a point, also one that was made after the hold.
 * Chosen: what a hold names narrows it, so that one that names nothing covers everything.
 */
export function covers(
  { VaultNames, ResourceIdentifiers, DateRange }: HoldSelection = {},
  { BackupVaultName, ResourceArn, CreationDate }: RecoveryPoint,
): boolean {
  return (
    (!VaultNames?.length || VaultNames.includes(BackupVaultName)) &&
    (!ResourceIdentifiers?.length || ResourceIdentifiers.includes(ResourceArn)) &&
    (!DateRange || (CreationDate >= DateRange.FromDate && CreationDate <= DateRange.ToDate))
  )
}
