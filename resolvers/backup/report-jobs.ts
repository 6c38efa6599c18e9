// Report jobs: the reports that plans write, every day and on demand, and the files they leave.
//
// Chosen: the bucket of a delivery channel is a name under which the files are kept here. They are read
// in the graph, and beside the documented paths at /audit/report-jobs/{id}/files/{format}.
import { accountOf, REGION } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { get, operation, post, reply } from '../kernel/operation.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { reportJobs, reportPlans, type ReportJob, type ReportPlan } from './audit-records.ts'
import { uuidOf } from './copy-runs.ts'
import { InvalidParameterValue, ResourceNotFound } from './errors.ts'
import { filteredPage, pageShown } from './lists.ts'
import { csvOf, jsonOf, rowsOf } from './report-rows.ts'
import { once } from './request-tokens.ts'
import { DAY_MS, moment, only, pagedUpper, requestId } from './shapes.ts'

const DUE_STEP = 'runBackupReportPlan'
const RUN_STEP = 'runBackupReportJob'
const FORGET_STEP = 'forgetBackupReports'
const FORGET_BATCH = 50
const STATUSES = ['CREATED', 'RUNNING', 'COMPLETED', 'FAILED'] as const
const TYPES = { CSV: 'text/csv; charset=utf-8', JSON: 'application/json; charset=utf-8' } as const

const shown = only(
  'ReportJobId',
  'ReportPlanArn',
  'ReportTemplate',
  'CreationTime',
  'CompletionTime',
  'Status',
  'StatusMessage',
  'ReportDestination',
)

export const operations = [
  operation({
    name: 'startBackupReportJob',
    rest: post('/audit/report-jobs/{ReportPlanName}', {
      isBeyond: true,
      show: only('ReportJobId'),
    }),
    input: { ReportPlanName: text, IdempotencyToken: optional(requestId) },
    needs: 'backup:StartReportJob',
    run(input, ctx) {
      return once(ctx, {
        operation: 'startReportJob',
        token: input.IdempotencyToken,
        input,
        refuse: InvalidParameterValue,
        make: async (tx) => {
          const key = `${accountOf(ctx)}/${input.ReportPlanName}`
          const plan = await tx.get(reportPlans, key)
          if (plan) return addJob(tx, plan, ctx.newId(), ctx)
          throw ResourceNotFound(`There is no report plan named ${input.ReportPlanName}.`)
        },
      })
    },
  }),
  operation({
    name: 'backupReportJob',
    rest: get('/audit/report-jobs/{ReportJobId}', {
      isBeyond: true,
      show: (job: ReportJob) => ({ ReportJob: shown(job) }),
    }),
    input: { ReportJobId: text },
    needs: 'backup:DescribeReportJob',
    run: ({ ReportJobId }, ctx) => needJob(ctx, ReportJobId),
  }),
  operation({
    name: 'backupReportJobs',
    rest: get('/audit/report-jobs', { isBeyond: true, show: pageShown('ReportJobs', shown) }),
    input: {
      ReportPlanName: optional(text),
      CreationBefore: optional(moment),
      CreationAfter: optional(moment),
      Status: optional(oneOf(STATUSES)),
      ...pagedUpper,
    },
    needs: 'backup:ListReportJobs',
    run(asked, ctx) {
      const account = accountOf(ctx)
      const { ReportPlanName, CreationBefore, CreationAfter, Status } = asked
      const where =
        ReportPlanName === undefined ? { account } : { plan: `${account}/${ReportPlanName}` }
      const query = {
        where,
        order: 'createdMs',
        descending: true,
        ...(CreationAfter !== undefined && { from: Date.parse(CreationAfter) }),
        ...(CreationBefore !== undefined && { below: Date.parse(CreationBefore) }),
      }
      const paging = { maxResults: asked.MaxResults, nextToken: asked.NextToken }
      return filteredPage(ctx, reportJobs, paging, query, {
        filters: { Status },
        isHit: (job) => job.Status === Status,
      })
    },
  }),
  operation({
    name: 'backupReport',
    rest: get('/audit/report-jobs/{ReportJobId}/files/{Format}', {
      isBeyond: true,
      show: ({ Text }: { Text: string }) => Text,
    }),
    input: { ReportJobId: text, Format: oneOf(['CSV', 'JSON']) },
    needs: 'backup:DescribeReportJob',
    async run({ ReportJobId, Format }, ctx) {
      const job = await needJob(ctx, ReportJobId)
      const key = blobKeyOf(job, Format)
      const version = await ctx.blobs.latest(ctx.store, key)
      const bytes = version && (await ctx.blobs.read(ctx.store, key, version.version))
      if (!bytes) throw ResourceNotFound(`The report job has no file in ${Format}.`)
      const { sizeBytes: SizeBytes, digest: Sha256 } = version
      const Text = Buffer.from(bytes).toString()
      return reply(200, { Format, SizeBytes, Sha256, Text }, { 'content-type': TYPES[Format] })
    },
  }),
]

export const steps = { [DUE_STEP]: runDue, [RUN_STEP]: run, [FORGET_STEP]: forget }

/** Lets a step wait for the next report of a plan. */
export async function waitForReport(tx: Records, plan: ReportPlan, ctx: Context): Promise<void> {
  const due = { Key: reportPlans.key(plan), DueMs: plan.DueMs }
  await ctx.work.later(tx, Math.max(0, plan.DueMs - ctx.clock.now().getTime()), DUE_STEP, due)
}

