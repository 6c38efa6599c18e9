// Report plans: reports that are written every day, and on demand. Specification 3, service K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, put, reply } from '../kernel/operation.ts'
import { oneOf, optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import {
  frameworkAt,
  reportPlanArnOf,
  reportPlans,
  type DeliveryChannel,
  type ReportPlan,
  type ReportSetting,
} from './audit-records.ts'
import { AlreadyExists, InvalidParameterValue, LimitExceeded, ResourceNotFound } from './errors.ts'
import { page, pageShown } from './lists.ts'
import { forgetReports, waitForReport } from './report-jobs.ts'
import { once } from './request-tokens.ts'
import { auditName, DAY_MS, note, nothing, only, pagedUpper, requestId, tagMap } from './shapes.ts'
import { setTags } from './tags.ts'

const REPORT_PLANS_MAX = 100
const NAMES_MAX = 100
const TEMPLATES = [
  'RESOURCE_COMPLIANCE_REPORT',
  'CONTROL_COMPLIANCE_REPORT',
  'BACKUP_JOB_REPORT',
  'COPY_JOB_REPORT',
  'RESTORE_JOB_REPORT',
] as const
const NEED_FRAMEWORKS: ReadonlySet<string> = new Set(TEMPLATES.slice(0, 2))

const names = optional(z.array(text.max(256)).max(NAMES_MAX))
const setting = z.object({
  ReportTemplate: oneOf(TEMPLATES),
  FrameworkArns: names,
  NumberOfFrameworks: optional(whole),
  Accounts: names,
  OrganizationUnits: names,
  Regions: names,
})
const channel = z.object({
  S3BucketName: text.regex(
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    'must be the name of a bucket: 3 to 63 small letters, digits, dots or hyphens',
  ),
  S3KeyPrefix: optional(text.max(512)),
  Formats: optional(
    z
      .array(oneOf(['CSV', 'JSON']))
      .min(1)
      .max(2),
  ),
})

const MANY = '/audit/report-plans'
const ONE = `${MANY}/{ReportPlanName}`
const one = { ReportPlanName: text }
const made = only('ReportPlanName', 'ReportPlanArn', 'CreationTime')
const shown = only(
  'ReportPlanArn',
  'ReportPlanName',
  'ReportPlanDescription',
  'ReportSetting',
  'ReportDeliveryChannel',
  'DeploymentStatus',
  'CreationTime',
  'LastAttemptedExecutionTime',
  'LastSuccessfulExecutionTime',
)

export const operations = [
  operation({
    name: 'createBackupReportPlan',
    rest: post(MANY, {
      show: made,
      answer: z.object({
        ReportPlanName: z.string(),
        ReportPlanArn: z.string(),
        CreationTime: z.number(),
      }),
    }),
    input: {
      ReportPlanName: auditName,
      ReportDeliveryChannel: channel,
      ReportSetting: setting,
      ReportPlanDescription: optional(note),
      ReportPlanTags: optional(tagMap),
      IdempotencyToken: optional(requestId),
    },
    needs: 'backup:CreateReportPlan',
    refuses: { 400: 'There is a report plan of this name, or something sent is invalid.' },
    run: createReportPlan,
  }),
  operation({
    name: 'updateBackupReportPlan',
    rest: put(ONE, { isBeyond: true, show: made }),
    input: {
      ...one,
      ReportPlanDescription: optional(note),
      ReportDeliveryChannel: optional(channel),
      ReportSetting: optional(setting),
      IdempotencyToken: optional(requestId),
    },
    needs: 'backup:UpdateReportPlan',
    run: updateReportPlan,
  }),
  operation({
    name: 'deleteBackupReportPlan',
    rest: del(ONE, nothing),
    input: one,
    needs: 'backup:DeleteReportPlan',
    refuses: { 400: 'There is no such report plan.' },
    run: deleteReportPlan,
  }),
  operation({
    name: 'backupReportPlan',
    rest: get(ONE, {
      isBeyond: true,
      show: (plan: ReportPlan) => ({ ReportPlan: shown(plan) }),
    }),
    input: one,
    needs: 'backup:DescribeReportPlan',
    run: ({ ReportPlanName }, ctx) => needReportPlan(ctx.store, ctx, ReportPlanName),
  }),
  operation({
    name: 'backupReportPlans',
    rest: get(MANY, { isBeyond: true, show: pageShown('ReportPlans', shown) }),
    input: pagedUpper,
    needs: 'backup:ListReportPlans',
    run: ({ MaxResults, NextToken }, ctx) =>
      page(
        ctx,
        reportPlans,
        { maxResults: MaxResults, nextToken: NextToken },
        { prefix: `${accountOf(ctx)}/` },
      ),
  }),
]

interface Creation {
  readonly ReportPlanName: string
  readonly ReportDeliveryChannel: z.output<typeof channel>
  readonly ReportSetting: z.output<typeof setting>
  readonly ReportPlanDescription?: string | undefined
  readonly ReportPlanTags?: Record<string, string> | undefined
  readonly IdempotencyToken?: string | undefined
}

async function createReportPlan(input: Creation, ctx: Context): Promise<ReportPlan> {
  const Account = accountOf(ctx)
  const { ReportPlanName, ReportPlanDescription } = input
  const nowMs = ctx.clock.now().getTime()
  return once(ctx, {
    operation: 'createReportPlan',
    token: input.IdempotencyToken,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      const plan: ReportPlan = {
        Account,
        UserId: ctx.caller.userId,
        ReportPlanName,
        ReportPlanArn: reportPlanArnOf(Account, ReportPlanName),
        ...(ReportPlanDescription !== undefined && { ReportPlanDescription }),
        ReportSetting: await readSetting(tx, input.ReportSetting, ctx),
        ReportDeliveryChannel: readChannel(input.ReportDeliveryChannel),
        DeploymentStatus: 'COMPLETED',
        CreationTime: new Date(nowMs).toISOString(),
        DueMs: nowMs + DAY_MS,
      }
      if (!(await tx.insert(reportPlans, plan))) {
        throw AlreadyExists(`There is a report plan named ${ReportPlanName} already.`, {
          details: { Arn: plan.ReportPlanArn },
        })
      }
      if ((await tx.count(reportPlans, { prefix: `${Account}/` })) > REPORT_PLANS_MAX) {
        throw LimitExceeded(`An account has at most ${REPORT_PLANS_MAX} report plans.`)
      }
      await setTags(tx, plan.ReportPlanArn, input.ReportPlanTags)
      await waitForReport(tx, plan, ctx)
      await announce(tx, 'created', plan, ctx)
      return plan
    },
  })
}

