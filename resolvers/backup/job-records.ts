// What the service remembers of backup, copy and restore jobs.
import { kind, numberOf, textOf, type Column } from '../kernel/store.ts'
import type { CopyAction, Creator, ResourceName, Vault } from './kinds.ts'
import type { Lifecycle } from './lifecycles.ts'

interface Job extends ResourceName {
  readonly AccountId: string
  /** For whom it acts. */
  readonly UserId: string
  readonly CreationDate: string
  readonly CompletionDate?: string
  readonly StatusMessage?: string
  readonly BackupSizeInBytes?: number
  readonly IamRoleArn: string
  readonly IsParent: false
}

/** Why a job ended, in a word. */
export type MessageCategory = 'Success' | 'AccessDenied' | 'InvalidParameters' | 'Unavailable'

export interface BackupJob extends Job {
  readonly BackupJobId: string
  readonly BackupVaultName: string
  readonly BackupVaultArn: string
  readonly VaultType: Vault['VaultType']
  readonly VaultLockState: string
  readonly RecoveryPointArn?: string
  readonly RecoveryPointLifecycle?: Lifecycle
  readonly EncryptionKeyArn?: string
  readonly IsEncrypted?: true
  readonly State: 'CREATED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'EXPIRED' | 'ABORTED'
  readonly PercentDone: string
  readonly BytesTransferred?: number
  readonly CreatedBy?: Creator
  readonly InitiationDate?: string
  /** Until when it must have begun, and ended. */
  readonly StartBy: string
  readonly ExpectedCompletionDate: string
  readonly BackupOptions?: Readonly<Record<string, string>>
  readonly BackupType?: string
  readonly MessageCategory?: MessageCategory
  readonly RecoveryPointTags?: Readonly<Record<string, string>>
  readonly CopyActions?: readonly CopyAction[]
  readonly IsContinuous?: true
}

export interface CopyJob extends Job {
  readonly CopyJobId: string
  readonly SourceBackupVaultArn: string
  readonly SourceRecoveryPointArn: string
  readonly DestinationBackupVaultArn: string
  readonly DestinationVaultType?: string
  readonly DestinationVaultLockState?: string
  readonly DestinationRecoveryPointArn?: string
  readonly DestinationEncryptionKeyArn?: string
  readonly DestinationRecoveryPointLifecycle?: Lifecycle
  readonly State: 'CREATED' | 'RUNNING' | 'COMPLETED' | 'FAILED'
  readonly CreatedBy?: Creator
  readonly CreatedByBackupJobId?: string
  readonly MessageCategory?: MessageCategory
}

export interface RestoreJob extends Job {
  readonly RestoreJobId: string
  readonly RecoveryPointArn: string
  readonly RecoveryPointCreationDate: string
  readonly BackupVaultArn: string
  readonly Status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED'
  readonly PercentDone: string
  readonly CreatedResourceArn?: string
  readonly Metadata: Readonly<Record<string, string>>
  /** Of a restore test: it is carried out, compared and undone. */
  readonly CreatedBy?: { readonly RestoreTestingPlanArn: string }
  readonly ValidationStatus?: 'SUCCESSFUL' | 'FAILED' | 'TIMED_OUT' | 'VALIDATING'
  readonly ValidationStatusMessage?: string
  readonly ValidUntil?: string
  readonly DeletionStatus?: 'SUCCESSFUL'
}

const byTime = <T extends Job>(more: Record<string, Column<T>>) => ({
  columns: {
    account: textOf<T>(({ AccountId }) => AccountId),
    resource: textOf<T>((job) => `${job.AccountId}/${job.ResourceArn}`),
    createdMs: numberOf<T>(({ CreationDate }) => Date.parse(CreationDate)),
    ...more,
  },
  indexes: [
    ...['account', 'resource', ...Object.keys(more)].map((column) => [column, 'createdMs']),
    ['createdMs'],
  ],
})

export const backupJobs = kind<BackupJob>('backup_job', {
  key: ({ AccountId, BackupJobId }) => `${AccountId}/${BackupJobId}`,
  ...byTime<BackupJob>({
    vault: textOf((job) => `${job.AccountId}/${job.BackupVaultName}`),
    state: textOf((job) => `${job.AccountId}/${job.State}`),
  }),
})

export const copyJobs = kind<CopyJob>('backup_copy_job', {
  key: ({ AccountId, CopyJobId }) => `${AccountId}/${CopyJobId}`,
  ...byTime<CopyJob>({ state: textOf((job) => `${job.AccountId}/${job.State}`) }),
})

export const restoreJobs = kind<RestoreJob>('backup_restore_job', {
  key: ({ AccountId, RestoreJobId }) => `${AccountId}/${RestoreJobId}`,
  ...byTime<RestoreJob>({ state: textOf((job) => `${job.AccountId}/${job.Status}`) }),
})

export const kinds = [backupJobs, copyJobs, restoreJobs]
