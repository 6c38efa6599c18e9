// What the service remembers of restore testing.
import { arnOf } from '../families/aws.ts'
import { kind } from '../kernel/store.ts'

export interface PointChoice {
  readonly Algorithm: 'LATEST_WITHIN_WINDOW' | 'RANDOM_WITHIN_WINDOW'
  readonly IncludeVaults: readonly string[]
  readonly ExcludeVaults: readonly string[]
  readonly RecoveryPointTypes: readonly ('SNAPSHOT' | 'CONTINUOUS')[]
  readonly SelectionWindowDays: number
}

export interface TestingPlan {
  readonly Account: string
  readonly UserId: string
  readonly RestoreTestingPlanName: string
  readonly RestoreTestingPlanArn: string
  readonly RecoveryPointSelection: PointChoice
  readonly ScheduleExpression: string
  readonly ScheduleExpressionTimezone?: string
  readonly StartWindowHours: number
  readonly CreatorRequestId?: string
  readonly CreationTime: string
  readonly LastUpdateTime?: string
  readonly LastExecutionTime?: string
  /** The moment that a step waits for. */
  readonly DueMs: number | null
}

export const testingPlanArnOf = (account: string, name: string): string =>
  arnOf({ service: 'backup', account, resource: `restore-testing-plan:${name}` })
export const testingPlans = kind<TestingPlan>('backup_testing_plan', {
  key: ({ Account, RestoreTestingPlanName }) => `${Account}/${RestoreTestingPlanName}`,
})

export interface TestingSelection {
  readonly Account: string
  readonly RestoreTestingPlanName: string
  readonly RestoreTestingSelectionName: string
  readonly IamRoleArn: string
  readonly ProtectedResourceType: string
  readonly ProtectedResourceArns?: readonly string[]
  readonly ProtectedResourceConditions?: ResourceConditions
  readonly RestoreMetadataOverrides?: Readonly<Record<string, string>>
  readonly ValidationWindowHours?: number
  readonly CreatorRequestId?: string
  readonly CreationTime: string
}

export interface ResourceConditions {
  readonly StringEquals?: readonly { readonly Key: string; readonly Value: string }[]
  readonly StringNotEquals?: readonly { readonly Key: string; readonly Value: string }[]
}

export const testingSelections = kind<TestingSelection>('backup_testing_selection', {
  key: ({ Account, RestoreTestingPlanName, RestoreTestingSelectionName }) =>
    `${Account}/${RestoreTestingPlanName}/${RestoreTestingSelectionName}`,
})
export const kinds = [testingPlans, testingSelections]
