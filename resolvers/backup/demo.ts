// Something to look at: a plan that protects itself and a database, a recovery point of each, a copy and
// a legal hold.
import { accountOf } from '../families/aws.ts'
import { listResources, type FoundResource } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { whereReached } from '../kernel/graph.ts'
import { startBackupJob } from './backup-jobs.ts'
import { startCopyJob } from './copy-jobs.ts'
import { backupJobs } from './job-records.ts'
import { planArnOf, vaultArnOf, type Plan, type Selection } from './kinds.ts'
import { createHold } from './legal-holds.ts'
import { planInput } from './plan-documents.ts'
import { addJobs } from './plan-runs.ts'
import { createPlan } from './plans.ts'
import { resourceOf } from './resources.ts'
import { steps as backupSteps, RUN_STEP } from './backup-runs.ts'
import { defaultRoleArn } from './roles.ts'
import { createSelection, selectionInput } from './selections.ts'
import { createVault } from './vaults.ts'

const VAULT = 'weekly-backups'
const COPIES = 'copies'
const TAGS = { environment: 'demo' }

export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = accountOf(ctx)
  const IamRoleArn = defaultRoleArn(account)
  await createVault({ BackupVaultName: VAULT, BackupVaultTags: TAGS }, ctx)
  await createVault({ BackupVaultName: COPIES, BackupVaultTags: TAGS }, ctx)
  const plan = await createPlan({ BackupPlan: document(account), BackupPlanTags: TAGS }, ctx)
  const resourceArn = planArnOf(plan)
  const BackupSelection = selectionInput.parse({
    SelectionName: 'this-plan-and-what-is-tagged',
    IamRoleArn,
    Resources: [resourceArn],
    ListOfTags: [
      { ConditionType: 'STRINGEQUALS', ConditionKey: 'backup', ConditionValue: 'weekly' },
    ],
  })
  const selection = await createSelection({ BackupPlanId: plan.BackupPlanId, BackupSelection }, ctx)
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
  await protectDatabase(plan, selection, ctx)
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

/** The first run of the plan for a database that is tagged for it, and a hold on what it made. */
async function protectDatabase(plan: Plan, selection: Selection, ctx: Context): Promise<void> {
  const { Account: account } = plan
  const found = await whereReached(() => taggedDatabase(ctx))
  if (!found) return
  const resource = resourceOf(found, { account })
  const arn = resource.ResourceArn
  const [rule] = plan.BackupPlan.Rules
  const due = { DueMs: ctx.clock.now().getTime() }
  await addJobs({ plan, rule: rule!, selection, resources: [resource], due }, ctx)
  const { items } = await ctx.store.list(backupJobs, {
    where: { resource: `${account}/${arn}` },
    order: 'createdMs',
    limit: 1,
  })
  await backupSteps[RUN_STEP]({ Key: backupJobs.key(items[0]!) }, ctx)
  await createHold(
    {
      Title: 'Audit of the shop',
      Description: 'Nothing of the shop is deleted until its audit has ended.',
      RecoveryPointSelection: {
        VaultNames: undefined,
        ResourceIdentifiers: [arn],
        DateRange: undefined,
      },
    },
    ctx,
  )
}

async function taggedDatabase(ctx: Context): Promise<FoundResource | undefined> {
  for await (const page of listResources(ctx.graph, { types: ['SqlDatabase'] })) {
    const found = page.find(({ tags }) => tags?.['backup'] === 'weekly')
    if (found) return found
  }
  return undefined
}
