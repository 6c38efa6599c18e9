// What the service remembers of frameworks, report plans and reports.
import { arnOf, readArn } from '../families/aws.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'

export interface Control {
  readonly ControlName: string
  readonly ControlInputParameters?: readonly {
    readonly ParameterName: string
    readonly ParameterValue: string
  }[]
  readonly ControlScope?: ControlScope
}

/** What a control looks at; everything that it can unless said. */
export interface ControlScope {
  readonly ComplianceResourceIds?: readonly string[]
  readonly ComplianceResourceTypes?: readonly string[]
  readonly Tags?: Readonly<Record<string, string>>
}

export interface Framework {
  readonly Account: string
  /** Who evaluates it, and what the credential permitted that made it. */
  readonly UserId: string
  readonly Permissions: readonly string[]
  readonly FrameworkName: string
  readonly FrameworkArn: string
  readonly FrameworkDescription?: string
  readonly FrameworkControls: readonly Control[]
  readonly CreationTime: string
  readonly DeploymentStatus: 'CREATE_IN_PROGRESS' | 'UPDATE_IN_PROGRESS' | 'COMPLETED'
  readonly FrameworkStatus: 'ACTIVE'
  readonly IdempotencyToken?: string
}

export const frameworkArnOf = (account: string, name: string): string =>
  arnOf({ service: 'backup', account, resource: `framework:${name}` })
export const frameworks = kind<Framework>('backup_framework', {
  key: ({ Account, FrameworkName }) => `${Account}/${FrameworkName}`,
})

/** A framework by its ARN. */
export async function frameworkAt(from: Records, arn: string, account: string) {
  const parts = readArn(arn)
  const [, name] = /^framework:(.+)$/.exec(parts?.resource ?? '') ?? []
  if (parts?.service !== 'backup' || parts.account !== account || !name) return undefined
  return from.get(frameworks, `${account}/${name}`)
}

export interface ReportPlan {
  readonly Account: string
  readonly UserId: string
  readonly ReportPlanName: string
  readonly ReportPlanArn: string
  readonly ReportPlanDescription?: string
  readonly ReportSetting: ReportSetting
  readonly ReportDeliveryChannel: DeliveryChannel
  readonly DeploymentStatus: 'COMPLETED'
  readonly CreationTime: string
  readonly LastAttemptedExecutionTime?: string
  readonly LastSuccessfulExecutionTime?: string
  /** The moment that a step waits for. */
  readonly DueMs: number
}

export interface ReportSetting {
  readonly ReportTemplate: string
  readonly FrameworkArns?: readonly string[]
  readonly NumberOfFrameworks?: number
  readonly Accounts?: readonly string[]
  readonly OrganizationUnits?: readonly string[]
  readonly Regions?: readonly string[]
}

export interface DeliveryChannel {
  readonly S3BucketName: string
  readonly S3KeyPrefix?: string
  readonly Formats: readonly ('CSV' | 'JSON')[]
}

export const reportPlanArnOf = (account: string, name: string): string =>
  arnOf({ service: 'backup', account, resource: `report-plan:${name}` })
export const reportPlans = kind<ReportPlan>('backup_report_plan', {
  key: ({ Account, ReportPlanName }) => `${Account}/${ReportPlanName}`,
})

export interface ReportJob {
  readonly Account: string
  readonly ReportJobId: string
  readonly ReportPlanName: string
  readonly ReportPlanArn: string
  readonly ReportTemplate: string
  readonly CreationTime: string
  readonly CompletionTime?: string
  readonly Status: 'CREATED' | 'RUNNING' | 'COMPLETED' | 'FAILED'
  readonly StatusMessage?: string
  readonly ReportDestination?: { readonly S3BucketName: string; readonly S3Keys: readonly string[] }
}

export const reportJobs = kind<ReportJob>('backup_report_job', {
  key: ({ Account, ReportJobId }) => `${Account}/${ReportJobId}`,
  columns: {
    account: textOf(({ Account }) => Account),
    plan: textOf(({ Account, ReportPlanName }) => `${Account}/${ReportPlanName}`),
    createdMs: numberOf(({ CreationTime }) => Date.parse(CreationTime)),
  },
  indexes: [['account', 'createdMs'], ['plan', 'createdMs'], ['createdMs']],
})
export const kinds = [frameworks, reportPlans, reportJobs]
