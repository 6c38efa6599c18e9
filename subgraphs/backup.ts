// Backup as a subgraph. Specification 3, service K.
import * as auditRecords from '../resolvers/backup/audit-records.ts'
import * as backupJobs from '../resolvers/backup/backup-jobs.ts'
import * as backupRuns from '../resolvers/backup/backup-runs.ts'
import * as continuous from '../resolvers/backup/continuous.ts'
import * as continuousRecords from '../resolvers/backup/continuous-records.ts'
import * as copyJobs from '../resolvers/backup/copy-jobs.ts'
import * as copyRuns from '../resolvers/backup/copy-runs.ts'
import { demo } from '../resolvers/backup/demo.ts'
import * as entities from '../resolvers/backup/entities.ts'
import * as frameworks from '../resolvers/backup/frameworks.ts'
import * as jobRecords from '../resolvers/backup/job-records.ts'
import * as kinds from '../resolvers/backup/kinds.ts'
import * as legalHoldRecords from '../resolvers/backup/legal-hold-records.ts'
import * as legalHolds from '../resolvers/backup/legal-holds.ts'
import * as notifications from '../resolvers/backup/notifications.ts'
import * as planRuns from '../resolvers/backup/plan-runs.ts'
import * as planSnapshots from '../resolvers/backup/plan-snapshots.ts'
import * as plans from '../resolvers/backup/plans.ts'
import * as pointLives from '../resolvers/backup/point-lives.ts'
import * as protectedResources from '../resolvers/backup/protected-resources.ts'
import * as recoveryPoints from '../resolvers/backup/recovery-points.ts'
import * as reportJobs from '../resolvers/backup/report-jobs.ts'
import * as reportPlans from '../resolvers/backup/report-plans.ts'
import * as requestTokens from '../resolvers/backup/request-tokens.ts'
import * as restoreJobs from '../resolvers/backup/restore-jobs.ts'
import * as restoreRuns from '../resolvers/backup/restore-runs.ts'
import * as roles from '../resolvers/backup/roles.ts'
import * as selections from '../resolvers/backup/selections.ts'
import * as settingRecords from '../resolvers/backup/setting-records.ts'
import * as settings from '../resolvers/backup/settings.ts'
import { sweep } from '../resolvers/backup/sweep.ts'
import * as tags from '../resolvers/backup/tags.ts'
import * as testingPlans from '../resolvers/backup/testing-plans.ts'
import * as testingRecords from '../resolvers/backup/testing-records.ts'
import * as testingRuns from '../resolvers/backup/testing-runs.ts'
import * as testingSelections from '../resolvers/backup/testing-selections.ts'
import * as vaultSettings from '../resolvers/backup/vault-settings.ts'
import * as vaultsById from '../resolvers/backup/vaults-by-id.ts'
import * as vaults from '../resolvers/backup/vaults.ts'
import { sigV4 } from './server/auth/sigv4.ts'
import { aws } from './server/dialects/aws.ts'
import type { Dialect, Subgraph } from './server/subgraph.ts'

const names = aws({
  Invalid: 'InvalidParameterValueException',
  TooLarge: 'InvalidParameterValueException',
  WrongMediaType: 'InvalidParameterValueException',
  Internal: 'ServiceUnavailableException',
})

/** Clients tell what is missing from what is wrong, and read the name of an error also as its Code. */
const dialect: Dialect = {
  ...names,
  refuse(fault) {
    const { fields } = fault.details as { fields?: readonly { message: string }[] }
    const isMissing =
      fault.code === 'Invalid' && fields?.some((one) => one.message === 'is required')
    const refusal = names.refuse(fault)
    const own = refusal.headers['x-amzn-errortype']!
    const name = isMissing ? 'MissingParameterValueException' : own
    return {
      ...refusal,
      headers: { 'x-amzn-errortype': name },
      body: { ...(refusal.body as object), __type: name, Code: name },
    }
  },
}

export const subgraph: Subgraph = {
  name: 'backup',
  title: 'Backup',
  version: '2018-11-15',
  basePath: '',
  scheme: sigV4('backup'),
  dialect,
  exceptions: {
    snsTopicArn: 'SNSTopicArn',
    isCrossAccountBackupEnabled: 'isCrossAccountBackupEnabled',
    isMpaEnabled: 'isMpaEnabled',
    isDelegatedAdministratorEnabled: 'isDelegatedAdministratorEnabled',
  },
  resources: [
    kinds,
    jobRecords,
    auditRecords,
    legalHoldRecords,
    testingRecords,
    settingRecords,
    continuousRecords,
    requestTokens,
    vaults,
    vaultSettings,
    vaultsById,
    notifications,
    roles,
    plans,
    planRuns,
    planSnapshots,
    selections,
    recoveryPoints,
    pointLives,
    continuous,
    protectedResources,
    backupJobs,
    backupRuns,
    copyJobs,
    copyRuns,
    restoreJobs,
    restoreRuns,
    legalHolds,
    frameworks,
    reportPlans,
    reportJobs,
    testingPlans,
    testingSelections,
    testingRuns,
    settings,
    tags,
    entities,
  ],
  sweep,
  demo,
  demoAfter: ['sql-db'],
}
