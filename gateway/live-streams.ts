// All live queries of this process: how many there may be, which news reach them, how they end.
import { TooMany, Unavailable } from '../resolvers/kernel/fault.ts'
import type { News } from '../resolvers/kernel/news.ts'
import { openStream, type Stream, type StreamOptions, type Timing } from './live-stream.ts'

/** How many answers are made at the same time. The other streams wait. */
const AT_ONCE_MAX = 16
const TIMING: Timing = { gatherMs: 50, pauseMs: 250, beatMs: 15_000 }

export interface LiveLimits {
  /** How many live queries this process holds open; 0 for none. */
  readonly streamsMax: number
  /** How many of them are of one caller. */
  readonly callerStreamsMax: number
}

export interface StreamsOptions {
  readonly news: News
  readonly limits: LiveLimits
  readonly timing?: Partial<Timing> | undefined
  readonly mistake: (error: unknown) => void
}

export interface Streams {
  readonly count: number
  /** Throws a fault if there are too many, of this caller or of all. */
  open(
    caller: string,
    options: Omit<StreamOptions, 'inTurn' | 'timing' | 'mistake' | 'onEnd'>,
  ): Promise<Stream>
  /** Ends all of them, and lets no more begin. */
  close(): void
}

export function openStreams({ news, limits, timing, mistake }: StreamsOptions): Streams {
  const { streamsMax, callerStreamsMax } = limits
  const times = { ...TIMING, ...timing }
  const open = new Set<Stream>()
  const ofCaller = new Map<string, number>()
  const inTurn = turns(AT_ONCE_MAX)
  let following: Promise<void> | undefined
  let beats: NodeJS.Timeout | undefined
  let isClosed = false

  /** News are followed from the first live query on. */
  async function follow(): Promise<void> {
    following ??= news.follow((change) => {
      for (const stream of open) stream.changed(change)
    })
    try {
      await following
    } catch (error) {
      following = undefined
      mistake(error)
      throw Unavailable('Live updates do not work at the moment. Try again.')
    }
  }

  function checkRoom(caller: string): void {
    if (isClosed) throw Unavailable('This process is being stopped. Connect again.')
    if (open.size >= streamsMax) {
      throw Unavailable(
        `There are ${streamsMax} live queries, all that this process holds. Try later.`,
      )
    }
    if ((ofCaller.get(caller) ?? 0) >= callerStreamsMax) {
      throw TooMany(
        `You have ${callerStreamsMax} live queries open, all that one may have. End one.`,
      )
    }
  }

  function beatAll(): void {
    for (const stream of open) stream.beat()
  }

  return {
    get count() {
      return open.size
    },

    async open(caller, options) {
      await follow()
      checkRoom(caller)
      const stream = openStream({
        ...options,
        inTurn,
        timing: times,
        mistake,
        onEnd() {
          open.delete(stream)
          const others = ofCaller.get(caller)! - 1
          if (others > 0) ofCaller.set(caller, others)
          else ofCaller.delete(caller)
          if (open.size > 0) return
          clearInterval(beats)
          beats = undefined
        },
      })
      open.add(stream)
      ofCaller.set(caller, (ofCaller.get(caller) ?? 0) + 1)
      beats ??= setInterval(beatAll, times.beatMs).unref()
      return stream
    },

    close() {
      isClosed = true
      for (const stream of open) stream.end('SHUTTING_DOWN', 'The gateway stops. Connect again.')
    },
  }
}

/** Lets so many run at the same time, the others in the order in which they came. */
function turns(max: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async (run: () => Promise<void>): Promise<void> => {
    if (running < max) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      await run()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
}