/** Chosen: reports are written a day after the plan was made, and every day from then on. */
async function runDue({ Key, DueMs }: { Key: string; DueMs: number }, ctx: Context) {
  const nowMs = ctx.clock.now().getTime()
  await ctx.store.transaction(async (tx) => {
    const plan = await tx.get(reportPlans, Key)
    if (plan?.DueMs !== DueMs) return
    const missed = Math.floor((nowMs - DueMs) / DAY_MS)
    const next: ReportPlan = { ...plan, DueMs: DueMs + (missed + 1) * DAY_MS }
    await tx.save(reportPlans, next)
    await waitForReport(tx, next, ctx)
    await addJob(tx, next, uuidOf(`${plan.ReportPlanArn} ${plan.CreationTime} ${DueMs}`), ctx)
  })
}

async function addJob(
  tx: Records,
  plan: ReportPlan,
  ReportJobId: string,
  ctx: Context,
): Promise<ReportJob> {
  const job: ReportJob = {
    Account: plan.Account,
    ReportJobId,
    ReportPlanName: plan.ReportPlanName,
    ReportPlanArn: plan.ReportPlanArn,
    ReportTemplate: plan.ReportSetting.ReportTemplate,
    CreationTime: ctx.clock.now().toISOString(),
    Status: 'CREATED',
  }
  await tx.insert(reportJobs, job)
  await ctx.work.later(tx, 0, RUN_STEP, { Key: reportJobs.key(job) })
  return job
}

async function run({ Key }: { Key: string }, ctx: Context): Promise<void> {
  const job = await ctx.store.get(reportJobs, Key)
  const plan = job && (await ctx.store.get(reportPlans, `${job.Account}/${job.ReportPlanName}`))
  if (!plan || job.Status !== 'CREATED') return
  try {
    const rows = await rowsOf(plan, ctx)
    await ctx.store.transaction(async (tx) => {
      const { Formats, S3BucketName } = plan.ReportDeliveryChannel
      for (const format of Formats) {
        const written = format === 'CSV' ? csvOf(rows) : jsonOf(rows)
        await ctx.blobs.write(tx, blobKeyOf(job, format), Buffer.from(written))
      }
      const S3Keys = Formats.map((format) => fileKeyOf(plan, job, format))
      await end(
        tx,
        { ...job, Status: 'COMPLETED', ReportDestination: { S3BucketName, S3Keys } },
        ctx,
      )
    })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const StatusMessage = error.message.slice(0, 1_000)
    await ctx.store.transaction((tx) => end(tx, { ...job, Status: 'FAILED', StatusMessage }, ctx))
  }
}

async function end(tx: Records, job: ReportJob, ctx: Context): Promise<void> {
  const now = ctx.clock.now().toISOString()
  await tx.save(reportJobs, { ...job, CompletionTime: now })
  const plan = await tx.get(reportPlans, `${job.Account}/${job.ReportPlanName}`)
  if (plan) {
    await tx.save(reportPlans, {
      ...plan,
      LastAttemptedExecutionTime: now,
      ...(job.Status === 'COMPLETED' && { LastSuccessfulExecutionTime: now }),
    })
  }
  await ctx.events.announce(tx, {
    type: `backup.report-job.${job.Status.toLowerCase()}`,
    subject: job.ReportJobId,
    body: { ReportPlanName: job.ReportPlanName },
  })
}

export const forgetReports = (tx: Records, plan: ReportPlan, ctx: Context): Promise<void> =>
  ctx.work.later(tx, 0, FORGET_STEP, { Plan: reportPlans.key(plan) })

async function forget({ Plan }: { Plan: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    // A plan of the same name may have been made meanwhile: its reports are its own.
    const begun = (await tx.get(reportPlans, Plan))?.CreationTime
    const below = begun === undefined ? undefined : Date.parse(begun)
    const { items, next } = await tx.list(reportJobs, {
      where: { plan: Plan },
      order: 'createdMs',
      limit: FORGET_BATCH,
      ...(below !== undefined && { below }),
    })
    for (const job of items) await forgetJob(tx, job, ctx)
    if (next !== undefined) await ctx.work.later(tx, 0, FORGET_STEP, { Plan })
  })
}

export async function forgetJob(tx: Records, job: ReportJob, ctx: Context): Promise<void> {
  await tx.remove(reportJobs, reportJobs.key(job))
  for (const format of ['CSV', 'JSON']) await ctx.blobs.remove(tx, blobKeyOf(job, format))
}

const blobKeyOf = (job: ReportJob, format: string) => `report/${reportJobs.key(job)}/${format}`

function fileKeyOf(plan: ReportPlan, job: ReportJob, format: string): string {
  const { S3KeyPrefix } = plan.ReportDeliveryChannel
  const day = job.CreationTime.slice(0, 10).replaceAll('-', '/')
  const file = `${plan.ReportPlanName}_${job.ReportJobId}.${format.toLowerCase()}`
  const path = `Backup/${plan.Account}/${REGION}/${day}/${file}`
  return S3KeyPrefix ? `${S3KeyPrefix}/${path}` : path
}

async function needJob(ctx: Context, id: string): Promise<ReportJob> {
  const job = await ctx.store.get(reportJobs, `${accountOf(ctx)}/${id}`)
  if (job) return job
  throw ResourceNotFound(`There is no report job ${id}.`)
}
