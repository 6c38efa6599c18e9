// How detectors are kept, and the timers that move them without a message.
//
// A detector has at most one step of work that counts: the one for the moment in `wakeMs`. It looks
// which timers have elapsed and stores the next. A timer that is set, reset or cleared therefore
// stores nothing, unless it is due earlier than that moment.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { detectors, type Detector } from './instances.ts'
import { react, type DetectorState } from './machine.ts'
import { modelArn } from './models.ts'
import { readyDetectorModel } from './ready.ts'

const WAKE_STEP = 'wakeDetector'

export const steps = { [WAKE_STEP]: wake }

/** Saves a detector as it is now, with the step that wakes it and what is announced. */
export async function keepDetector(
  tx: Records,
  before: Detector | undefined,
  after: Detector,
  ctx: Context,
): Promise<void> {
  const lastUpdateTime = ctx.clock.now().toISOString()
  const detector = await save(tx, { ...after, lastUpdateTime }, ctx)
  if (!before) await announceDetector(tx, detector, 'created', ctx)
  else if (before.stateName !== detector.stateName) {
    await announceDetector(tx, detector, 'changed', ctx)
  }
}

/** Saves a detector as it was. What its timers missed they do now. */
export async function restoreDetector(
  tx: Records,
  detector: Detector,
  ctx: Context,
): Promise<void> {
  await announceDetector(tx, await save(tx, detector, ctx), 'created', ctx)
}

async function save(tx: Records, after: Detector, ctx: Context): Promise<Detector> {
  const dueMs = earliest(after)
  const isEarlier = dueMs !== undefined && (after.wakeMs === undefined || dueMs < after.wakeMs)
  const detector: Detector = { ...after, wakeMs: isEarlier ? dueMs : after.wakeMs }
  await tx.save(detectors, detector)
  if (isEarlier) {
    const delayMs = Math.max(dueMs - ctx.clock.now().getTime(), 0)
    const input = { key: detectors.key(detector), wakeMs: dueMs }
    await ctx.work.later(tx, delayMs, WAKE_STEP, input)
  }
  return detector
}

function earliest({ timers }: DetectorState): number | undefined {
  let first: number | undefined
  for (const { dueMs } of Object.values(timers)) {
    if (dueMs !== undefined && (first === undefined || dueMs < first)) first = dueMs
  }
  return first
}

/** A detector that a later step wakes, because this one runs twice or came first, is left alone. */
async function wake({ key, wakeMs }: { key: string; wakeMs: number }, ctx: Context): Promise<void> {
  const nowMs = ctx.clock.now().getTime()
  await ctx.store.transaction(async (tx) => {
    const before = await tx.get(detectors, key)
    if (before?.wakeMs !== wakeMs) return
    const ready = await readyDetectorModel(tx, before)
    // The model was changed since, and work removes what it left behind.
    if (!ready) return
    let state: DetectorState = before
    for (let name = elapsed(state, nowMs); name !== undefined; name = elapsed(state, nowMs)) {
      const { seconds } = state.timers[name]!
      const stopped = { ...state, timers: { ...state.timers, [name]: { seconds } } }
      state = react(stopped, { machine: ready.machine, trigger: { timerName: name }, nowMs })
    }
    const after = { ...before, ...state, wakeMs: undefined }
    // A timer that was reset meanwhile is not due yet, and nothing happens but that it is waited for.
    if (state === before) await save(tx, after, ctx)
    else await keepDetector(tx, before, after, ctx)
  })
}

/** The timer that elapsed first. Every timer is set to a second at least, so that this ends. */
function elapsed({ timers }: DetectorState, nowMs: number): string | undefined {
  return Object.entries(timers)
    .filter(([, { dueMs }]) => dueMs !== undefined && dueMs <= nowMs)
    .sort(([a, one], [b, other]) => one.dueMs! - other.dueMs! || (a < b ? -1 : 1))[0]?.[0]
}

export const announceDetector = (
  tx: Records,
  detector: Detector,
  happened: 'created' | 'changed' | 'deleted',
  ctx: Context,
): Promise<void> => {
  const { account, keyValue, stateName } = detector
  return ctx.events.announce(tx, {
    type: `event-detection.detector.${happened}`,
    subject: detectorArn(detector),
    body: { account, keyValue, stateName },
  })
}

/** The ARN of the model, and the key value. */
export const detectorArn = ({ account, modelName, keyValue }: Detector): string =>
  modelArn(account, `detectorModel/${modelName}/${keyValue}`)
