// A feed as the directory reads it: RSS with the iTunes and Podcasting 2.0 namespaces, or Atom.
import { Worker } from 'node:worker_threads'

/** A larger feed is read in a thread of its own, so that requests go on meanwhile. */
const INLINE_CHARS_MAX = 100_000
const READ_MS_MAX = 30_000

/** What a feed tells of a podcast. */
export interface ReadFeed {
  readonly title: string
  readonly publisher: string
  readonly description: string
  readonly website: string
  readonly image: string
  readonly email: string
  /** A tag such as `en-us`; empty when the feed does not say. */
  readonly language: string
  readonly type: 'episodic' | 'serial'
  readonly isExplicit: boolean
  readonly hasGuests: boolean
  readonly categories: readonly string[]
  /** Where the feed moved to, as it says itself. */
  readonly movedTo: string | undefined
  readonly episodes: readonly ReadEpisode[]
}

export interface ReadEpisode {
  readonly guid: string
  readonly title: string
  readonly description: string
  readonly audio: string
  readonly isAudio: boolean
  readonly image: string
  readonly link: string
  /** Undefined where the feed has no date that can be read. */
  readonly publishedMs: number | undefined
  readonly lengthSec: number
  readonly isExplicit: boolean
  /** Where the transcript is, and what it is written in. */
  readonly transcript: { readonly url: string; readonly type: string } | undefined
}

/** Reads a feed. Throws a plain Error that says what is wrong with it. */
export async function readFeed(text: string): Promise<ReadFeed> {
  if (text.length <= INLINE_CHARS_MAX) {
    // The parser is loaded by those alone who meet a feed.
    return (await import('./feed-reader.ts')).parse(text)
  }
  const worker = new Worker(new URL('./feed-worker.ts', import.meta.url), { workerData: text })
  try {
    return await answerOf(worker)
  } finally {
    await worker.terminate()
  }
}

const answerOf = (worker: Worker): Promise<ReadFeed> =>
  new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('the feed took too long to read')), READ_MS_MAX)
    worker.once('message', ({ feed, error }: { feed?: ReadFeed; error?: string }) => {
      clearTimeout(late)
      if (feed) resolve(feed)
      else reject(new Error(error))
    })
    worker.once('error', (error) => {
      clearTimeout(late)
      reject(error)
    })
  })
