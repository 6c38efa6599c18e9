// The translator liblouis, kept in a worker thread. Specification 1, service S4.
//
// 1. The worker starts with the first request. It answers one request at a time, in order.
// 2. A worker that fails, or works longer than the limit, is ended. Its request is refused; those
//    that wait go to the next worker.
// 3. The worker keeps the process alive only while it has something to do.
import { Worker } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { Unavailable } from '../kernel/fault.ts'

const WORKER = new URL('./louis-worker.ts', import.meta.url)
const QUEUE_MAX = 500
const TRANSLATION_MAX_MS = 10_000
const CACHE_ENTRIES_MAX = 5_000
const CACHE_CHARACTERS_MAX = 8_000_000
const RETRY_AFTER = { headers: { 'retry-after': '1' } }

export interface LouisRequest {
  /** The file name of a table that liblouis has. */
  readonly table: string
  /** Forward makes Unicode braille of text, back makes text of Unicode braille. */
  readonly direction: 'forward' | 'back'
  /** Each line is translated by itself. */
  readonly text: string
}

export type LouisAnswer = { readonly translated: string } | { readonly failed: string }

export interface Louis {
  translate(request: LouisRequest): Promise<string>
  /** How many workers were started, and how often an answer was already known. */
  stats(): { readonly workers: number; readonly cacheHits: number }
}

interface Task {
  readonly request: LouisRequest
  readonly resolve: (translated: string) => void
  readonly reject: (error: Error) => void
}

interface LouisOptions {
  readonly worker?: URL
  readonly queueMax?: number
  readonly translationMaxMs?: number
}

/** Nothing is started before the first translation. */
export function openLouis({
  worker: file = WORKER,
  queueMax = QUEUE_MAX,
  translationMaxMs = TRANSLATION_MAX_MS,
}: LouisOptions = {}): Louis {
  const queue: Task[] = []
  const asked = new Map<string, Promise<string>>()
  const known = new LRUCache<string, string>({
    max: CACHE_ENTRIES_MAX,
    maxSize: CACHE_CHARACTERS_MAX,
    sizeCalculation: (translated, key) => translated.length + key.length,
  })
  let worker: Worker | undefined
  let current: Task | undefined
  let timer: NodeJS.Timeout | undefined
  let workers = 0
  let cacheHits = 0

  function next(): void {
    if (current) return
    current = queue.shift()
    if (!current) {
      worker?.unref()
      return
    }
    worker ??= startWorker()
    worker.ref()
    timer = setTimeout(() => {
      const error = Unavailable('The translation took too long. Send a shorter text.')
      replaceWorker(error)
    }, translationMaxMs)
    // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin.
    worker.postMessage(current.request)
  }

  function startWorker(): Worker {
    const started = new Worker(file)
    workers += 1
    started.on('message', (answer: LouisAnswer) => {
      if (started !== worker) return
      if ('failed' in answer) finish((task) => task.reject(new Error(answer.failed)))
      else finish((task) => task.resolve(answer.translated))
    })
    const onEnd = (cause: unknown) => {
      if (started === worker) replaceWorker(new Error('the braille worker ended', { cause }))
    }
    started.on('error', onEnd)
    started.on('exit', onEnd)
    return started
  }

  function replaceWorker(error: Error): void {
    void worker?.terminate()
    worker = undefined
    finish((task) => task.reject(error))
  }

  function finish(settle: (task: Task) => void): void {
    clearTimeout(timer)
    const task = current
    current = undefined
    if (task) settle(task)
    next()
  }

  function ask(request: LouisRequest): Promise<string> {
    if (queue.length >= queueMax) {
      throw Unavailable('Too many translations are waiting. Try again in a moment.', RETRY_AFTER)
    }
    return new Promise((resolve, reject) => {
      queue.push({ request, resolve, reject })
      next()
    })
  }

  return {
    async translate(request) {
      const key = `${request.table}\n${request.direction}\n${request.text}`
      const translated = known.get(key)
      if (translated !== undefined) {
        cacheHits += 1
        return translated
      }
      // Those who ask for the same at the same time share one answer.
      let answer = asked.get(key)
      if (!answer) {
        answer = ask(request)
        asked.set(key, answer)
        const forget = () => asked.delete(key)
        answer.then((translated) => known.set(key, translated)).then(forget, forget)
      }
      return answer
    },

    stats: () => ({ workers, cacheHits }),
  }
}
