// What the service remembers of legal holds.
import { arnOf } from '../families/aws.ts'
import { kind, textOf } from '../kernel/store.ts'

export interface LegalHold {
  readonly Account: string
  readonly LegalHoldId: string
  readonly LegalHoldArn: string
  readonly Title: string
  readonly Description: string
  readonly Status: 'ACTIVE' | 'CANCELING' | 'CANCELED'
  readonly CreationDate: string
  readonly CancelDescription?: string
  readonly CancellationDate?: string
  readonly RetainRecordUntil?: string
  readonly RecoveryPointSelection?: HoldSelection
}

export interface HoldSelection {
  readonly VaultNames?: readonly string[]
  readonly ResourceIdentifiers?: readonly string[]
  readonly DateRange?: { readonly FromDate: string; readonly ToDate: string }
}

export const holdKey = (account: string, id: string): string => `${account}/${id}`
export const holdArnOf = (account: string, id: string): string =>
  arnOf({ service: 'backup', account, resource: `legal-hold:${id}` })

export const legalHolds = kind<LegalHold>('backup_legal_hold', {
  key: ({ Account, LegalHoldId }) => holdKey(Account, LegalHoldId),
  columns: {
    active: textOf(({ Account, Status }) => (Status === 'ACTIVE' ? Account : null)),
  },
  indexes: [['active']],
})
export const kinds = [legalHolds]
