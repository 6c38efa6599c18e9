// Reads one feed in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { parse } from './feed-reader.ts'
import type { ReadFeed } from './feeds.ts'

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- it is no window
parentPort!.postMessage(answer())

function answer(): { feed: ReadFeed } | { error: string } {
  try {
    return { feed: parse(workerData) }
  } catch (error) {
    // The reason goes to who asked, for the record of the feed.
    return { error: (error as Error).message }
  }
}
