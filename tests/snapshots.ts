// What holds for the snapshots, the tags and the ids of every cloud resource, whichever service keeps it.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { bytesOf } from '../resolvers/families/snapshot-bytes.ts'
import { cursors } from '../resolvers/kernel/paging.ts'
import type { TestService } from './open.ts'
import type { Person } from './people.ts'

const PART_BYTES = 512 * 1024

export interface SnapshotCase {
  /** The type in the graph. */
  readonly type: string
  /** A service without the resource. */
  open(): Promise<TestService>
  /** Makes the resource that has the id. */
  make(service: TestService): Promise<unknown>
  /** Removes the resource under an id, and waits until it is gone. */
  remove(service: TestService, id: string): Promise<unknown>
  readonly id: string
  /** An id of the same person that nothing has, and one of somebody else's. */
  readonly vacantId: string
  readonly foreignId: string
  /** What must be the same after a restore, as a selection of fields. */
  readonly shown: string
  /** How long a new resource takes until it is as it stays. */
  readonly readyMs?: number
  /** What is announced of it, such as `hsm.module`. */
  readonly announces: string
  readonly hasTags?: boolean
}

export interface Taken {
  readonly sha256: string
  readonly bytes: Buffer
}

const lowered = (type: string) => type.charAt(0).toLowerCase() + type.slice(1)
export const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Takes a snapshot as clients do, part after part. */
export async function take(service: TestService, type: string, id: string): Promise<Taken> {
  const pieces: Buffer[] = []
  let sha256: string | undefined
  let parts = 1
  for (let part = 0; part < parts; part += 1) {
    const { data, errors } = await askPart(service, type, { id, part, sha256 })
    if (errors) throw new Error(errors[0].message)
    ;({ sha256, parts } = data.taken)
    pieces.push(Buffer.from(data.taken.bytes, 'base64'))
  }
  return { sha256: sha256!, bytes: Buffer.concat(pieces) }
}

export const askPart = (
  service: TestService,
  type: string,
  variables: { id: string; part?: number; sha256?: string | undefined },
  credential: Person = 'alice',
) =>
  service.graphql(
    `query ($id: ID!, $part: Int, $sha256: String) {
      taken: ${lowered(type)}Snapshot(id: $id, part: $part, sha256: $sha256) {
        sha256 sizeBytes parts part bytes } }`,
    variables,
    { credential },
  )

interface Restore {
  readonly type: string
  readonly id: string
  readonly bytes: Buffer
  readonly part?: number
  readonly isTrial?: boolean
  readonly credential?: Person
  /** What is sent instead of what is true. */
  readonly instead?: object
}

export const restorePart = (service: TestService, restore: Restore) => {
  const { type, id, bytes, part = 0, isTrial, credential = 'alice', instead } = restore
  return service.graphql(
    `mutation ($id: ID!, $sha256: String!, $sizeBytes: Int!, $part: Int!, $bytes: String!, $isTrial: Boolean) {
      put: restore${type}(id: $id, sha256: $sha256, sizeBytes: $sizeBytes, part: $part, bytes: $bytes,
        isTrial: $isTrial) { id isWhole sha256 } }`,
    {
      id,
      sha256: sha256Of(bytes),
      sizeBytes: bytes.length,
      part,
      bytes: bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES).toString('base64'),
      ...(isTrial !== undefined && { isTrial }),
      ...instead,
    },
    { credential },
  )
}

/** Puts a snapshot back as clients do, part after part. Throws what is refused. */
export async function restore(service: TestService, sent: Restore) {
  for (let part = 0; part * PART_BYTES < sent.bytes.length; part += 1) {
    const { data, errors } = await restorePart(service, { ...sent, part })
    if (errors) throw new Error(errors[0].message)
    if (data.put.isWhole) return data.put
  }
  throw new Error('parts are missing')
}

export const refusalOf = ({ errors }: { errors?: any[] }): [number, string] => [
  errors?.[0].extensions.status,
  errors?.[0].extensions.code,
]

export async function readById(
  service: TestService,
  { type, shown }: Pick<SnapshotCase, 'type' | 'shown'>,
  id: string,
  credential: Person = 'alice',
) {
  const { data, errors } = await service.graphql(
    `query ($id: ID!) { found: ${lowered(type)}ById(id: $id) { ${shown} } }`,
    { id },
    { credential },
  )
  if (errors) throw new Error(errors[0].message)
  return data.found
}

