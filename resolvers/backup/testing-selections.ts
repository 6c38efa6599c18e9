// Restore testing selections: of which resources a plan tries recovery points. Specification 3, K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, put, reply } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { AlreadyExists, InvalidParameterValue, LimitExceeded, ResourceNotFound } from './errors.ts'
import { page, pageShown } from './lists.ts'
import { once } from './request-tokens.ts'
import { checkRole } from './roles.ts'
import { nothing, only, pagedUpper, requestId, roleArn, testingName, textMap } from './shapes.ts'
import { needTestingPlan } from './testing-plans.ts'
import { testingPlanArnOf, testingSelections, type TestingSelection } from './testing-records.ts'

const SELECTIONS_MAX = 30
const ARNS_MAX = 30
const CONDITIONS_MAX = 30
const VALIDATION_HOURS_MAX = 168

const pairs = optional(
  z.array(z.object({ Key: text.max(160), Value: text.max(256) })).max(CONDITIONS_MAX),
)
const asked = {
  ProtectedResourceArns: optional(
    z
      .array(text.regex(/^(\*|arn:\S{1,895})$/, 'must be an ARN or *'))
      .min(1)
      .max(ARNS_MAX),
  ),
  ProtectedResourceConditions: optional(z.object({ StringEquals: pairs, StringNotEquals: pairs })),
  RestoreMetadataOverrides: optional(textMap),
  ValidationWindowHours: optional(
    whole.refine(
      (hours) => hours >= 0 && hours <= VALIDATION_HOURS_MAX,
      `must be 0 to ${VALIDATION_HOURS_MAX}`,
    ),
  ),
}
const forCreate = z.object({
  RestoreTestingSelectionName: testingName,
  ProtectedResourceType: text.min(1).max(100),
  IamRoleArn: roleArn,
  ...asked,
})
const forUpdate = z.object({ IamRoleArn: optional(roleArn), ...asked })

const MANY = '/restore-testing/plans/{RestoreTestingPlanName}/selections'
const ONE = `${MANY}/{RestoreTestingSelectionName}`
const inPlan = { RestoreTestingPlanName: text }
const one = { ...inPlan, RestoreTestingSelectionName: text }
const made = (selection: TestingSelection) => ({
  ...only('CreationTime', 'RestoreTestingPlanName', 'RestoreTestingSelectionName')(selection),
  RestoreTestingPlanArn: testingPlanArnOf(selection.Account, selection.RestoreTestingPlanName),
})
const LISTED = [
  'CreationTime',
  'IamRoleArn',
  'ProtectedResourceType',
  'RestoreTestingPlanName',
  'RestoreTestingSelectionName',
  'ValidationWindowHours',
]
const shown = only(
  ...LISTED,
  'CreatorRequestId',
  'ProtectedResourceArns',
  'ProtectedResourceConditions',
  'RestoreMetadataOverrides',
)

export const operations = [
  operation({
    name: 'createBackupRestoreTestingSelection',
    rest: put(MANY, {
      show: made,
      answer: z.object({ CreationTime: z.number(), RestoreTestingSelectionName: z.string() }),
    }),
    input: {
      ...inPlan,
      RestoreTestingSelection: forCreate,
      CreatorRequestId: optional(requestId),
    },
    needs: 'backup:CreateRestoreTestingSelection',
    refuses: { 400: 'There is no such plan, or something sent is invalid.' },
    run: createSelection,
  }),
  operation({
    name: 'updateBackupRestoreTestingSelection',
    rest: put(ONE, {
      isBeyond: true,
      show: (selection: TestingSelection & { UpdateTime: string }) => ({
        ...made(selection),
        ...only('UpdateTime')(selection),
      }),
    }),
    input: { ...one, RestoreTestingSelection: forUpdate },
    needs: 'backup:UpdateRestoreTestingSelection',
    run: updateSelection,
  }),
  operation({
    name: 'deleteBackupRestoreTestingSelection',
    rest: del(ONE, nothing),
    input: one,
    needs: 'backup:DeleteRestoreTestingSelection',
    refuses: { 400: 'There is no such plan or selection.' },
    run: deleteSelection,
  }),
  operation({
    name: 'backupRestoreTestingSelection',
    rest: get(ONE, {
      isBeyond: true,
      show: (selection: TestingSelection) => ({ RestoreTestingSelection: shown(selection) }),
    }),
    input: one,
    needs: 'backup:GetRestoreTestingSelection',
    run: (named, ctx) => needSelection(ctx.store, ctx, named),
  }),
  operation({
    name: 'backupRestoreTestingSelections',
    rest: get(MANY, {
      isBeyond: true,
      show: pageShown('RestoreTestingSelections', only(...LISTED)),
    }),
    input: { ...inPlan, ...pagedUpper },
    needs: 'backup:ListRestoreTestingSelections',
    async run({ RestoreTestingPlanName, MaxResults, NextToken }, ctx) {
      const { Account } = await needTestingPlan(ctx.store, ctx, RestoreTestingPlanName)
      const paging = { maxResults: MaxResults, nextToken: NextToken }
      const prefix = `${Account}/${RestoreTestingPlanName}/`
      return page(ctx, testingSelections, paging, { prefix })
    },
  }),
]

interface Creation {
  readonly RestoreTestingPlanName: string
  readonly RestoreTestingSelection: z.output<typeof forCreate>
  readonly CreatorRequestId?: string | undefined
}

