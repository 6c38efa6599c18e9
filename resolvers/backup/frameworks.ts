// Frameworks: named sets of controls that are held against what is there. Specification 3, service K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, put, reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { frameworkArnOf, frameworks, type Framework } from './audit-records.ts'
import { control, readControls, type SentControl } from './control-shapes.ts'
import { evaluate } from './controls.ts'
import { AlreadyExists, ConflictInProgress, LimitExceeded, ResourceNotFound } from './errors.ts'
import { page, pageShown } from './lists.ts'
import { once } from './request-tokens.ts'
import { auditName, note, nothing, only, pagedUpper, requestId, tagMap } from './shapes.ts'
import { setTags } from './tags.ts'

const FRAMEWORKS_MAX = 100
/** How long a framework takes to be deployed. */
const DEPLOY_MS = 5_000
const DEPLOY_STEP = 'deployBackupFramework'

const ONE = '/audit/frameworks/{FrameworkName}'
const controls = z.array(control).min(1).max(50)
const made = only('FrameworkName', 'FrameworkArn')
const shown = only(
  'FrameworkName',
  'FrameworkArn',
  'FrameworkDescription',
  'FrameworkControls',
  'CreationTime',
  'DeploymentStatus',
  'FrameworkStatus',
  'IdempotencyToken',
)

export const operations = [
  operation({
    name: 'createBackupFramework',
    rest: post('/audit/frameworks', {
      show: made,
      answer: z.object({ FrameworkName: z.string(), FrameworkArn: z.string() }),
    }),
    input: {
      FrameworkName: auditName,
      FrameworkControls: controls,
      FrameworkDescription: optional(note),
      IdempotencyToken: optional(requestId),
      FrameworkTags: optional(tagMap),
    },
    needs: 'backup:CreateFramework',
    refuses: { 400: 'There is a framework of this name, or something sent is invalid.' },
    run: createFramework,
  }),
  operation({
    name: 'updateBackupFramework',
    rest: put(ONE, { isBeyond: true, show: only('FrameworkName', 'FrameworkArn', 'CreationTime') }),
    input: {
      FrameworkName: text,
      FrameworkDescription: optional(note),
      FrameworkControls: optional(controls),
      IdempotencyToken: optional(requestId),
    },
    needs: 'backup:UpdateFramework',
    run: updateFramework,
  }),
  operation({
    name: 'deleteBackupFramework',
    rest: del(ONE, nothing),
    input: { FrameworkName: text },
    needs: 'backup:DeleteFramework',
    refuses: { 400: 'There is no such framework.', 409: 'The framework is being deployed.' },
    run: deleteFramework,
  }),
  operation({
    name: 'backupFramework',
    rest: get(ONE, {
      show: shown,
      answer: z.object({ FrameworkName: z.string(), CreationTime: z.number() }),
    }),
    input: { FrameworkName: text },
    needs: 'backup:DescribeFramework',
    refuses: { 400: 'There is no such framework.' },
    run: ({ FrameworkName }, ctx) => needFramework(ctx.store, accountOf(ctx), FrameworkName),
  }),
  operation({
    name: 'backupFrameworks',
    rest: get('/audit/frameworks', {
      isBeyond: true,
      show: pageShown('Frameworks', (framework: Framework) => ({
        ...only('FrameworkName', 'FrameworkArn', 'FrameworkDescription')(framework),
        ...only('CreationTime', 'DeploymentStatus')(framework),
        NumberOfControls: framework.FrameworkControls.length,
      })),
    }),
    input: pagedUpper,
    needs: 'backup:ListFrameworks',
    run: ({ MaxResults, NextToken }, ctx) =>
      page(
        ctx,
        frameworks,
        { maxResults: MaxResults, nextToken: NextToken },
        { prefix: `${accountOf(ctx)}/` },
      ),
  }),
]

export const steps = { [DEPLOY_STEP]: deploy }

export const fields = {
  BackupFramework: {
    evaluations: (framework: Framework, _: unknown, ctx: Context) => evaluate(framework, ctx),
    numberOfControls: ({ FrameworkControls }: Framework) => FrameworkControls.length,
  },
}

