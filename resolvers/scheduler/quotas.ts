// What a collection allows its jobs, by SKU. Specification 3, service J.
import type { Records } from '../kernel/store.ts'
import { armKey } from '../families/arm.ts'
import { QuotaExceeded } from './errors.ts'
import { jobs, type JobCollection, type SkuName } from './kinds.ts'
import { PERIOD_MS, shortestGapMs } from './recurrences.ts'
import type { MaxRecurrence, Quota, Recurrence } from './shapes.ts'

/** Chosen: the limits that the vendor publishes for these SKUs. */
const QUOTAS: Readonly<Record<SkuName, Quota>> = {
  Free: { maxJobCount: 5, maxRecurrence: { frequency: 'Hour', interval: 1 } },
  Standard: { maxJobCount: 50, maxRecurrence: { frequency: 'Minute', interval: 1 } },
  P10Premium: { maxJobCount: 50, maxRecurrence: { frequency: 'Minute', interval: 1 } },
  P20Premium: { maxJobCount: 1_000, maxRecurrence: { frequency: 'Minute', interval: 1 } },
}
/** More than any SKU allows. */
const JOBS_READ_MAX = 1_001

type Quotas = Pick<JobCollection['properties'], 'sku' | 'quota'>

/** What holds: what was asked for, and else what the SKU gives. */
export function quotaOf({ sku, quota }: Quotas): Quota {
  const given = QUOTAS[sku.name]
  return {
    maxJobCount: quota?.maxJobCount ?? given.maxJobCount,
    maxJobOccurrence: quota?.maxJobOccurrence,
    maxRecurrence: quota?.maxRecurrence ?? given.maxRecurrence,
  }
}

/** Refuses a quota that is wider than the SKU, or narrower than what the collection holds. */
export async function checkQuota(properties: Quotas, id: string, tx: Records): Promise<void> {
  const { sku } = properties
  const asked = quotaOf(properties)
  const given = QUOTAS[sku.name]
  if (asked.maxJobCount > given.maxJobCount) {
    throw exceeded('quota.maxJobCount', `is at most ${given.maxJobCount} in the SKU ${sku.name}`)
  }
  if (lengthOf(asked.maxRecurrence) < lengthOf(given.maxRecurrence)) {
    throw exceeded(
      'quota.maxRecurrence',
      `is at most ${wordsOf(given.maxRecurrence)} in the SKU ${sku.name}`,
    )
  }
  const { items } = await tx.list(jobs, { prefix: `${armKey({ id })}/`, limit: JOBS_READ_MAX })
  if (items.length > asked.maxJobCount) {
    throw exceeded('quota.maxJobCount', `is less than the ${items.length} jobs that are there`)
  }
  for (const { name, properties } of items) checkRecurrence(properties.recurrence, asked, name)
}

/** Refuses one job more than the collection allows. */
export async function checkJobCount({ id, properties }: JobCollection, tx: Records): Promise<void> {
  const { maxJobCount } = quotaOf(properties)
  const held = await tx.count(jobs, { prefix: `${armKey({ id })}/` })
  if (held < maxJobCount) return
  throw QuotaExceeded(
    `The job collection holds ${held} jobs, and its quota is ${maxJobCount}. Delete one, or choose a larger SKU.`,
    { details: { target: 'quota.maxJobCount' } },
  )
}

/** Refuses a recurrence that runs more often, or may run oftener, than the quota allows. */
export function checkRecurrence(
  recurrence: Recurrence | undefined,
  { maxRecurrence, maxJobOccurrence }: Quota,
  job: string,
): void {
  if (!recurrence) return
  if (shortestGapMs(recurrence) < lengthOf(maxRecurrence)) {
    throw exceeded('quota.maxRecurrence', `is ${wordsOf(maxRecurrence)}, and ${job} runs oftener`)
  }
  if (maxJobOccurrence !== undefined && (recurrence.count ?? Infinity) > maxJobOccurrence) {
    throw exceeded(
      'quota.maxJobOccurrence',
      `is ${maxJobOccurrence}, and ${job} must recur with a count of at most that`,
    )
  }
}

const lengthOf = ({ frequency, interval }: MaxRecurrence) => interval * PERIOD_MS[frequency]

const wordsOf = ({ frequency, interval }: MaxRecurrence) =>
  interval === 1
    ? `once a ${frequency.toLowerCase()}`
    : `once in ${interval} ${frequency.toLowerCase()}s`

const exceeded = (target: string, message: string) =>
  QuotaExceeded(`${target} ${message}.`, { details: { target } })
