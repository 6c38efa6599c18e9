// What the scheduler keeps: collections, jobs, runs under way and history. Specification 3, service J.
//
// The key of a record begins with the key of what it belongs to, so that a subscription, a
// collection or a job has what begins alike.
import { armKey, type ArmResource } from '../families/arm.ts'
import { inGroup, partsOf } from '../families/arm-paths.ts'
import { kind } from '../kernel/store.ts'
import type { Action, Quota, Recurrence } from './shapes.ts'

export const VERSION = '2016-03-01'
export const AREA = 'Vendor.Scheduler'
export const COLLECTION_TYPE = `${AREA}/jobCollections`
export const JOB_TYPE = `${COLLECTION_TYPE}/jobs`
export const HISTORY_TYPE = `${JOB_TYPE}/history`

export const COLLECTIONS = inGroup(COLLECTION_TYPE)
export const COLLECTION = `${COLLECTIONS}/{jobCollectionName}`
export const JOBS = `${COLLECTION}/jobs`
export const JOB = `${JOBS}/{jobName}`
export const HISTORY = `${JOB}/history`

export interface JobCollection extends ArmResource {
  properties: {
    sku: { name: SkuName }
    /** As it was sent; what was not sent comes from the SKU. */
    quota?: AskedQuota | undefined
    state: 'Enabled' | 'Disabled'
    provisioningState?: string
  }
}

/** A quota of which everything may be left out. */
export type AskedQuota = { [Limit in keyof Quota]?: Quota[Limit] | undefined }

export type SkuName = 'Standard' | 'Free' | 'P10Premium' | 'P20Premium'
export type JobState = 'Enabled' | 'Disabled' | 'Faulted' | 'Completed'

export interface Job extends ArmResource {
  properties: {
    startTime: string
    action: Action
    recurrence?: Recurrence | undefined
    state: JobState
    provisioningState?: string
  }
  /** What answers do not show, sealed. */
  passwords: { MainAction?: string | undefined; ErrorAction?: string | undefined }
  /** Tells a job from an earlier one that had its name. */
  incarnation: string
  plan: Plan
  counts: {
    executionCount: number
    failureCount: number
    faultedCount: number
    lastExecutionTime?: string
    /** How many entries its history holds. */
    history: number
  }
}

export interface Plan {
  /** When the job runs next, in milliseconds since 1970. Null while nothing is planned. */
  due: number | null
  /** How often it has run by this plan. */
  runs: number
  /** The latest moment at which the job has run, by this plan or an earlier one. */
  last?: number | undefined
  /** Tells this plan from an earlier one of the same job. */
  serial: string
}

/** One execution that has begun and not ended: it is being attempted, or waits for its next attempt. */
export interface Execution {
  /** The job and the moment; a run that someone asked for has an id besides. */
  key: string
  job: string
  incarnation: string
  /** The step that claimed it. Another step of the same moment is not to run it. */
  claim: string
  /** The moment at which it was to run. */
  expected: number
  actionName: 'MainAction' | 'ErrorAction'
  /** The attempt that is next or under way: 0 is the first. */
  retryCount: number
  repeatCount: number
  /** The plan whose last run it is. */
  ends?: string | undefined
}

/** One attempt that has ended. */
export interface HistoryEntry {
  id: string
  name: string
  type: string
  properties: {
    actionName: Execution['actionName']
    status: 'Completed' | 'Failed' | 'Postponed'
    startTime: string
    endTime: string
    expectedExecutionTime: string
    message: string
    retryCount: number
    repeatCount: number
  }
}

export const collections = kind<JobCollection>('job_collections', { key: armKey })
export const jobs = kind<Job>('jobs', { key: armKey })
export const executions = kind<Execution>('executions', { key: ({ key }) => key })
export const history = kind<HistoryEntry>('job_history', { key: armKey })

export const kinds = [collections, jobs, executions, history]

/** The key of the collection that a job is in. */
export const collectionKeyOf = (jobId: string): string =>
  jobId.slice(0, jobId.lastIndexOf('/jobs/')).toLowerCase()

/** `<collection>/<job>`, which is how a job is called in answers. */
export function shownNameOf(jobId: string): string {
  const { jobCollectionName, jobName } = partsOf(JOB, jobId)!
  return `${jobCollectionName}/${jobName}`
}

export const isLeaving = ({ properties }: JobCollection): boolean =>
  properties.provisioningState === 'Deleting'

/** Whether the jobs of a collection run. */
export const isRunning = (collection: JobCollection | undefined): collection is JobCollection =>
  collection !== undefined && collection.properties.state === 'Enabled' && !isLeaving(collection)
