// Where continuous backup was stopped, by deleting its recovery point.
//
// It stays stopped for the version of the plan that made the point: a new version begins anew.
import { kind, type Records } from '../kernel/store.ts'
import type { Creator, RecoveryPoint } from './kinds.ts'

interface ContinuousStop {
  readonly Account: string
  readonly Version: string
  readonly RuleId: string
  readonly ResourceArn: string
}

const stops = kind<ContinuousStop>('backup_continuous_stop', {
  key: ({ Account, Version, RuleId, ResourceArn }) =>
    `${Account}/${Version}/${RuleId}/${ResourceArn}`,
})
export const kinds = [stops]

const stopOf = (Account: string, by: Creator, ResourceArn: string): ContinuousStop => ({
  Account,
  Version: by.BackupPlanVersion,
  RuleId: by.BackupRuleId,
  ResourceArn,
})

export async function stopContinuous(
  tx: Records,
  { Account, CreatedBy, ResourceArn }: RecoveryPoint,
): Promise<void> {
  if (CreatedBy) await tx.save(stops, stopOf(Account, CreatedBy, ResourceArn))
}

export const isStopped = async (
  from: Records,
  { Account, CreatedBy, ResourceArn }: { Account: string; CreatedBy: Creator; ResourceArn: string },
): Promise<boolean> =>
  (await from.get(stops, stops.key(stopOf(Account, CreatedBy, ResourceArn)))) !== undefined