interface Update {
  readonly ReportPlanName: string
  readonly ReportDeliveryChannel?: z.output<typeof channel> | undefined
  readonly ReportSetting?: z.output<typeof setting> | undefined
  readonly ReportPlanDescription?: string | undefined
  readonly IdempotencyToken?: string | undefined
}

async function updateReportPlan(input: Update, ctx: Context): Promise<ReportPlan> {
  const { ReportPlanName, ReportPlanDescription, ReportDeliveryChannel, ReportSetting } = input
  return once(ctx, {
    operation: 'updateReportPlan',
    token: input.IdempotencyToken,
    input,
    refuse: InvalidParameterValue,
    make: async (tx) => {
      const before = await needReportPlan(tx, ctx, ReportPlanName)
      const plan: ReportPlan = {
        ...before,
        ...(ReportPlanDescription !== undefined && { ReportPlanDescription }),
        ...(ReportDeliveryChannel && { ReportDeliveryChannel: readChannel(ReportDeliveryChannel) }),
        ...(ReportSetting && { ReportSetting: await readSetting(tx, ReportSetting, ctx) }),
      }
      await tx.save(reportPlans, plan)
      await announce(tx, 'changed', plan, ctx)
      return plan
    },
  })
}

/** What it reported is forgotten with it, a batch at a time. */
async function deleteReportPlan({ ReportPlanName }: { ReportPlanName: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const plan = await needReportPlan(tx, ctx, ReportPlanName)
    await tx.remove(reportPlans, reportPlans.key(plan))
    await setTags(tx, plan.ReportPlanArn)
    await forgetReports(tx, plan, ctx)
    await announce(tx, 'deleted', plan, ctx)
  })
  return reply(200)
}

const readChannel = ({ S3BucketName, S3KeyPrefix, Formats }: z.output<typeof channel>) =>
  ({
    S3BucketName,
    ...(S3KeyPrefix !== undefined && { S3KeyPrefix }),
    Formats: [...new Set(Formats ?? (['CSV'] as const))],
  }) satisfies DeliveryChannel

async function readSetting(
  tx: Records,
  sent: z.output<typeof setting>,
  ctx: Context,
): Promise<ReportSetting> {
  const { ReportTemplate, FrameworkArns = [] } = sent
  const needsFrameworks = NEED_FRAMEWORKS.has(ReportTemplate)
  if (needsFrameworks !== FrameworkArns.length > 0) {
    throw InvalidParameterValue(
      `ReportSetting.FrameworkArns ${needsFrameworks ? 'must name a framework' : 'does not go'} with ${ReportTemplate}.`,
    )
  }
  for (const arn of FrameworkArns) {
    if (await frameworkAt(tx, arn, accountOf(ctx))) continue
    throw InvalidParameterValue(`ReportSetting.FrameworkArns: there is no framework ${arn}.`)
  }
  const others = (sent.Accounts ?? []).filter((account) => account !== accountOf(ctx))
  if (others.length > 0 || sent.OrganizationUnits?.length) {
    throw InvalidParameterValue('ReportSetting can name the account itself alone.')
  }
  return {
    ReportTemplate,
    ...(sent.FrameworkArns && {
      FrameworkArns: sent.FrameworkArns,
      NumberOfFrameworks: sent.FrameworkArns.length,
    }),
    ...(sent.Accounts && { Accounts: sent.Accounts }),
    ...(sent.Regions && { Regions: sent.Regions }),
  }
}

async function needReportPlan(from: Records, ctx: Context, name: string): Promise<ReportPlan> {
  const plan = await from.get(reportPlans, `${accountOf(ctx)}/${name}`)
  if (plan) return plan
  throw ResourceNotFound(`There is no report plan named ${name}.`)
}

const announce = (tx: Records, happened: string, plan: ReportPlan, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.report-plan.${happened}`,
    subject: plan.ReportPlanArn,
    body: { ReportPlanName: plan.ReportPlanName },
  })
