// Which legal hold keeps a recovery point.
import type { Records } from '../kernel/store.ts'
import type { RecoveryPoint } from './kinds.ts'
import { legalHolds, type HoldSelection, type LegalHold } from './legal-hold-records.ts'

/** How many holds an account may have in force. */
export const HOLDS_MAX = 500

/** A hold in force that covers a point; undefined when there is none. */
export async function holdOver(
  from: Records,
  point: RecoveryPoint,
): Promise<LegalHold | undefined> {
  const { items } = await from.list(legalHolds, {
    where: { active: point.Account },
    limit: HOLDS_MAX,
  })
  return items.find(({ RecoveryPointSelection }) => covers(RecoveryPointSelection, point))
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
