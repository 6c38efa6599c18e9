// Something to look at: a plan that protects itself, one recovery point of it and a copy of that.
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { startBackupJob } from './backup-jobs.ts'
import { startCopyJob } from './copy-jobs.ts'
import { backupJobs } from './job-records.ts'
import { planArnOf, vaultArnOf } from './kinds.ts'
import { planInput } from './plan-documents.ts'
import { createPlan } from './plans.ts'
import { steps as backupSteps, RUN_STEP } from './backup-runs.ts'
import { defaultRoleArn } from './roles.ts'
import { createSelection, selectionInput } from './selections.ts'
import { createVault } from './vaults.ts'

const VAULT = 'weekly-backups'
const COPIES = 'copies'

export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = accountOf(ctx)
  const IamRoleArn = defaultRoleArn(account)
  await createVault({ BackupVaultName: VAULT }, ctx)
  await createVault({ BackupVaultName: COPIES }, ctx)
  const plan = await createPlan({ BackupPlan: document(account) }, ctx)
  const resourceArn = planArnOf(plan)
  const BackupSelection = selectionInput.parse({
    SelectionName: 'this-plan-and-what-is-tagged',
    IamRoleArn,
    Resources: [resourceArn],
    ListOfTags: [
      { ConditionType: 'STRINGEQUALS', ConditionKey: 'backup', ConditionValue: 'weekly' },
    ],
  })
  await createSelection({ BackupPlanId: plan.BackupPlanId, BackupSelection }, ctx)
  const started = await startBackupJob(
    {
      BackupVaultName: VAULT,
      ResourceArn: resourceArn,
      IamRoleArn,
      Lifecycle: {
        DeleteAfterDays: 35,
        MoveToColdStorageAfterDays: undefined,
        OptInToArchiveForSupportedResources: undefined,
      },
    },
    ctx,
  )
  // The point is there from the start; the step that the job has stored then finds the job ended.
  const Key = backupJobs.key(started)
  await backupSteps[RUN_STEP]({ Key }, ctx)
  const { RecoveryPointArn } = (await ctx.store.get(backupJobs, Key))!
  const copy = await startCopyJob(
    {
      RecoveryPointArn: RecoveryPointArn!,
      SourceBackupVaultName: VAULT,
      DestinationBackupVaultArn: vaultArnOf(account, COPIES),
      IamRoleArn,
    },
    ctx,
  )
  return {
    backupJobId: started.BackupJobId,
    copyJobId: copy.CopyJobId,
    recoveryPointVault: VAULT,
    recoveryPointArn: RecoveryPointArn!,
    resourceArn,
  }
}

const document = (account: string) =>
  planInput.parse({
    BackupPlanName: 'weekly-35-days',
    Rules: [
      {
        RuleName: 'weekly',
        TargetBackupVaultName: VAULT,
        ScheduleExpression: 'cron(0 5 ? * SUN *)',
        Lifecycle: { DeleteAfterDays: 35 },
        CopyActions: [{ DestinationBackupVaultArn: vaultArnOf(account, COPIES) }],
      },
    ],
  })