/** All that a service has stored, by table: how many rows. */
async function countsOf({ store }: TestService) {
  const tables = await store.sql(`SELECT name FROM sqlite_master WHERE type = 'table'`)
  const counts: Record<string, number> = {}
  for (const { name } of tables) {
    if (String(name).startsWith('sqlite_')) continue
    counts[name] = Number((await store.sql(`SELECT count(*) AS n FROM "${name}"`))[0]!.n)
  }
  return counts
}

const eventsOf = async ({ store }: TestService, type: string) =>
  (await store.sql('SELECT subject FROM event WHERE type = ? ORDER BY number', [type])).map(
    ({ subject }) => subject,
  )

/** A sealed snapshot of something that no service would take. */
export const forged = (type: string, id: string, state: unknown): Buffer =>
  Buffer.from(bytesOf(type, { id, state }, { cursors: cursors(Buffer.alloc(32, 7)) } as any))

async function openMade({ open, make, readyMs = 0 }: SnapshotCase) {
  const service = await open()
  await make(service)
  await service.advance(readyMs)
  return service
}

/** The tests that every type passes. */
export function snapshotCases(given: SnapshotCase): void {
  const { type, id, vacantId, foreignId, remove, readyMs = 0 } = given

  test(`a ${type} that is gone is put back as it was`, async () => {
    const service = await openMade(given)
    const before = await readById(service, given, id)
    const taken = await take(service, type, id)
    await remove(service, id)
    const gone = await readById(service, given, id)

    const put = await restore(service, { type, id, bytes: taken.bytes })
    await service.advance(readyMs)
    const again = await take(service, type, id)

    expect(gone).toBeNull()
    expect(put).toEqual({ id, isWhole: true, sha256: taken.sha256 })
    expect(await readById(service, given, id)).toEqual(before)
    expect(again.bytes.equals(taken.bytes)).toBe(true)
    expect(service.mistakes).toEqual([])
  })

  test(`a ${type} is put beside itself as a copy, and both live`, async () => {
    const service = await openMade(given)
    const before = await readById(service, given, id)
    const { bytes } = await take(service, type, id)

    const put = await restore(service, { type, id: vacantId, bytes })
    await service.advance(readyMs)

    const copy = await take(service, type, vacantId)
    expect(put).toEqual({ id: vacantId, isWhole: true, sha256: copy.sha256 })
    expect(await readById(service, given, vacantId)).toEqual(before)
    expect(await readById(service, given, id)).toEqual(before)
    expect(service.mistakes).toEqual([])
  })

  test(`a ${type} that exists stays as it is`, async () => {
    const service = await openMade(given)
    const { bytes, sha256 } = await take(service, type, id)

    const answer = await restorePart(service, { type, id, bytes })
    const trial = await restorePart(service, { type, id, bytes, isTrial: true })

    expect(refusalOf(answer)).toEqual([409, 'Conflict'])
    expect(refusalOf(trial)).toEqual([409, 'Conflict'])
    expect((await take(service, type, id)).sha256).toBe(sha256)
  })

  test(`a trial of a ${type} leaves nothing behind`, async () => {
    const service = await openMade(given)
    const { bytes, sha256 } = await take(service, type, id)
    await remove(service, id)
    const before = await countsOf(service)

    const trial = await restore(service, { type, id, bytes, isTrial: true })
    const copied = await restore(service, { type, id: vacantId, bytes, isTrial: true })

    expect(trial).toEqual({ id, isWhole: true, sha256 })
    expect(copied).toMatchObject({ id: vacantId, isWhole: true })
    expect(await readById(service, given, id)).toBeNull()
    // The step that would have ended the upload waits, and will find nothing to end.
    expect(await countsOf(service)).toEqual({ ...before, work: before.work! + 2 })
    await service.advance(60 * 60 * 1000)
    expect(service.mistakes).toEqual([])
  })

  test(`what puts a ${type} back is announced as a creation`, async () => {
    const service = await openMade(given)
    const { bytes } = await take(service, type, id)
    await remove(service, id)
    const before = await eventsOf(service, `${given.announces}.created`)

    await restore(service, { type, id, bytes })

    expect(await eventsOf(service, `${given.announces}.created`)).toEqual([...before, id])
  })

  test(`a repeated request for a ${type} is answered alike, and one after its removal restores again`, async () => {
    const service = await openMade(given)
    const { bytes } = await take(service, type, id)
    await remove(service, id)

    const first = await restore(service, { type, id, bytes })
    const repeated = await restore(service, { type, id, bytes })
    await service.advance(readyMs)
    await remove(service, id)
    const again = await restore(service, { type, id, bytes })

    expect(repeated).toEqual(first)
    expect(again).toEqual(first)
    expect(await readById(service, given, id)).not.toBeNull()
  })

  test(`a ${type} that is another's, or nobody's, is not found`, async () => {
    const service = await openMade(given)
    const { bytes } = await take(service, type, id)

    expect(await readById(service, given, id, 'bob')).toBeNull()
    for (const unknown of [foreignId, vacantId, 'nonsense']) {
      expect(await readById(service, given, unknown)).toBeNull()
      expect((await askPart(service, type, { id: unknown })).errors![0].extensions.status).toBe(404)
    }
    expect((await askPart(service, type, { id }, 'bob')).errors![0].extensions.status).toBe(404)
    for (const unknown of [foreignId, 'nonsense']) {
      expect(refusalOf(await restorePart(service, { type, id: unknown, bytes }))[0]).toBe(404)
    }
    const taken = await restorePart(service, { type, id: foreignId, bytes, credential: 'bob' })
    expect(refusalOf(taken)[0]).toBe(404)
    expect(await readById(service, given, foreignId, 'bob')).toBeNull()
  })

  test(`what is no snapshot of a ${type} makes nothing`, async () => {
    const service = await openMade(given)
    const { bytes } = await take(service, type, id)
    const changed = Buffer.from(bytes.toString().replace('"state":{', '"state":{"more":1,'))
    const cut = bytes.subarray(0, bytes.length - 10)

    for (const wrong of [
      changed,
      cut,
      Buffer.from('{}\n'),
      Buffer.from('x'),
      Buffer.from('null\n'),
    ]) {
      const answer = await restorePart(service, { type, id: vacantId, bytes: wrong })
      expect(refusalOf(answer)).toEqual([400, 'Invalid'])
    }
    const other = forged('SomethingElse', id, {})
    const ofOther = await restorePart(service, { type, id: vacantId, bytes: other })
    expect(refusalOf(ofOther)).toEqual([400, 'Invalid'])
    expect(ofOther.errors![0].message).toContain('SomethingElse')
    expect(await readById(service, given, vacantId)).toBeNull()
    expect(service.mistakes).toEqual([])
  })

  if (given.hasTags ?? true) tagCases(given)
}

