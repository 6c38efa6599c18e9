// Plans as cloud resources: by their ARN, tagged, taken as a whole with their selections and put back.
import { isOwnArn, readArn, resourceTags } from '../families/aws.ts'
import { byId } from '../families/by-id.ts'
import { everyOf, snapshots, type Restored, type Snapshot } from '../families/snapshots.ts'
import type { Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import type { Records } from '../kernel/store.ts'
import {
  deletedPlanKey,
  planArnOf,
  planKey,
  plans,
  selections,
  type Plan,
  type PlanDocument,
  type Selection,
} from './kinds.ts'
import { checkName, savePlan } from './plans.ts'
import { changeTags, setTags, tagsIn } from './tags.ts'

export const PLAN_TYPE = 'BackupPlan'
const RESOURCE = 'backup-plan:'
const ID = /^[\w-]{1,64}$/

interface State extends Omit<PlanDocument, 'BackupPlanName'> {
  readonly UserId: string
  readonly Tags: Readonly<Record<string, string>>
  readonly Selections: readonly Omit<Selection, 'Account' | 'BackupPlanId'>[]
}

/** A copy has a name and a version of its own, and has not run. */
type Own = Pick<Plan, 'VersionId' | 'CreationDate' | 'LastExecutionDate' | 'CreatorRequestId'> & {
  readonly BackupPlanName: string
}

const taken = snapshots({
  type: PLAN_TYPE,
  kind: plans,
  needs: { take: 'backup:GetBackupPlan', restore: 'backup:CreateBackupPlan' },
  keyOf: planKeyOfOwn,
  take,
  put,
})

export const operations = [
  ...byId({
    type: PLAN_TYPE,
    needs: {
      read: 'backup:GetBackupPlan',
      tag: 'backup:TagResource',
      untag: 'backup:UntagResource',
    },
    find: (id, ctx) => resolvePlan({ id }, ctx),
    tags: {
      shape: resourceTags,
      async change(id, to, ctx) {
        const plan = await resolvePlan({ id }, ctx)
        if (!plan) throw NotFound(`There is no plan ${id}.`)
        await changeTags(id, ctx, to)
        return plan
      },
    },
  }),
  ...taken.operations,
]
export const { kinds, steps } = taken

/** The key of a plan by its ARN; undefined when it is not one, or not the caller's. */
function planKeyOfOwn(id: string, ctx: Context): string | undefined {
  const arn = readArn(id)
  if (!arn || !isOwnArn(ctx, arn, 'backup') || !arn.resource.startsWith(RESOURCE)) return undefined
  const plan = arn.resource.slice(RESOURCE.length)
  return ID.test(plan) ? planKey(arn.account, plan) : undefined
}

export async function resolvePlan({ id }: { id: string }, ctx: Context): Promise<Plan | null> {
  const key = planKeyOfOwn(id, ctx)
  return key === undefined ? null : ((await load(ctx, plans, key)) ?? null)
}

async function take(tx: Records, key: string): Promise<Snapshot<State, Own> | undefined> {
  const plan = await tx.get(plans, key)
  if (!plan) return undefined
  const { BackupPlanName, ...document } = plan.BackupPlan
  const { UserId, VersionId, CreationDate, LastExecutionDate, CreatorRequestId } = plan
  const chosen = await everyOf(tx, selections, `${key}/`)
  return {
    id: planArnOf(plan),
    state: {
      ...document,
      UserId,
      Tags: await tagsIn(tx, planArnOf(plan)),
      Selections: chosen.map(({ Account: _, BackupPlanId: __, ...selection }) => selection),
    },
    own: {
      BackupPlanName,
      VersionId,
      CreationDate,
      ...(LastExecutionDate !== undefined && { LastExecutionDate }),
      ...(CreatorRequestId !== undefined && { CreatorRequestId }),
    },
  }
}

async function put(
  tx: Records,
  { id, state, own, isCopy }: Restored<State, Own>,
  ctx: Context,
): Promise<void> {
  const { account: Account, resource } = readArn(id)!
  const BackupPlanId = resource.slice(RESOURCE.length)
  const { UserId, Tags, Selections, ...document } = state
  const { BackupPlanName: name, ...about } = own!
  // Chosen: the name of a plan is the account's only one, so that a copy is named after its id.
  const BackupPlanName = isCopy ? BackupPlanId.slice(0, 50) : name
  await checkName(tx, Account, BackupPlanName)
  const plan: Plan = {
    Account,
    UserId,
    BackupPlanId,
    ...(isCopy ? { VersionId: ctx.newId(), CreationDate: ctx.clock.now().toISOString() } : about),
    BackupPlan: { BackupPlanName, ...document },
    DueMs: null,
  }
  await tx.remove(plans, deletedPlanKey(Account, BackupPlanId))
  await savePlan(tx, plan, 'created', ctx)
  await setTags(tx, id, Tags)
  for (const selection of Selections) {
    await tx.insert(selections, { ...selection, Account, BackupPlanId })
  }
}
