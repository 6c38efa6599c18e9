// Collections and jobs by their id: read, tagged, taken as a whole and put back. Specification 3,
// service J.
//
// 1. A collection is taken with its jobs. A job can be put back alone where its collection is there.
// 2. A job that is put back goes on from then: what fell due meanwhile is not made up for, as after
//    its collection was disabled. When it is due next is therefore not taken, nor are runs under way.
// 3. Its counts are taken and its history is not: that is what the earlier job did.
// 4. Passwords stay sealed. Those of a copy are sealed anew, for a sealed text opens for one job only.
import { armKey, type Accepted, type At } from '../families/arm.ts'
import { armById, armSnapshot, type Make, type Taken } from '../families/arm-snapshots.ts'
import { everyOf, snapshots, type Restored } from '../families/snapshots.ts'
import { resealed, type Passwords } from './actions.ts'
import { collection, collectionKey, settleJobsLater } from './job-collections.ts'
import { holderOf, job, jobKey } from './jobs.ts'
import { collectionKeyOf, jobs, type Job, type JobCollection, type Plan } from './kinds.ts'
import { checkJobCount, checkQuota, checkRecurrence, quotaOf } from './quotas.ts'

interface JobState extends Pick<Job, 'properties'> {
  readonly plan: Pick<Plan, 'runs' | 'last'>
  readonly counts: Omit<Job['counts'], 'history'>
}

interface CollectionState {
  readonly collection: Accepted<JobCollection>
  readonly jobs: readonly (JobState & Pick<Job, 'name'>)[]
}

/** The passwords of the jobs of a collection, by the names of the jobs. */
type CollectionOwn = Readonly<Record<string, Passwords>>

const taken = snapshots(
  armSnapshot<JobCollection>({
    type: 'JobCollection',
    resource: collection,
    names: collectionKey,
    take: takeCollection,
    put: putCollection,
  }),
  armSnapshot<Job>({
    type: 'SchedulerJob',
    resource: job,
    names: jobKey,
    take: async (_, found) => ({ state: stateOf(found), own: found.passwords }),
    put: putJob,
  }),
)

export const operations = [
  ...armById('JobCollection', collection),
  ...armById('SchedulerJob', job, { hasTags: false }),
  ...taken.operations,
]
export const { kinds, steps } = taken

function stateOf({ properties, plan, counts }: Job): JobState {
  const { provisioningState: _, ...own } = properties
  const { history: __, ...counted } = counts
  return { properties: own, plan: { runs: plan.runs, last: plan.last }, counts: counted }
}

async function takeCollection(
  kept: Accepted<JobCollection>,
  found: JobCollection,
  { tx }: At,
): Promise<Taken> {
  const held = await everyOf(tx, jobs, `${armKey(found)}/`)
  const state: CollectionState = {
    collection: kept,
    jobs: held.map((job) => ({ name: job.name, ...stateOf(job) })),
  }
  return { state, own: Object.fromEntries(held.map(({ name, passwords }) => [name, passwords])) }
}

async function putCollection(
  { id, from, isCopy, state, own }: Restored<CollectionState, CollectionOwn>,
  make: Make<JobCollection>,
  at: At,
): Promise<void> {
  await checkQuota(state.collection.properties, id, at.tx)
  const made = await make(state.collection)
  for (const { name, ...kept } of state.jobs) {
    const moved = { from: `${from}/jobs/${name}`, to: `${id}/jobs/${name}` }
    const passwords = isCopy ? resealed(own![name]!, moved, at.ctx) : own![name]!
    await job.revive(moved.to, keptJob(kept, passwords, at), at)
  }
  await settleJobsLater(armKey(made), at)
}

async function putJob(
  { id, from, isCopy, state, own }: Restored<JobState, Passwords>,
  make: Make<Job>,
  at: At,
): Promise<void> {
  const holder = await holderOf(id, at.tx)
  await checkJobCount(holder, at.tx)
  const name = id.slice(id.lastIndexOf('/') + 1)
  checkRecurrence(state.properties.recurrence, quotaOf(holder.properties), name)
  const passwords = isCopy ? resealed(own!, { from, to: id }, at.ctx) : own!
  await make(keptJob(state, passwords, at))
  await settleJobsLater(collectionKeyOf(id), at)
}

/** A job that is not planned yet. */
const keptJob = (
  { properties, plan, counts }: JobState,
  passwords: Passwords,
  { ctx }: At,
): Accepted<Job> => ({
  properties,
  passwords,
  incarnation: ctx.newId(),
  plan: { ...plan, due: null, serial: ctx.newId() },
  counts: { ...counts, history: 0 },
})
