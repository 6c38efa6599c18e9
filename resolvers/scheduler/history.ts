// History: one entry for every attempt that ended, the newest first. Specification 3, service J.
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import type { Records } from '../kernel/store.ts'
import { armKey } from '../families/arm.ts'
import { scanAt } from '../families/arm-scan.ts'
import { under } from '../families/arm-lists.ts'
import type { FilterFields } from '../families/arm-filter.ts'
import type { Input } from '../families/arm-paths.ts'
import type { Outcome } from './actions.ts'
import { filtered, jobKey, findJob } from './jobs.ts'
import {
  HISTORY,
  HISTORY_TYPE,
  history,
  shownNameOf,
  VERSION,
  type Execution,
  type HistoryEntry,
  type Job,
} from './kinds.ts'
import { historyAnswer, listAnswer } from './shapes.ts'

/** Chosen: how many entries a job keeps; the oldest go first. */
const HISTORY_MAX = 1_000
const MESSAGE_MAX = 2_000

const fields: FilterFields<HistoryEntry> = {
  status: { type: 'text', of: ({ properties }) => properties.status },
  actionName: { type: 'text', of: ({ properties }) => properties.actionName },
  startTime: { type: 'moment', of: ({ properties }) => properties.startTime },
  endTime: { type: 'moment', of: ({ properties }) => properties.endTime },
}

export const operations = [
  operation({
    name: 'schedulerJobHistory',
    rest: get(HISTORY, { answer: listAnswer(historyAnswer) }),
    input: { ...jobKey, ...filtered },
    run: listHistory,
  }),
]

export const kinds = [history]

async function listHistory(input: Input, ctx: Context) {
  await findJob(input, ctx)
  const select = (named: Input) => ({ ...under(HISTORY, named), descending: true })
  return scanAt({ kind: history, version: VERSION }, { path: HISTORY, select, fields }, input, ctx)
}

interface Ended extends Outcome {
  readonly status: HistoryEntry['properties']['status']
  readonly startTime: string
}

/** Notes an attempt that ended, and returns the job's counts after it. */
export async function keep(
  job: Job,
  { key, actionName, expected, retryCount, repeatCount }: Execution,
  { status, startTime, message }: Ended,
  { tx, ctx }: { tx: Records; ctx: Context },
): Promise<Job['counts']> {
  const run = key.slice(key.lastIndexOf('/') + 1)
  const entry = `${run}-${String(retryCount).padStart(2, '0')}`
  await tx.insert(history, {
    id: `${job.id}/history/${entry}`,
    name: `${shownNameOf(job.id)}/${entry}`,
    type: HISTORY_TYPE,
    properties: {
      actionName,
      status,
      startTime,
      endTime: ctx.clock.now().toISOString(),
      expectedExecutionTime: new Date(expected).toISOString(),
      message: message.slice(0, MESSAGE_MAX),
      retryCount,
      // Chosen: how often the job had run by its plan before this run.
      repeatCount,
    },
  })
  const { counts } = job
  const isFull = counts.history >= HISTORY_MAX
  if (isFull) await tx.removeMany(history, { prefix: `${armKey(job)}/`, limit: 1 })
  const isMain = actionName === 'MainAction'
  return {
    ...counts,
    // Chosen: a failure is an attempt that failed, and a fault a run that failed for good.
    failureCount: counts.failureCount + (isMain && status !== 'Completed' ? 1 : 0),
    faultedCount: counts.faultedCount + (isMain && status === 'Failed' ? 1 : 0),
    history: isFull ? counts.history : counts.history + 1,
  }
}