async function createSelection(input: Creation, ctx: Context): Promise<TestingSelection> {
  const { RestoreTestingPlanName, RestoreTestingSelection: sent, CreatorRequestId } = input
  const selection: TestingSelection = {
    Account: accountOf(ctx),
    RestoreTestingPlanName,
    RestoreTestingSelectionName: sent.RestoreTestingSelectionName,
    IamRoleArn: sent.IamRoleArn,
    ProtectedResourceType: sent.ProtectedResourceType,
    ...readAsked(sent),
    ...(CreatorRequestId !== undefined && { CreatorRequestId }),
    CreationTime: ctx.clock.now().toISOString(),
  }
  checkChoice(selection)
  await checkRole(sent.IamRoleArn, ctx)
  return once(ctx, {
    operation: 'createRestoreTestingSelection',
    token: CreatorRequestId,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      await needTestingPlan(tx, ctx, RestoreTestingPlanName)
      const prefix = `${selection.Account}/${RestoreTestingPlanName}/`
      if ((await tx.count(testingSelections, { prefix })) >= SELECTIONS_MAX) {
        throw LimitExceeded(`A restore testing plan has at most ${SELECTIONS_MAX} selections.`)
      }
      if (!(await tx.insert(testingSelections, selection))) {
        throw AlreadyExists(
          `The plan has a selection named ${selection.RestoreTestingSelectionName} already.`,
        )
      }
      await announce(tx, 'created', selection, ctx)
      return selection
    },
  })
}

interface Named {
  readonly RestoreTestingPlanName: string
  readonly RestoreTestingSelectionName: string
}

async function updateSelection(
  input: Named & { RestoreTestingSelection: z.output<typeof forUpdate> },
  ctx: Context,
) {
  const { IamRoleArn, ...sent } = input.RestoreTestingSelection
  if (IamRoleArn !== undefined) await checkRole(IamRoleArn, ctx)
  const UpdateTime = ctx.clock.now().toISOString()
  return ctx.store.transaction(async (tx) => {
    const before = await needSelection(tx, ctx, input)
    const { ProtectedResourceArns: arns, ProtectedResourceConditions: conditions, ...rest } = before
    const isChosenAnew = sent.ProtectedResourceArns ?? sent.ProtectedResourceConditions
    const selection: TestingSelection = {
      ...rest,
      ...(!isChosenAnew && arns && { ProtectedResourceArns: arns }),
      ...(!isChosenAnew && conditions && { ProtectedResourceConditions: conditions }),
      ...(IamRoleArn !== undefined && { IamRoleArn }),
      ...readAsked(sent),
    }
    checkChoice(selection)
    await tx.save(testingSelections, selection)
    await announce(tx, 'changed', selection, ctx)
    return { ...selection, UpdateTime }
  })
}

async function deleteSelection(named: Named, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const selection = await needSelection(tx, ctx, named)
    await tx.remove(testingSelections, testingSelections.key(selection))
    await announce(tx, 'deleted', selection, ctx)
  })
  return reply(200)
}

/** What was sent of a selection, without what was left out. */
function readAsked(sent: Omit<z.output<typeof forUpdate>, 'IamRoleArn'>) {
  const { ProtectedResourceArns, RestoreMetadataOverrides, ValidationWindowHours } = sent
  const { StringEquals, StringNotEquals } = sent.ProtectedResourceConditions ?? {}
  return {
    ...(ProtectedResourceArns && { ProtectedResourceArns }),
    ...(sent.ProtectedResourceConditions && {
      ProtectedResourceConditions: {
        ...(StringEquals && { StringEquals }),
        ...(StringNotEquals && { StringNotEquals }),
      },
    }),
    ...(RestoreMetadataOverrides && { RestoreMetadataOverrides }),
    ...(ValidationWindowHours !== undefined && { ValidationWindowHours }),
  }
}

/** Chosen: `*` stands for all types, and goes with conditions alone. */
function checkChoice(selection: TestingSelection): void {
  const { ProtectedResourceType: type, ProtectedResourceArns: arns } = selection
  if ((arns === undefined) === (selection.ProtectedResourceConditions === undefined)) {
    throw InvalidParameterValue(
      'RestoreTestingSelection must have exactly one of ProtectedResourceArns and ProtectedResourceConditions.',
    )
  }
  if (arns && type === '*') {
    throw InvalidParameterValue(
      'ProtectedResourceType * goes with ProtectedResourceConditions, not with ProtectedResourceArns.',
    )
  }
  if (arns && arns.length > 1 && arns.includes('*')) {
    throw InvalidParameterValue('ProtectedResourceArns is either * or specific ARNs.')
  }
}

async function needSelection(from: Records, ctx: Context, named: Named): Promise<TestingSelection> {
  const { RestoreTestingPlanName: plan, RestoreTestingSelectionName: name } = named
  await needTestingPlan(from, ctx, plan)
  const selection = await from.get(testingSelections, `${accountOf(ctx)}/${plan}/${name}`)
  if (selection) return selection
  throw ResourceNotFound(`The restore testing plan ${plan} has no selection ${name}.`)
}

const announce = (tx: Records, happened: string, selection: TestingSelection, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.restore-testing-selection.${happened}`,
    subject: selection.RestoreTestingSelectionName,
    body: { RestoreTestingPlanName: selection.RestoreTestingPlanName },
  })
