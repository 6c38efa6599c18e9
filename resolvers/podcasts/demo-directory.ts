// Loads the directory of demo shows: in parts, each whole, going on where the last part ended.
//
// In the background a part is loaded only when time has passed outside as well: moving the clock of all
// services finishes their work, but does not wait for a directory to be loaded.
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { whole } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { episodeCountOf, showOf } from './demo-shows.ts'
import { writeDirectory } from './directory.ts'

const SHOWS_MAX = 1_000_000
const EPISODES_MAX = 10_000_000
/** How many records one transaction writes while requests are waiting, and while none are. */
const RECORDS_TOGETHER = 200
const RECORDS_TOGETHER_ALONE = 3_000
/** A pause between parts, in which requests are answered; timers are a little early at times. */
const PAUSE_MS = 150
const EARLY_MS = 20
const PAUSES_GROW_BY = 10
const DAY_MS = 24 * 3_600_000

const LOAD_STEP = 'loadDemoDirectory'

interface Size {
  readonly podcasts: number
  readonly episodes: number
}

interface Load extends Size {
  readonly id: 'demo'
  /** The day up to which episodes appear: the day of the first load. */
  readonly epoch_ms: number
  /** How large it is to become in the background. */
  readonly wanted: Size
  /** Which step is the next; one of an earlier number has been replaced. */
  readonly round: number
  /** When the next part may be loaded, in the time of the world outside. */
  readonly next_part_ms: number
}

const loads = kind<Load>('demo_load', { key: ({ id }) => id })
export const kinds = [loads]

const count = (max: number) =>
  whole.refine((value) => value >= 1 && value <= max, `must be between 1 and ${max}`)

export const operations = [
  operation({
    name: 'growDemoDirectory',
    access: 'services',
    input: { podcasts: count(SHOWS_MAX), episodes: count(EPISODES_MAX) },
    run: (size, ctx) =>
      ctx.store.transaction(async (tx) => {
        const { podcasts, episodes } = await grow(tx, size, RECORDS_TOGETHER_ALONE, ctx)
        return { podcasts, episodes, is_done: podcasts >= size.podcasts }
      }),
  }),
]

export const steps = { [LOAD_STEP]: loadPart }

/** Loads the first shows now and the others in the background. */
export async function loadDirectory(wanted: Size, first: number, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    while ((await loadOf(tx, ctx)).podcasts < first) {
      await grow(tx, wanted, first, ctx)
    }
    await plan(tx, { ...(await loadOf(tx, ctx)), wanted }, ctx)
  })
}

/** Goes on with a load that was put off. Called from time to time. */
export async function resumeLoad(ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const load = await tx.get(loads, 'demo')
    if (load && load.podcasts < load.wanted.podcasts) await plan(tx, load, ctx)
  })
}

async function plan(tx: Records, load: Load, ctx: Context, delayMs = PAUSE_MS): Promise<void> {
  const planned = { ...load, round: load.round + 1 }
  await tx.save(loads, planned)
  await ctx.work.later(tx, delayMs, LOAD_STEP, { round: planned.round, delayMs })
}

async function loadPart(
  { round, delayMs }: { round: number; delayMs: number },
  ctx: Context,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const load = await loadOf(tx, ctx)
    if (load.round !== round || load.podcasts >= load.wanted.podcasts) return
    // Once the clock was moved, pauses grow, so that moving it far takes few steps.
    const isTooEarly = ctx.wallClock.now().getTime() < load.next_part_ms
    if (isTooEarly) await plan(tx, load, ctx, PAUSES_GROW_BY * delayMs)
    else await plan(tx, await grow(tx, load.wanted, RECORDS_TOGETHER, ctx), ctx, delayMs)
  })
}

const loadOf = async (tx: Records, { clock }: Context): Promise<Load> =>
  (await tx.get(loads, 'demo')) ?? {
    id: 'demo',
    epoch_ms: Math.floor(clock.now().getTime() / DAY_MS) * DAY_MS,
    podcasts: 0,
    episodes: 0,
    wanted: { podcasts: 0, episodes: 0 },
    round: 0,
    next_part_ms: 0,
  }

/**
 * Adds the next shows. How many there are is kept with them, in the same transaction, so that a part
 * happens once, whoever asks for it how often.
 */
async function grow(
  tx: Records,
  { podcasts, episodes }: Size,
  together: number,
  ctx: Context,
): Promise<Load> {
  const before = await loadOf(tx, ctx)
  const grown = { ...before }
  const changes = []
  let records = 0
  while (grown.podcasts < podcasts && records < together) {
    const own = episodeCountOf(grown.podcasts, podcasts, episodes)
    const show = showOf(grown.podcasts, own, before.epoch_ms)
    changes.push({ after: show.podcast, episodes: show.episodes.map((after) => ({ after })) })
    records += 1 + own
    grown.podcasts += 1
    grown.episodes += own
  }
  if (changes.length === 0) return before
  await writeDirectory(tx, changes)
  const load = { ...grown, next_part_ms: ctx.wallClock.now().getTime() + PAUSE_MS - EARLY_MS }
  await tx.save(loads, load)
  if (load.podcasts >= podcasts) {
    const body = { podcasts: load.podcasts, episodes: load.episodes }
    await ctx.events.announce(tx, { type: 'podcasts.directory.loaded', subject: 'demo', body })
  }
  return load
}
