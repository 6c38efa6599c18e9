// What the service remembers of vaults, plans, recovery points and jobs. Specification 3, service K.
//
// 1. Every key begins with the account. Times are RFC 3339; members spelled as documented are shown,
//    the others (Account, UserId, SealedKey and so on) are the service's own.
// 2. A recovery point and its bytes are written and removed in one transaction.
// 3. A plan has one step that waits for its next moment, and a recovery point one for its own.
import { arnOf } from '../families/aws.ts'
import { kind, numberOf, textOf } from '../kernel/store.ts'
import type { CalculatedLifecycle, Lifecycle, Retention } from './lifecycles.ts'

export interface Vault {
  readonly Account: string
  readonly BackupVaultName: string
  readonly BackupVaultArn: string
  readonly VaultType: 'BACKUP_VAULT' | 'LOGICALLY_AIR_GAPPED_BACKUP_VAULT'
  readonly VaultState: 'CREATING' | 'AVAILABLE'
  readonly EncryptionKeyArn: string
  readonly EncryptionKeyType: 'AWS_OWNED_KMS_KEY' | 'CUSTOMER_MANAGED_KMS_KEY'
  readonly CreationDate: string
  readonly CreatorRequestId?: string
  /** The key that the bytes in this vault are encrypted with. */
  readonly SealedKey: string
  readonly Lock?: Lock
  /** As it was put, in JSON. */
  readonly Policy?: string
  readonly Notifications?: Notifications
}

/** Without LockDate it can be changed at any time; from LockDate on it never can. */
export interface Lock extends Retention {
  readonly LockDate?: string
}

export interface Notifications {
  readonly SNSTopicArn: string
  readonly BackupVaultEvents: readonly string[]
}

export const vaultKey = (account: string, name: string): string => `${account}/${name}`
export const vaultArnOf = (account: string, name: string): string =>
  arnOf({ service: 'backup', account, resource: `backup-vault:${name}` })

export const vaults = kind<Vault>('backup_vault', {
  key: ({ Account, BackupVaultName }) => vaultKey(Account, BackupVaultName),
})

export interface Rule {
  readonly RuleId: string
  readonly RuleName: string
  readonly TargetBackupVaultName: string
  readonly TargetLogicallyAirGappedBackupVaultArn?: string
  readonly ScheduleExpression: string
  readonly ScheduleExpressionTimezone?: string
  readonly StartWindowMinutes: number
  readonly CompletionWindowMinutes: number
  readonly Lifecycle?: Lifecycle
  readonly RecoveryPointTags?: Readonly<Record<string, string>>
  readonly CopyActions?: readonly CopyAction[]
  readonly EnableContinuousBackup?: boolean
}

export interface CopyAction {
  readonly DestinationBackupVaultArn: string
  readonly Lifecycle?: Lifecycle
}

export interface PlanDocument {
  readonly BackupPlanName: string
  readonly Rules: readonly Rule[]
  readonly AdvancedBackupSettings?: readonly AdvancedBackupSetting[]
}

export interface AdvancedBackupSetting {
  readonly ResourceType?: string
  readonly BackupOptions?: Readonly<Record<string, string>>
}

export interface Plan {
  readonly Account: string
  /** Whose resources it protects. */
  readonly UserId: string
  readonly BackupPlanId: string
  readonly VersionId: string
  readonly CreationDate: string
  readonly DeletionDate?: string
  readonly LastExecutionDate?: string
  readonly CreatorRequestId?: string
  readonly BackupPlan: PlanDocument
  /** The moment that a step waits for. */
  readonly DueMs: number | null
}

export const planKey = (account: string, id: string): string => `${account}/${id}`
/** A plan that is deleted makes room for one that is put back under its id. */
export const deletedPlanKey = (account: string, id: string): string => `${account}/~${id}`
export const planArnOf = ({ Account, BackupPlanId }: Pick<Plan, 'Account' | 'BackupPlanId'>) =>
  arnOf({ service: 'backup', account: Account, resource: `backup-plan:${BackupPlanId}` })

export const plans = kind<Plan>('backup_plan', {
  key: ({ Account, BackupPlanId, DeletionDate }) =>
    (DeletionDate === undefined ? planKey : deletedPlanKey)(Account, BackupPlanId),
  columns: {
    /** Both of those that are not deleted. */
    name: textOf((plan) =>
      plan.DeletionDate === undefined ? `${plan.Account}/${plan.BackupPlan.BackupPlanName}` : null,
    ),
    active: textOf((plan) => (plan.DeletionDate === undefined ? plan.Account : null)),
  },
  indexes: [['name'], ['active']],
})

/** A version that a plan has or had. */
export type PlanVersion = Omit<Plan, 'DueMs' | 'UserId'>

export const planVersions = kind<PlanVersion>('backup_plan_version', {
  key: ({ Account, BackupPlanId, VersionId }) => `${planKey(Account, BackupPlanId)}/${VersionId}`,
})

