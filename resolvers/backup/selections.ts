// Selections: which resources a plan backs up, by ARN, by tag and by condition. Specification 3, service K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, put, reply } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import { AlreadyExists, InvalidParameterValue, LimitExceeded, ResourceNotFound } from './errors.ts'
import {
  planKey,
  selections,
  type Conditions,
  type Selection,
  type SelectionDocument,
} from './kinds.ts'
import { page, pageShown } from './lists.ts'
import { needPlan } from './plans.ts'
import { once } from './request-tokens.ts'
import { checkRole } from './roles.ts'
import { label, nothing, only, paged, requestId, roleArn } from './shapes.ts'

const SELECTIONS_MAX = 100
const ARNS_MAX = 500
const WILD_ARNS_MAX = 30
const CONDITIONS_MAX = 30
const RESOURCE_TAG = 'aws:ResourceTag/'

const pattern = text.regex(
  /^(\*|arn:[^\s*]{1,895}\*?)$/,
  'must be an ARN, the beginning of one with * at its end, or *',
)
const parameter = z.object({ ConditionKey: text.max(160), ConditionValue: text.max(256) })
const parameters = optional(z.array(parameter).max(CONDITIONS_MAX))

export const selectionInput = z.object({
  SelectionName: label,
  IamRoleArn: roleArn,
  Resources: optional(z.array(pattern).max(ARNS_MAX)),
  NotResources: optional(z.array(pattern).max(ARNS_MAX)),
  ListOfTags: optional(
    z.array(parameter.extend({ ConditionType: oneOf(['STRINGEQUALS']) })).max(CONDITIONS_MAX),
  ),
  Conditions: optional(
    z.object({
      StringEquals: parameters,
      StringNotEquals: parameters,
      StringLike: parameters,
      StringNotLike: parameters,
    }),
  ),
})
type Sent = z.output<typeof selectionInput>

const MANY = '/backup/plans/{BackupPlanId}/selections/'
const ONE = '/backup/plans/{BackupPlanId}/selections/{SelectionId}'
const inPlan = { BackupPlanId: text }
const one = { ...inPlan, SelectionId: text }
const made = only('SelectionId', 'BackupPlanId', 'CreationDate')

export const operations = [
  operation({
    name: 'createBackupSelection',
    rest: put(MANY, {
      show: made,
      answer: z.object({
        SelectionId: z.string(),
        BackupPlanId: z.string(),
        CreationDate: z.number(),
      }),
    }),
    input: {
      ...inPlan,
      BackupSelection: selectionInput,
      CreatorRequestId: optional(requestId),
    },
    needs: 'backup:CreateBackupSelection',
    refuses: { 400: 'There is no such plan, or something sent is invalid.' },
    run: createSelection,
  }),
  operation({
    name: 'deleteBackupSelection',
    rest: del(ONE, nothing),
    input: one,
    needs: 'backup:DeleteBackupSelection',
    refuses: { 400: 'There is no such plan or selection.' },
    run: deleteSelection,
  }),
  operation({
    name: 'backupSelection',
    rest: get(ONE, {
      isBeyond: true,
      show: (selection: Selection) => ({
        ...made(selection),
        ...only('CreatorRequestId', 'BackupSelection')(selection),
      }),
    }),
    input: one,
    needs: 'backup:GetBackupSelection',
    async run({ BackupPlanId, SelectionId }, ctx) {
      await needPlan(ctx.store, ctx, BackupPlanId)
      const key = `${planKey(accountOf(ctx), BackupPlanId)}/${SelectionId}`
      const selection = await ctx.store.get(selections, key)
      if (selection) return selection
      throw noSelection(SelectionId)
    },
  }),
  operation({
    name: 'backupSelections',
    rest: get(MANY, {
      isBeyond: true,
      show: pageShown('BackupSelectionsList', (selection: Selection) => ({
        ...made(selection),
        ...only('CreatorRequestId')(selection),
        ...only('SelectionName', 'IamRoleArn')(selection.BackupSelection),
      })),
    }),
    input: { ...inPlan, ...paged },
    needs: 'backup:ListBackupSelections',
    async run({ BackupPlanId, ...asked }, ctx) {
      const { Account } = await needPlan(ctx.store, ctx, BackupPlanId)
      return page(ctx, selections, asked, { prefix: `${planKey(Account, BackupPlanId)}/` })
    },
  }),
]

