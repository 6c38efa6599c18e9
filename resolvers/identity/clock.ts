// The time that all services live by, which an administrator can advance.
import { Invalid } from '../kernel/fault.ts'
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { whole } from '../kernel/shape.ts'
import { kind } from '../kernel/store.ts'
import { ClockIsReal } from './errors.ts'

const ADVANCE_MAX_S = 10 * 366 * 24 * 3600

/** How far the clock is ahead, so that time does not go back at the next start. */
interface ClockRecord {
  readonly aheadMs: number
}

export const clocks = kind<ClockRecord>('clock', { key: () => 'clock' })
export const kinds = [clocks]

export const operations = [
  operation({ name: 'clock', input: {}, run: async (_input, ctx) => readingOf(ctx, 0) }),
  operation({
    name: 'clockAheadMs',
    access: 'services',
    input: {},
    run: async (_input, ctx) => (await ctx.store.get(clocks, 'clock'))?.aheadMs ?? 0,
  }),
  operation({
    name: 'advance',
    access: 'administrators',
    input: { seconds: whole },
    run: advance,
  }),
]

async function advance({ seconds }: { seconds: number }, ctx: Context) {
  if (!ctx.advance) {
    throw ClockIsReal('Services in processes of their own share the time of the world.')
  }
  if (seconds < 1 || seconds > ADVANCE_MAX_S) {
    throw Invalid(`seconds must be between 1 and ${ADVANCE_MAX_S}: time does not go back.`)
  }
  const { stepsRun } = await ctx.advance(seconds * 1000)
  const reading = readingOf(ctx, stepsRun)
  await ctx.store.save(clocks, { aheadMs: reading.aheadSeconds * 1000 })
  return reading
}

function readingOf(ctx: Context, stepsRun: number) {
  const now = ctx.clock.now()
  const aheadSeconds = Math.round((now.getTime() - ctx.wallClock.now().getTime()) / 1000)
  return { now: now.toISOString(), aheadSeconds, stepsRun }
}
