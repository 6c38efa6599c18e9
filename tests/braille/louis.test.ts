import { expect, onTestFinished, test, vi } from 'vitest'
import { openLouis } from '../../resolvers/braille/louis.ts'

const forward = (text: string) => ({ table: 'en-us-g2.ctb', direction: 'forward', text }) as const

/** A worker that echoes, ends when it is asked to, and falls silent when it is asked to. */
const STUB = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads'
    parentPort.on('message', ({ text }) => {
      if (text === 'end') throw new Error('asked to')
      if (text === 'fail') parentPort.postMessage({ failed: 'no such code' })
      else if (text !== 'hang') parentPort.postMessage({ translated: text })
    })
  `)}`,
)

test('nothing is started before the first translation', async () => {
  const louis = openLouis()

  const before = louis.stats().workers
  await louis.translate(forward('a'))

  expect(before).toBe(0)
  expect(louis.stats().workers).toBe(1)
})

test('a translation that is known is not made again', async () => {
  const louis = openLouis({ worker: STUB })

  await louis.translate(forward('a'))
  await louis.translate(forward('a'))
  await louis.translate({ ...forward('a'), direction: 'back' })
  await louis.translate({ ...forward('a'), table: 'en-ueb-g2.ctb' })

  expect(louis.stats()).toEqual({ workers: 1, cacheHits: 1 })
})

test('those who ask for the same at once share one place in the queue', async () => {
  const louis = openLouis({ worker: STUB, queueMax: 1 })

  const answers = await Promise.all(Array.from({ length: 50 }, () => louis.translate(forward('a'))))

  expect(new Set(answers)).toEqual(new Set(['a']))
})

test('a full queue refuses, and those who wait are answered in order', async () => {
  const louis = openLouis({ worker: STUB, queueMax: 2 })
  const order: string[] = []
  const ask = async (text: string) => order.push(await louis.translate(forward(text)))

  const waiting = ['a', 'b', 'c'].map(ask)
  const refused = louis.translate(forward('d'))

  await expect(refused).rejects.toMatchObject({
    code: 'Unavailable',
    status: 503,
    headers: { 'retry-after': '1' },
  })
  await Promise.all(waiting)
  expect(order).toEqual(['a', 'b', 'c'])
})

test('a worker that ends is replaced, and only its own request fails', async () => {
  const louis = openLouis({ worker: STUB })

  const [first, ended, last] = await Promise.allSettled(
    ['a', 'end', 'b'].map((text) => louis.translate(forward(text))),
  )

  expect(first).toEqual({ status: 'fulfilled', value: 'a' })
  expect(ended).toMatchObject({ reason: { message: 'the braille worker ended' } })
  expect(last).toEqual({ status: 'fulfilled', value: 'b' })
  expect(louis.stats().workers).toBe(2)
})

test('a worker that takes too long is ended and replaced', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const louis = openLouis({ worker: STUB, translationMaxMs: 10_000 })
  await louis.translate(forward('a'))

  const answers = Promise.allSettled(['hang', 'b'].map((text) => louis.translate(forward(text))))
  vi.advanceTimersByTime(10_000)
  const [hung, next] = await answers

  expect(hung).toMatchObject({ reason: { code: 'Unavailable', status: 503 } })
  expect(next).toEqual({ status: 'fulfilled', value: 'b' })
  expect(louis.stats().workers).toBe(2)
})

test('a table that liblouis cannot use is a mistake of ours and costs no worker', async () => {
  const louis = openLouis({ worker: STUB })

  await expect(louis.translate(forward('fail'))).rejects.toThrow('no such code')
  await expect(louis.translate(forward('a'))).resolves.toBe('a')
  expect(louis.stats().workers).toBe(1)
})

test('a failure is not remembered', async () => {
  const louis = openLouis({ worker: STUB })

  await expect(louis.translate(forward('end'))).rejects.toThrow('the braille worker ended')
  await expect(louis.translate(forward('end'))).rejects.toThrow('the braille worker ended')

  expect(louis.stats()).toEqual({ workers: 2, cacheHits: 0 })
})

test('liblouis is replaced when a text exhausts its heap', async () => {
  const louis = openLouis()

  await expect(louis.translate(forward('x'.repeat(3_000_000)))).rejects.toThrow('worker ended')

  expect(await louis.translate(forward('again'))).toBe('⠁⠛')
  expect(louis.stats().workers).toBe(2)
})

test('more tables than the heap keeps, the largest among them, cost no worker', async () => {
  const louis = openLouis()
  const usual = ['en-us-g1.ctb', 'en-ueb-g1.ctb', 'en-ueb-g2.ctb', 'en-gb-g1.utb']
  const others = ['ar.tbl', 'cy.tbl', 'es.tbl', 'ga.tbl', 'ru.tbl']

  for (const table of ['hu.tbl', ...usual, ...others]) {
    await louis.translate({ table, direction: 'forward', text: 'a' })
  }

  expect(await louis.translate(forward('the'))).toBe('⠮')
  expect(louis.stats().workers).toBe(1)
})
