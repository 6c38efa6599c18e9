// Snapshots as all services have them: by a resource made up for the purpose, in the store of voice.
import { expect, test } from 'vitest'
import { bytesOf } from '../../resolvers/families/snapshot-bytes.ts'
import { everyOf, snapshots } from '../../resolvers/families/snapshots.ts'
import { restoreSnapshot, takeSnapshot } from '../../resolvers/families/cloud-copies.ts'
import type { Context } from '../../resolvers/kernel/context.ts'
import { Fault } from '../../resolvers/kernel/fault.ts'
import { graphFor } from '../../resolvers/kernel/graph.ts'
import { perform } from '../../resolvers/kernel/operation.ts'
import { kind, type Kind, type Records, type Store } from '../../resolvers/kernel/store.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import type { Subgraph } from '../../subgraphs/server/subgraph.ts'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { subgraph as voice } from '../../subgraphs/voice.ts'
import { MANY, one, PLAIN } from '../hsm/modules.ts'
import { engines } from '../kernel/engines.ts'
import { openGraphForTest } from '../open-graph.ts'
import { openForTest } from '../open.ts'
import { people, type Person } from '../people.ts'
import { sha256Of } from '../snapshots.ts'

const PART_BYTES = 512 * 1024
const HOUR_MS = 60 * 60 * 1000

/** A box of alice is called alice/…, and one of bob bob/…. */
interface Box {
  readonly name: string
  readonly text: string
}

const boxes: Kind<Box> = kind<Box>('boxes', { key: ({ name }) => name })

/** What is put, where it differs from what was taken. */
let spoil: ((box: Box) => Box) | undefined

const { operations } = snapshots({
  type: 'Box',
  kind: boxes,
  keyOf: (id, { caller }) => (id.startsWith(`${caller.userId}/`) ? id : undefined),
  async take(tx, key) {
    const box = await tx.get(boxes, key)
    if (!box) return undefined
    return { id: key, state: { size: box.text.length }, content: Buffer.from(box.text) }
  },
  async put(tx, { id, content }) {
    const box = { name: id, text: Buffer.from(content!).toString() }
    await tx.insert(boxes, spoil?.(box) ?? box)
  },
})
const [taking, restoring] = operations

const subgraph: Subgraph = { ...voice, resources: [...voice.resources, { kinds: [boxes] }] }

async function openBoxes(options: { store?: Store } = {}) {
  const service = await openForTest(subgraph, options)
  const ctx = (person: Person = 'alice'): Context =>
    service.opened.contextFor(people[person], { address: '', headers: {} })
  const takePart = (input: object, person?: Person) =>
    perform(taking!, { id: 'alice/box', ...input }, ctx(person)) as Promise<any>
  const restorePart = (bytes: Buffer, part: number, more: object = {}, person?: Person) =>
    perform(
      restoring!,
      {
        id: 'alice/new',
        sha256: sha256Of(bytes),
        sizeBytes: bytes.length,
        part,
        bytes: bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES).toString('base64'),
        ...more,
      },
      ctx(person),
    ) as Promise<any>
  const fill = (text: string, name = 'alice/box') => service.store.save(boxes, { name, text })
  return { service, ctx, takePart, restorePart, fill }
}

type Opened = Awaited<ReturnType<typeof openBoxes>>

async function take({ takePart }: Opened, id = 'alice/box'): Promise<Buffer> {
  const { parts, sha256, bytes } = await takePart({ id })
  const pieces = [Buffer.from(bytes, 'base64')]
  for (let part = 1; part < parts; part += 1) {
    pieces.push(Buffer.from((await takePart({ id, part, sha256 })).bytes, 'base64'))
  }
  return Buffer.concat(pieces)
}

const refused = async (asked: Promise<unknown>): Promise<[number, string]> => {
  const error = await asked.then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(error instanceof Fault)) throw error ?? new Error('nothing was refused')
  return [error.status, error.code]
}

/** Text that has as many bytes as said. */
const textOf = (length: number) => 'twelve bytes'.repeat(length / 12 + 1).slice(0, length)

const keptBlobs = async ({ service }: Opened) =>
  (await service.store.sql(`SELECT key FROM blob_version ORDER BY key`)).map(({ key }) => key)

test('a part tells the whole: its digest, its size and how many parts it has', async () => {
  const boxes = await openBoxes()
  await boxes.fill(textOf(PART_BYTES))

  const first = await boxes.takePart({})
  const second = await boxes.takePart({ part: 1, sha256: first.sha256 })

  const whole = Buffer.concat([first, second].map(({ bytes }) => Buffer.from(bytes, 'base64')))
  expect(first).toMatchObject({ parts: 2, part: 0, sizeBytes: whole.length })
  expect(second).toMatchObject({ parts: 2, part: 1, sizeBytes: whole.length })
  expect(first.sha256).toBe(sha256Of(whole))
  expect(Buffer.from(first.bytes, 'base64')).toHaveLength(PART_BYTES)
})