export interface Conditions {
  readonly StringEquals?: readonly ConditionParameter[]
  readonly StringNotEquals?: readonly ConditionParameter[]
  readonly StringLike?: readonly ConditionParameter[]
  readonly StringNotLike?: readonly ConditionParameter[]
}

export interface ConditionParameter {
  readonly ConditionKey: string
  readonly ConditionValue: string
}

export interface SelectionDocument {
  readonly SelectionName: string
  readonly IamRoleArn: string
  readonly Resources?: readonly string[]
  readonly NotResources?: readonly string[]
  readonly ListOfTags?: readonly (ConditionParameter & { readonly ConditionType: string })[]
  readonly Conditions?: Conditions
}

export interface Selection {
  readonly Account: string
  readonly BackupPlanId: string
  readonly SelectionId: string
  readonly CreationDate: string
  readonly CreatorRequestId?: string
  readonly BackupSelection: SelectionDocument
}

export const selections = kind<Selection>('backup_selection', {
  key: ({ Account, BackupPlanId, SelectionId }) =>
    `${planKey(Account, BackupPlanId)}/${SelectionId}`,
})

/** What made a recovery point or a job, where a plan did. */
export interface Creator {
  readonly BackupPlanId: string
  readonly BackupPlanArn: string
  readonly BackupPlanName: string
  readonly BackupPlanVersion: string
  readonly BackupRuleId: string
  readonly BackupRuleName: string
  readonly BackupRuleCron: string
  readonly BackupRuleTimezone: string
}

/** What is backed up: by its ARN, and as the graph knows it. */
export interface ResourceName {
  readonly ResourceArn: string
  readonly ResourceType: string
  readonly ResourceName: string
  /** The type in the graph, by which its service is asked. */
  readonly TypeName: string
  /** The tags that it had when it was backed up. */
  readonly ResourceTags?: Readonly<Record<string, string>>
}

export interface RecoveryPoint extends ResourceName {
  readonly Account: string
  readonly RecoveryPointId: string
  readonly RecoveryPointArn: string
  readonly BackupVaultName: string
  readonly BackupVaultArn: string
  readonly VaultType: Vault['VaultType']
  readonly SourceBackupVaultArn?: string
  readonly CreatedBy?: Creator
  readonly IamRoleArn: string
  readonly Status: 'COMPLETED' | 'AVAILABLE' | 'EXPIRED' | 'STOPPED'
  readonly StatusMessage?: string
  readonly CreationDate: string
  readonly InitiationDate: string
  readonly CompletionDate: string
  /** Of the bytes as they were before they were encrypted, and so is the digest. */
  readonly BackupSizeInBytes: number
  readonly Sha256: string
  readonly Lifecycle?: Lifecycle
  readonly CalculatedLifecycle?: CalculatedLifecycle
  readonly EncryptionKeyArn: string
  readonly EncryptionKeyType: Vault['EncryptionKeyType']
  readonly IsEncrypted: true
  readonly StorageClass: 'WARM' | 'COLD'
  readonly LastRestoreTime?: string
  /** Where it is captured again and again: whose resource it is, and the moment of the next capture. */
  readonly Continuous?: { readonly UserId: string; readonly DueMs: number | null }
}

export const pointKey = (account: string, id: string): string => `${account}/${id}`
export const pointArnOf = (account: string, id: string): string =>
  arnOf({ service: 'backup', account, resource: `recovery-point:${id}` })

export const recoveryPoints = kind<RecoveryPoint>('backup_recovery_point', {
  key: ({ Account, RecoveryPointId }) => pointKey(Account, RecoveryPointId),
  columns: {
    account: textOf(({ Account }) => Account),
    vault: textOf((point) => vaultKey(point.Account, point.BackupVaultName)),
    resource: textOf((point) => `${point.Account}/${point.ResourceArn}`),
    createdMs: numberOf(({ CreationDate }) => Date.parse(CreationDate)),
  },
  indexes: [
    ['account', 'createdMs'],
    ['vault', 'createdMs'],
    ['vault', 'resource', 'createdMs'],
    ['resource', 'createdMs'],
  ],
})

/** A resource with its latest recovery point: in the whole account, or in one vault. */
export interface ProtectedResource extends ResourceName {
  readonly Account: string
  /** The vault, or nothing for the whole account. */
  readonly Scope: string
  readonly LastBackupTime: string
  readonly LastBackupVaultArn: string
  readonly LastRecoveryPointArn: string
  readonly LatestRestoreExecutionTimeMinutes?: number
  readonly LatestRestoreJobCreationDate?: string
  readonly LatestRestoreRecoveryPointCreationDate?: string
}

export const protectedKey = (account: string, scope: string, arn: string): string =>
  `${account}/${scope}/${arn}`
export const protectedResources = kind<ProtectedResource>('backup_protected_resource', {
  key: ({ Account, Scope, ResourceArn }) => protectedKey(Account, Scope, ResourceArn),
})

export const kinds = [vaults, plans, planVersions, selections, recoveryPoints, protectedResources]