interface Creation {
  readonly FrameworkName: string
  readonly FrameworkControls: readonly SentControl[]
  readonly FrameworkDescription?: string | undefined
  readonly IdempotencyToken?: string | undefined
  readonly FrameworkTags?: Record<string, string> | undefined
}

async function createFramework(input: Creation, ctx: Context): Promise<Framework> {
  const Account = accountOf(ctx)
  const { FrameworkName, FrameworkDescription, IdempotencyToken } = input
  const FrameworkControls = readControls(input.FrameworkControls)
  return once(ctx, {
    operation: 'createFramework',
    token: IdempotencyToken,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      const framework: Framework = {
        Account,
        UserId: ctx.caller.userId,
        Permissions: ctx.caller.permissions,
        FrameworkName,
        FrameworkArn: frameworkArnOf(Account, FrameworkName),
        ...(FrameworkDescription !== undefined && { FrameworkDescription }),
        FrameworkControls,
        CreationTime: ctx.clock.now().toISOString(),
        DeploymentStatus: 'CREATE_IN_PROGRESS',
        FrameworkStatus: 'ACTIVE',
        ...(IdempotencyToken !== undefined && { IdempotencyToken }),
      }
      if (!(await tx.insert(frameworks, framework))) {
        throw AlreadyExists(`There is a framework named ${FrameworkName} already.`, {
          details: { Arn: framework.FrameworkArn },
        })
      }
      if ((await tx.count(frameworks, { prefix: `${Account}/` })) > FRAMEWORKS_MAX) {
        throw LimitExceeded(`An account has at most ${FRAMEWORKS_MAX} frameworks.`)
      }
      await setTags(tx, framework.FrameworkArn, input.FrameworkTags)
      await ctx.work.later(tx, DEPLOY_MS, DEPLOY_STEP, { Key: frameworks.key(framework) })
      await announce(tx, 'created', framework, ctx)
      return framework
    },
  })
}

interface Update {
  readonly FrameworkName: string
  readonly FrameworkDescription?: string | undefined
  readonly FrameworkControls?: readonly SentControl[] | undefined
  readonly IdempotencyToken?: string | undefined
}

async function updateFramework(input: Update, ctx: Context): Promise<Framework> {
  const { FrameworkName, FrameworkDescription } = input
  const FrameworkControls = input.FrameworkControls && readControls(input.FrameworkControls)
  return once(ctx, {
    operation: 'updateFramework',
    token: input.IdempotencyToken,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      const before = await needFramework(tx, accountOf(ctx), FrameworkName)
      checkDeployed(before)
      const framework: Framework = {
        ...before,
        ...(FrameworkDescription !== undefined && { FrameworkDescription }),
        ...(FrameworkControls && { FrameworkControls }),
        DeploymentStatus: 'UPDATE_IN_PROGRESS',
      }
      await tx.save(frameworks, framework)
      await ctx.work.later(tx, DEPLOY_MS, DEPLOY_STEP, { Key: frameworks.key(framework) })
      await announce(tx, 'changed', framework, ctx)
      return framework
    },
  })
}

async function deploy({ Key }: { Key: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const framework = await tx.get(frameworks, Key)
    if (framework) await tx.save(frameworks, { ...framework, DeploymentStatus: 'COMPLETED' })
  })
}

async function deleteFramework({ FrameworkName }: { FrameworkName: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const framework = await needFramework(tx, accountOf(ctx), FrameworkName)
    checkDeployed(framework)
    await tx.remove(frameworks, frameworks.key(framework))
    await setTags(tx, framework.FrameworkArn)
    await announce(tx, 'deleted', framework, ctx)
  })
  return reply(200)
}

function checkDeployed({ FrameworkName, DeploymentStatus }: Framework): void {
  if (DeploymentStatus === 'COMPLETED') return
  throw ConflictInProgress(`The framework ${FrameworkName} is being deployed. Try again.`)
}

async function needFramework(from: Records, account: string, name: string): Promise<Framework> {
  const framework = await from.get(frameworks, `${account}/${name}`)
  if (framework) return framework
  throw ResourceNotFound(`There is no framework named ${name}.`)
}

const announce = (tx: Records, happened: string, framework: Framework, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.framework.${happened}`,
    subject: framework.FrameworkArn,
    body: { FrameworkName: framework.FrameworkName },
  })