test.each(engines)(
  'parts are of the moment that the first is of, though the resource changes or goes, on $engine',
  async ({ database }) => {
    const { open } = await database()
    const opened = await openBoxes({
      store: await open(kindsOf(subgraph), migrationsOf(subgraph)),
    })
    await opened.fill(textOf(2 * PART_BYTES))
    const before = await take(opened)

    const first = await opened.takePart({})
    await opened.fill('changed')
    const second = await opened.takePart({ part: 1, sha256: first.sha256 })
    await opened.service.store.remove(boxes, 'alice/box')
    const third = await opened.takePart({ part: 2, sha256: first.sha256 })

    const pieces = [first, second, third].map(({ bytes }) => Buffer.from(bytes, 'base64'))
    expect(Buffer.concat(pieces).equals(before)).toBe(true)
  },
)

test('a snapshot of several parts is kept for an hour, then taken again if nothing changed', async () => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  const { sha256 } = await opened.takePart({})
  const kept = await keptBlobs(opened)
  await opened.service.advance(HOUR_MS)
  const swept = await keptBlobs(opened)

  const again = await opened.takePart({ part: 1, sha256 })
  await opened.service.advance(HOUR_MS)
  await opened.fill('changed')

  expect(kept).toEqual([`snapshot/Box alice/box/${sha256}`])
  expect(swept).toEqual([])
  expect(again.sha256).toBe(sha256)
  expect(await refused(opened.takePart({ part: 1, sha256 }))).toEqual([404, 'NotFound'])
})

test('asking anew keeps a snapshot for an hour from then on', async () => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  await opened.takePart({})
  await opened.service.advance(HOUR_MS / 2)
  const { sha256 } = await opened.takePart({})
  await opened.fill('changed')

  await opened.service.advance(HOUR_MS / 2)
  const part = await opened.takePart({ part: 1, sha256 })

  expect(part.part).toBe(1)
})

test('four snapshots of a resource are kept, and the oldest goes first', async () => {
  const opened = await openBoxes()
  const digests: string[] = []
  for (let n = 0; n < 5; n += 1) {
    await opened.fill(`${n}${textOf(PART_BYTES)}`)
    digests.push((await opened.takePart({})).sha256)
    await opened.service.advance(1)
  }

  const kept = await keptBlobs(opened)

  expect(kept).toEqual(
    digests
      .slice(1)
      .map((sha256) => `snapshot/Box alice/box/${sha256}`)
      .sort(),
  )
  expect(await refused(opened.takePart({ part: 1, sha256: digests[0] }))).toEqual([404, 'NotFound'])
})

test('what has one part is not kept', async () => {
  const opened = await openBoxes()
  await opened.fill('small')

  await opened.takePart({})

  expect(await keptBlobs(opened)).toEqual([])
})

test.each([
  ['a part without saying of what', { part: 1 }],
  ['a part beyond the last', { part: 2, of: true }],
  ['a negative part', { part: -1, of: true }],
  ['a digest that is none', { sha256: 'x' }],
])('taking %s is refused', async (_why, { of, ...input }: any) => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  const { sha256 } = await opened.takePart({})

  expect(await refused(opened.takePart({ ...(of && { sha256 }), ...input }))).toEqual([
    400,
    'Invalid',
  ])
})

test('nothing is taken of what is not there or not yours, even by one who knows the digest', async () => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  const { sha256 } = await opened.takePart({})

  expect(await refused(opened.takePart({ id: 'alice/none' }))).toEqual([404, 'NotFound'])
  expect(await refused(opened.takePart({}, 'bob'))).toEqual([404, 'NotFound'])
  expect(await refused(opened.takePart({ part: 1, sha256 }, 'bob'))).toEqual([404, 'NotFound'])
})