function tagCases(given: SnapshotCase): void {
  const { type, id, foreignId } = given

  const tag = (service: TestService, tags: object, of = id) =>
    service.graphql(
      `mutation ($id: ID!, $tags: JSONObject!) { changed: tag${type}(id: $id, tags: $tags) { id tags } }`,
      { id: of, tags },
    )
  const untag = (service: TestService, keys: string[], of = id) =>
    service.graphql(
      `mutation ($id: ID!, $keys: [String!]!) { changed: untag${type}(id: $id, keys: $keys) { id tags } }`,
      { id: of, keys },
    )
  const tagsOf = async (service: TestService) =>
    (await readById(service, { type, shown: 'tags' }, id)).tags

  test(`a ${type} is tagged and untagged, and the rest of its tags stays`, async () => {
    const service = await openMade(given)
    const before = (await tagsOf(service)) ?? {}
    const changes = await eventsOf(service, `${given.announces}.changed`)

    const tagged = await tag(service, { stage: 'live', cost: '7' })
    await service.advance(given.readyMs ?? 0)
    const overwritten = await tag(service, { stage: 'dead' })
    await service.advance(given.readyMs ?? 0)
    const untagged = await untag(service, ['cost', 'unknown'])

    expect(tagged.data.changed).toEqual({ id, tags: { ...before, stage: 'live', cost: '7' } })
    expect(overwritten.data.changed.tags).toEqual({ ...before, stage: 'dead', cost: '7' })
    expect(untagged.data.changed.tags).toEqual({ ...before, stage: 'dead' })
    expect(await tagsOf(service)).toEqual({ ...before, stage: 'dead' })
    const all = await eventsOf(service, `${given.announces}.changed`)
    expect(all.length - changes.length).toBeGreaterThanOrEqual(3)
  })

  test(`what a ${type} cannot be tagged with changes nothing`, async () => {
    const service = await openMade(given)
    const before = await tagsOf(service)
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`tag${n}`, 'x']))

    for (const wrong of [many, { long: 'x'.repeat(257) }, { '': 'x' }, { number: 1 }]) {
      expect(refusalOf(await tag(service, wrong))).toEqual([400, 'Invalid'])
    }
    for (const unknown of [foreignId, 'nonsense']) {
      expect(refusalOf(await tag(service, { a: 'b' }, unknown))[0]).toBe(404)
      expect(refusalOf(await untag(service, ['a'], unknown))[0]).toBe(404)
    }
    expect(await tagsOf(service)).toEqual(before)
  })
}
