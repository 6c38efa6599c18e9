// Lifecycles: when a recovery point moves to cold storage and when it is deleted.
import { InvalidParameterValue } from './errors.ts'
import { DAY_MS, type SentLifecycle } from './shapes.ts'

/** How long a point stays in cold storage at least. */
const COLD_DAYS_MIN = 90
const CONTINUOUS_DAYS_MAX = 35

export interface Lifecycle {
  readonly MoveToColdStorageAfterDays?: number
  readonly DeleteAfterDays?: number
  readonly OptInToArchiveForSupportedResources?: boolean
}

export interface CalculatedLifecycle {
  readonly MoveToColdStorageAt?: string
  readonly DeleteAt?: string
}

/** A lifecycle without what was left out. Refuses one that contradicts itself. */
export function readLifecycle(
  sent: SentLifecycle | undefined,
  { isContinuous = false } = {},
): Lifecycle | undefined {
  if (!sent) {
    if (!isContinuous) return undefined
    throw InvalidParameterValue('Continuous backup needs a Lifecycle with DeleteAfterDays.')
  }
  const cold = daysOf(sent.MoveToColdStorageAfterDays)
  const deleted = daysOf(sent.DeleteAfterDays)
  if (cold !== undefined && deleted !== undefined && deleted < cold + COLD_DAYS_MIN) {
    throw InvalidParameterValue(
      `DeleteAfterDays must be at least ${COLD_DAYS_MIN} days more than MoveToColdStorageAfterDays.`,
    )
  }
  if (isContinuous && (cold !== undefined || (deleted ?? Infinity) > CONTINUOUS_DAYS_MAX)) {
    throw InvalidParameterValue(
      `Continuous backup needs DeleteAfterDays of 1 to ${CONTINUOUS_DAYS_MAX} and has no cold storage.`,
    )
  }
  const archive = sent.OptInToArchiveForSupportedResources
  const lifecycle: Lifecycle = {
    ...(cold !== undefined && { MoveToColdStorageAfterDays: cold }),
    ...(deleted !== undefined && { DeleteAfterDays: deleted }),
    ...(archive !== undefined && { OptInToArchiveForSupportedResources: archive }),
  }
  return Object.keys(lifecycle).length > 0 ? lifecycle : undefined
}

const daysOf = (sent: number | undefined) => (sent === -1 ? undefined : sent)

/** The moments of a lifecycle, counted from the creation of the recovery point. */
export function calculated(
  lifecycle: Lifecycle | undefined,
  creationDate: string,
): CalculatedLifecycle | undefined {
  const { MoveToColdStorageAfterDays: cold, DeleteAfterDays: deleted } = lifecycle ?? {}
  if (cold === undefined && deleted === undefined) return undefined
  const after = (days: number) => new Date(Date.parse(creationDate) + days * DAY_MS).toISOString()
  return {
    ...(cold !== undefined && { MoveToColdStorageAt: after(cold) }),
    ...(deleted !== undefined && { DeleteAt: after(deleted) }),
  }
}

/** Retentions that a vault allows. */
export interface Retention {
  readonly MinRetentionDays?: number
  readonly MaxRetentionDays?: number
}

/** Why a vault does not take a recovery point of this lifecycle; undefined when it does. */
export function retentionProblem(
  { MinRetentionDays: min, MaxRetentionDays: max }: Retention,
  lifecycle: Lifecycle | undefined,
): string | undefined {
  const retention = lifecycle?.DeleteAfterDays ?? Infinity
  const has = retention === Infinity ? 'no end' : `${retention} days`
  if (min !== undefined && retention < min) {
    return `The vault keeps recovery points for at least ${min} days, and the lifecycle has ${has}.`
  }
  if (max !== undefined && retention > max) {
    return `The vault keeps recovery points for at most ${max} days, and the lifecycle has ${has}.`
  }
  return undefined
}