test.each(engines)(
  'parts come in any order and more than once, and the last makes the resource, on $engine',
  async ({ database }) => {
    const { open } = await database()
    const opened = await openBoxes({
      store: await open(kindsOf(subgraph), migrationsOf(subgraph)),
    })
    const text = textOf(2 * PART_BYTES)
    await opened.fill(text)
    const bytes = await take(opened)
    const sha256 = sha256Of(bytes)

    const answers = []
    for (const part of [2, 0, 2, 1]) answers.push(await opened.restorePart(bytes, part))

    const made = await opened.service.store.get(boxes, 'alice/new')
    const copy = sha256Of(await take(opened, 'alice/new'))
    expect(answers).toEqual([
      { id: 'alice/new', isWhole: false, sha256 },
      { id: 'alice/new', isWhole: false, sha256 },
      { id: 'alice/new', isWhole: false, sha256 },
      { id: 'alice/new', isWhole: true, sha256: copy },
    ])
    expect(made).toEqual({ name: 'alice/new', text })
    expect((await keptBlobs(opened)).filter((key) => key.startsWith('upload/'))).toEqual([])
  },
)

test('parts that came are there after an hour less a moment, and forgotten then', async () => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  const bytes = await take(opened)

  await opened.restorePart(bytes, 0)
  await opened.service.advance(HOUR_MS - 1)
  const before = (await keptBlobs(opened)).filter((key) => key.startsWith('upload/'))
  await opened.service.advance(1)
  const after = (await keptBlobs(opened)).filter((key) => key.startsWith('upload/'))
  const rest = await opened.restorePart(bytes, 1)

  expect(before).toEqual([`upload/Box alice/new/${sha256Of(bytes)}/0`])
  expect(after).toEqual([])
  expect(rest.isWhole).toBe(false)
})

test('an upload that is begun anew lasts its own hour', async () => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  const bytes = await take(opened)
  for (const part of [0, 1]) await opened.restorePart(bytes, part, { isTrial: true })
  await opened.service.advance(HOUR_MS / 2)
  await opened.restorePart(bytes, 0)

  await opened.service.advance(HOUR_MS / 2)
  const last = await opened.restorePart(bytes, 1)

  expect(last.isWhole).toBe(true)
})

test.each([
  ['a digest that is none', { sha256: 'x' }],
  ['no size', { sizeBytes: 0 }],
  ['a size beyond what is kept', { sizeBytes: 128 * 1024 * 1024 + 1 }],
  ['a part that is none', { part: 1 }],
  ['a negative part', { part: -1 }],
  ['too few bytes', { bytes: 'AAAA' }],
  ['no base64', { bytes: '***' }],
])('a restore with %s is refused', async (_why, more) => {
  const opened = await openBoxes()
  await opened.fill('small')
  const bytes = await take(opened)

  expect(await refused(opened.restorePart(bytes, 0, more))).toEqual([400, 'Invalid'])
  expect(await opened.service.store.get(boxes, 'alice/new')).toBeUndefined()
})

test('parts that do not fit together make nothing, and can be sent again', async () => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  const bytes = await take(opened)
  const wrong = Buffer.alloc(PART_BYTES, 'x').toString('base64')
  await opened.restorePart(bytes, 0, { bytes: wrong })

  const grown = opened.restorePart(bytes, 1, { sizeBytes: bytes.length + 1, bytes: 'AA==' })
  expect(await refused(grown)).toEqual([400, 'Invalid'])
  expect(await refused(opened.restorePart(bytes, 1))).toEqual([400, 'Invalid'])
  await opened.restorePart(bytes, 0)
  expect((await opened.restorePart(bytes, 1)).isWhole).toBe(true)
})

test('four uploads to one id may be under way', async () => {
  const opened = await openBoxes()
  const all: Buffer[] = []
  for (let n = 0; n < 5; n += 1) {
    await opened.fill(`${n}${textOf(PART_BYTES)}`)
    all.push(await take(opened))
  }
  for (const bytes of all.slice(0, 4)) await opened.restorePart(bytes, 0)

  expect(await refused(opened.restorePart(all[4]!, 0))).toEqual([429, 'TooMany'])
  expect((await opened.restorePart(all[4]!, 0, { id: 'alice/other' })).isWhole).toBe(false)
})

test('content that was changed behind the line is damaged', async () => {
  const opened = await openBoxes()
  await opened.fill('some content')
  const bytes = await take(opened)
  const changed = Buffer.from(bytes)
  changed.set(Buffer.from('t'), changed.length - 1)
  changed.set(Buffer.from('C'), changed.length - 7)

  expect(await refused(opened.restorePart(changed, 0))).toEqual([400, 'Invalid'])
  expect(await refused(opened.restorePart(bytes.subarray(0, -1), 0))).toEqual([400, 'Invalid'])
  expect(await refused(opened.restorePart(Buffer.concat([bytes, bytes]), 0))).toEqual([
    400,
    'Invalid',
  ])
})