export const fields = {
  BackupSelection: {
    selectionName: ({ BackupSelection }: Selection) => BackupSelection.SelectionName,
    iamRoleArn: ({ BackupSelection }: Selection) => BackupSelection.IamRoleArn,
    resources: ({ BackupSelection }: Selection) => BackupSelection.Resources,
    notResources: ({ BackupSelection }: Selection) => BackupSelection.NotResources,
    listOfTags: ({ BackupSelection }: Selection) => BackupSelection.ListOfTags,
    conditions: ({ BackupSelection }: Selection) => BackupSelection.Conditions,
  },
}

interface Creation {
  readonly BackupPlanId: string
  readonly BackupSelection: Sent
  readonly CreatorRequestId?: string | undefined
}

export async function createSelection(input: Creation, ctx: Context): Promise<Selection> {
  const { BackupPlanId, CreatorRequestId } = input
  const BackupSelection = readSelection(input.BackupSelection)
  await checkRole(BackupSelection.IamRoleArn, ctx)
  return once(ctx, {
    operation: 'createBackupSelection',
    token: CreatorRequestId,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      const { Account } = await needPlan(tx, ctx, BackupPlanId)
      const prefix = `${planKey(Account, BackupPlanId)}/`
      const { items } = await tx.list(selections, { prefix, limit: SELECTIONS_MAX })
      if (items.length >= SELECTIONS_MAX) {
        throw LimitExceeded(`A plan has at most ${SELECTIONS_MAX} selections.`)
      }
      const { SelectionName } = BackupSelection
      if (items.some((other) => other.BackupSelection.SelectionName === SelectionName)) {
        throw AlreadyExists(`The plan has a selection named ${SelectionName} already.`)
      }
      const selection: Selection = {
        Account,
        BackupPlanId,
        SelectionId: ctx.newId(),
        CreationDate: ctx.clock.now().toISOString(),
        ...(CreatorRequestId !== undefined && { CreatorRequestId }),
        BackupSelection,
      }
      await tx.insert(selections, selection)
      await ctx.events.announce(tx, {
        type: 'backup.selection.created',
        subject: selection.SelectionId,
        body: { BackupPlanId, SelectionName },
      })
      return selection
    },
  })
}

async function deleteSelection(
  { BackupPlanId, SelectionId }: { BackupPlanId: string; SelectionId: string },
  ctx: Context,
) {
  await ctx.store.transaction(async (tx) => {
    const { Account } = await needPlan(tx, ctx, BackupPlanId)
    if (!(await tx.remove(selections, `${planKey(Account, BackupPlanId)}/${SelectionId}`))) {
      throw noSelection(SelectionId)
    }
    await ctx.events.announce(tx, {
      type: 'backup.selection.deleted',
      subject: SelectionId,
      body: { BackupPlanId },
    })
  })
  return reply(200)
}

/** A selection without what was left out. Refuses one that selects nothing, or too much at once. */
function readSelection(sent: Sent): SelectionDocument {
  const { SelectionName, IamRoleArn, Resources, NotResources, ListOfTags } = sent
  for (const [field, list] of Object.entries({ Resources, NotResources })) {
    if ((list ?? []).filter((one) => one.endsWith('*')).length > WILD_ARNS_MAX) {
      throw InvalidParameterValue(`${field} has at most ${WILD_ARNS_MAX} ARNs with a wildcard.`)
    }
  }
  const conditions = sent.Conditions && readConditions(sent.Conditions)
  if (!Resources?.length && !ListOfTags?.length && !conditions) {
    throw InvalidParameterValue('BackupSelection must have Resources, ListOfTags or Conditions.')
  }
  return {
    SelectionName,
    IamRoleArn,
    ...(Resources && { Resources }),
    ...(NotResources && { NotResources }),
    ...(ListOfTags && { ListOfTags }),
    ...(conditions && { Conditions: conditions }),
  }
}

function readConditions(sent: NonNullable<Sent['Conditions']>): Conditions | undefined {
  const read: Record<string, readonly { ConditionKey: string; ConditionValue: string }[]> = {}
  for (const [test, list] of Object.entries(sent)) {
    for (const { ConditionKey } of list ?? []) {
      if (ConditionKey.startsWith(RESOURCE_TAG)) continue
      throw InvalidParameterValue(
        `Conditions.${test} has the key ${ConditionKey}, which must begin with ${RESOURCE_TAG}.`,
      )
    }
    if (list?.length) read[test] = list
  }
  return Object.keys(read).length > 0 ? read : undefined
}

const noSelection = (id: string) => ResourceNotFound(`The plan has no selection ${id}.`)
