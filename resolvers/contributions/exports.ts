// Exports: an archive of contributions, built in the background. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { TooMany } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { flag, oneOf, optional } from '../kernel/shape.ts'
import { personOf } from './access.ts'
import { linkTo } from './artifacts.ts'
import { invalidField, missing } from './errors.ts'
import { exportJobs, type ExportJob, type ExportOptions } from './export-records.ts'
import { SLICE_STEP } from './export-slices.ts'
import { filters, readFilter, type Filter } from './filters.ts'
import { sumOf, type Summary } from './finding.ts'
import { id } from './shapes.ts'

const RUNNING_MAX = 5
const MEDIA_BYTES_MAX = 16 * 1024 ** 3
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB']
const FILTER_NAMES = Object.keys(filters)

const EXPORT = z.object({
  id: z.string(),
  owner: z.string(),
  started: z.string(),
  finished: z.string().optional(),
  progress: z.number(),
  step: z.string(),
  downloadUrl: z.string().optional(),
})

const choices = {
  tagged: optional(flag),
  combined: optional(flag),
  individual: optional(flag),
  format: optional(oneOf(['none', 'fullsize', 'tagged', 'original'])),
  json: optional(flag),
}

export const operations = [
  operation({
    name: 'createContributionExport',
    rest: post('/export', {
      status: [202],
      query: [...FILTER_NAMES, ...Object.keys(choices)],
      show: showExport,
      answer: EXPORT,
    }),
    refuses: { 429: 'Too many exports of yours are being built.' },
    input: { ...filters, ...choices },
    async run({ tagged, combined, individual, format, json, ...sent }, ctx) {
      const options = readOptions({ tagged, combined, individual, format, json })
      return createExport(await readFilter(sent, ctx), options, ctx)
    },
  }),
  operation({
    name: 'contributionExportSummary',
    rest: post('/export-summary', {
      query: FILTER_NAMES,
      answer: z.object({
        contributions: z.number(),
        media: z.number(),
        totalMediaSize: z.number(),
        estimatedSize: z.string(),
      }),
    }),
    input: filters,
    async run(sent, ctx) {
      const summary = await sumOf(await readFilter(sent, ctx), ctx)
      return { ...summary, estimatedSize: sizeInWords(summary.totalMediaSize) }
    },
  }),
  operation({
    name: 'contributionExport',
    rest: get('/exports/{id}', { show: showExport, answer: EXPORT }),
    refuses: { 404: 'There is no such export.' },
    input: { id },
    async run({ id }, ctx) {
      const found = await load(ctx, exportJobs, id)
      if (!found || found.owner !== ctx.caller.userId) throw missing('export', id)
      return found
    },
  }),
]

export const fields = {
  ContributionExport: {
    owner: ({ owner }: ExportJob) => ({ __typename: 'User', id: owner }),
    progress: progressOf,
    downloadUrl: (one: ExportJob, _args: unknown, ctx: Context) => downloadUrlOf(one, ctx) ?? null,
  },
}

/** An export as REST shows it. */
function showExport(one: ExportJob, ctx: Context) {
  const downloadUrl = downloadUrlOf(one, ctx)
  return {
    id: one.id,
    owner: one.owner,
    started: one.started,
    ...(one.finished !== undefined && { finished: one.finished }),
    progress: progressOf(one),
    step: one.step,
    ...(downloadUrl !== undefined && { downloadUrl }),
  }
}

const downloadUrlOf = ({ id, finished }: ExportJob, ctx: Context): string | undefined =>
  finished === undefined ? undefined : linkTo(`/exports/${id}/download`, ctx)

/** How far it is, in percent. The last is for the directory. */
function progressOf({ finished, total, done, options }: ExportJob): number {
  if (finished !== undefined) return 100
  const passes = options.combined ? 2 : 1
  return total === 0 ? 0 : Math.min(99, Math.floor((done * 99) / (total * passes)))
}

type Choices = { [K in keyof typeof choices]: z.output<(typeof choices)[K]> }

// Chosen: an export for which no text is chosen has the combined one, and one for which no format is
// chosen has its media in full size. The deprecated `tagged` is the format of that name.
function readOptions({ tagged, combined, individual, format, json }: Choices): ExportOptions {
  if (tagged && format !== undefined && format !== 'tagged') {
    throw invalidField('tagged', `contradicts the format ${format}`)
  }
  return {
    combined: combined ?? !(individual || json),
    individual: individual ?? false,
    json: json ?? false,
    format: format ?? (tagged ? 'tagged' : 'fullsize'),
  }
}

async function createExport(
  filter: Filter,
  options: ExportOptions,
  ctx: Context,
): Promise<ExportJob> {
  const owner = personOf(ctx)
  const now = ctx.clock.now()
  // What comes later is not part of it. What came in this very millisecond is.
  const belowMs = Math.min(filter.belowMs ?? Infinity, now.getTime() + 1)
  const sum: Summary = await sumOf(filter, ctx)
  if (options.format !== 'none' && sum.totalMediaSize > MEDIA_BYTES_MAX) {
    throw invalidField(
      'format',
      `would make the export larger than ${sizeInWords(MEDIA_BYTES_MAX)}; narrow the filters or choose none`,
    )
  }
  const started: ExportJob = {
    id: ctx.newId(),
    owner,
    credential: ctx.caller.credentialId,
    isAdmin: ctx.caller.isAdmin,
    filter: { ...filter, belowMs },
    options,
    started: now.toISOString(),
    step: options.combined ? 'text' : 'files',
    total: sum.contributions,
    done: 0,
    slice: 0,
    files: 0,
    texts: 0,
    sizeBytes: 0,
    entries: 0,
    directoryParts: 0,
    directoryBytes: 0,
    directoryWritten: 0,
  }
  const { id } = started
  await ctx.store.transaction(async (tx) => {
    if ((await tx.count(exportJobs, { where: { runningOf: owner } })) >= RUNNING_MAX) {
      throw TooMany(`${RUNNING_MAX} exports of yours are being built. Wait for one to finish.`)
    }
    await tx.insert(exportJobs, started)
    await ctx.work.later(tx, 0, SLICE_STEP, { id, slice: 0 })
    await ctx.events.announce(tx, {
      type: 'contributions.export.created',
      subject: id,
      body: { id },
    })
  })
  return started
}

/** `10MB` */
function sizeInWords(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log(Math.max(bytes, 1)) / Math.log(1024)), UNITS.length - 1)
  return `${Math.round(bytes / 1024 ** unit)}${UNITS[unit]}`
}