test('a trial that does not give what was taken is refused, and leaves nothing', async () => {
  const opened = await openBoxes()
  await opened.fill('some content')
  const bytes = await take(opened)
  await opened.service.store.remove(boxes, 'alice/box')
  spoil = (box) => ({ ...box, text: 'other' })

  try {
    for (const id of ['alice/box', 'alice/new']) {
      const trial = opened.restorePart(bytes, 0, { id, isTrial: true })
      expect(await refused(trial)).toEqual([409, 'Conflict'])
      expect(await opened.service.store.get(boxes, id)).toBeUndefined()
    }
  } finally {
    spoil = undefined
  }
})

test('after a mistake of ours the last part is enough to try again', async () => {
  const opened = await openBoxes()
  await opened.fill(textOf(PART_BYTES))
  const bytes = await take(opened)
  await opened.restorePart(bytes, 0)
  spoil = () => {
    throw new Error('the disk is full')
  }

  try {
    await expect(opened.restorePart(bytes, 1)).rejects.toThrow('the disk is full')
  } finally {
    spoil = undefined
  }
  expect((await opened.restorePart(bytes, 1)).isWhole).toBe(true)
})

test('of two who bring the last part at the same time, both learn of the one resource', async () => {
  const opened = await openBoxes()
  await opened.fill('some content')
  const bytes = await take(opened)

  const answers = await Promise.allSettled([
    opened.restorePart(bytes, 0),
    opened.restorePart(bytes, 0),
  ])

  const [first, second] = answers.map((answer) =>
    answer.status === 'fulfilled' ? answer.value : answer.reason.code,
  )
  expect(first).toMatchObject({ id: 'alice/new', isWhole: true })
  expect(second).toEqual(first)
})

test('a repeated request does not take another resource for the one that was put back', async () => {
  const opened = await openBoxes()
  await opened.fill('some content')
  const bytes = await take(opened)
  await opened.restorePart(bytes, 0)
  const repeated = await opened.restorePart(bytes, 0)
  await opened.fill('of somebody else', 'alice/new')

  expect(repeated.isWhole).toBe(true)
  expect(await refused(opened.restorePart(bytes, 0))).toEqual([409, 'Conflict'])
  await opened.service.advance(HOUR_MS)
  expect(await refused(opened.restorePart(bytes, 0))).toEqual([409, 'Conflict'])
})

test('the same state has the same bytes, in whatever order it was written', async () => {
  const { ctx } = await openBoxes()

  const one = bytesOf('Box', { id: 'a', state: { a: 1, b: { c: 2, d: [3] } } }, ctx())
  const other = bytesOf(
    'Box',
    { id: 'a', state: { b: { d: [3], c: 2 }, a: 1, e: undefined } },
    ctx(),
  )

  expect(Buffer.from(one).equals(Buffer.from(other))).toBe(true)
  expect(Buffer.from(one).toString()).toMatch(
    /^\{"seal":"[\w-]+","format":1,"id":"a","state":\{"a":1,"b":\{"c":2,"d":\[3\]\}\},"type":"Box"\}\n$/,
  )
})

test('all that belongs to a resource is read over many pages, and no more than a snapshot holds', async () => {
  const { service } = await openBoxes()
  await service.store.transaction(async (tx) => {
    for (let n = 0; n < 1_200; n += 1) {
      await tx.insert(boxes, { name: `alice/${String(n).padStart(4, '0')}`, text: 'x' })
    }
    await tx.insert(boxes, { name: 'bob/1', text: 'x' })
  })
  const large = { name: 'alice/large', text: 'x'.repeat(60 * 1024 * 1024) }
  const endless = { list: async () => ({ items: [large], next: 'more' }) } as unknown as Records

  const all = await service.store.transaction((tx) => everyOf(tx, boxes, 'alice/'))

  expect(all).toHaveLength(1_200)
  expect(await refused(everyOf(endless, boxes, 'alice/'))).toEqual([413, 'TooLarge'])
})

test('other services take and restore through the graph', async () => {
  const graph = await openGraphForTest([hsm])
  const service = graph.service('hsm')
  await service.rest(`PUT ${one('safe')}`, PLAIN)
  const mine = graphFor(graph.port, people.alice)
  const typeName = 'DedicatedHsm'

  const bytes = await takeSnapshot(mine, { typeName, id: `${MANY}/safe` })
  const tried = await restoreSnapshot(mine, { typeName, id: `${MANY}/copy` }, bytes, {
    isTrial: true,
  })
  const missing = await service.rest(`GET ${one('copy')}`)
  const put = await restoreSnapshot(mine, { typeName, id: `${MANY}/copy` }, bytes)

  expect(tried).toEqual(put)
  expect(missing.status).toBe(404)
  expect((await service.rest(`GET ${one('copy')}`)).status).toBe(200)
})
