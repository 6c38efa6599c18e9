// Bytes under a key and their versions, on both engines.
import { describe, expect, test } from 'vitest'
import { blobsMigration, openBlobs, PART_BYTES } from '../../resolvers/kernel/blobs.ts'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { engines } from './engines.ts'

const migrations = [{ set: 'kernel', list: [blobsMigration] }]
const START_MS = Date.parse('2030-01-01T00:00:00Z')
const ALL = { sinceMs: 0, versionsMax: 100, bytesMax: 1e9 }

const filled = (parts: number, value: number) => new Uint8Array(parts * PART_BYTES).fill(value)

describe.each(engines)('$engine', ({ database }) => {
  async function opened() {
    const store = await (await database()).open([], migrations)
    const clock = stillClock('2030-01-01T00:00:00Z')
    const blobs = openBlobs({ clock })
    const write = (key: string, bytes: Uint8Array) =>
      store.transaction((tx) => blobs.write(tx, key, bytes))
    const storedParts = async () =>
      (await store.sql('SELECT count(*) AS parts FROM blob_part'))[0]!['parts']
    return { store, clock, blobs, write, storedParts }
  }

  test('what was written is read again, each version as it was', async () => {
    const { store, blobs, write } = await opened()
    const small = Uint8Array.of(1, 2, 3)
    const large = new Uint8Array(3 * PART_BYTES + 5).map((_, at) => at % 251)

    await write('a', small)
    await write('a', large)
    await write('a', new Uint8Array(0))

    expect(await blobs.read(store, 'a', 1)).toEqual(small)
    expect(await blobs.read(store, 'a', 2)).toEqual(large)
    expect(await blobs.read(store, 'a', 3)).toEqual(new Uint8Array(0))
    expect(await blobs.read(store, 'a', 4)).toBeUndefined()
    expect(await blobs.read(store, 'b', 1)).toBeUndefined()
  })

  test.each([
    [0, 10],
    [PART_BYTES - 5, 10],
    [PART_BYTES, PART_BYTES],
    [3 * PART_BYTES, 100],
    [0, 10 * PART_BYTES],
  ])('the range from %i, %i bytes long, is what the whole has there', async (offset, length) => {
    const { store, blobs, write } = await opened()
    const bytes = new Uint8Array(3 * PART_BYTES + 5).map((_, at) => at % 251)
    await write('a', filled(4, 1))
    await write('a', bytes)

    const found = await blobs.readRange(store, { key: 'a', version: 2 }, { offset, length })
    const none = await blobs.readRange(store, { key: 'a', version: 3 }, { offset, length })

    expect(Buffer.from(found!.bytes)).toEqual(Buffer.from(bytes.slice(offset, offset + length)))
    expect(found!.version).toMatchObject({ version: 2, sizeBytes: bytes.length })
    expect(none).toBeUndefined()
  })

  test('a version says how large it is, when it was written and what its digest is', async () => {
    const { store, blobs, write } = await opened()

    const written = await write('a', Uint8Array.of(97, 98, 99))

    expect(written).toEqual({
      version: 1,
      sizeBytes: 3,
      digest: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
      timeMs: START_MS,
    })
    expect(await blobs.latest(store, 'a')).toMatchObject(written)
  })

  test('a version stores the parts in which it differs from the one before', async () => {
    const { store, blobs, write, storedParts } = await opened()
    const bytes = filled(8, 1)
    await write('a', bytes)
    const changed = bytes.slice()
    changed[3 * PART_BYTES] = 9

    await write('a', changed)

    expect(await storedParts()).toBe(9)
    expect(await blobs.read(store, 'a', 1)).toEqual(bytes)
    expect(await blobs.read(store, 'a', 2)).toEqual(changed)
  })

  test('the same bytes again are no new version', async () => {
    const { write, storedParts } = await opened()
    await write('a', filled(2, 1))

    const again = await write('a', filled(2, 1))

    expect(again.version).toBe(1)
    expect(await storedParts()).toBe(2)
  })

  test('what shrinks and grows again does not bring back what was cut off', async () => {
    const { store, blobs, write } = await opened()
    const versions = [filled(3, 1), filled(1, 1), filled(3, 0)]
    for (const bytes of versions) await write('a', bytes)

    for (const [at, bytes] of versions.entries()) {
      expect(await blobs.read(store, 'a', at + 1)).toEqual(bytes)
    }
  })

  test('the version of a moment is the newest of then', async () => {
    const { store, clock, blobs, write } = await opened()
    await write('a', filled(1, 1))
    clock.moveTo(new Date(START_MS + 1000))
    await write('a', filled(1, 2))

    const at = (ms: number) => blobs.at(store, 'a', new Date(START_MS + ms))

    expect(await at(-1)).toBeUndefined()
    expect((await at(0))?.version).toBe(1)
    expect((await at(999))?.version).toBe(1)
    expect((await at(1000))?.version).toBe(2)
  })

  test('the newest versions of many keys are found together, in the order of the keys', async () => {
    const { store, blobs, write } = await opened()
    const keys = Array.from({ length: 70 }, (_, n) => `key ${n}`)
    for (const key of keys.slice(10)) await write(key, Uint8Array.of(1))
    await write('key 60', Uint8Array.of(2))

    const found = await blobs.latestOf(store, keys)

    expect(found.map((version) => version?.version)).toEqual([
      ...Array(10).fill(undefined),
      ...Array(50).fill(1),
      2,
      ...Array(9).fill(1),
    ])
    expect(await blobs.latestOf(store, [])).toEqual([])
  })

  test('a copy is of its own: what happens to one leaves the other', async () => {
    const { store, blobs, write } = await opened()
    await write('a', filled(2, 1))
    await store.transaction((tx) => blobs.copy(tx, { key: 'a', version: 1 }, 'b'))

    await write('a', filled(2, 2))
    await store.transaction((tx) => blobs.remove(tx, 'a'))

    expect(await blobs.read(store, 'b', 1)).toEqual(filled(2, 1))
    expect(await blobs.latest(store, 'a')).toBeUndefined()
    const none = await store.transaction((tx) => blobs.copy(tx, { key: 'a', version: 1 }, 'c'))
    expect(none).toBeUndefined()
  })

  test('versions that were superseded before a moment are forgotten, and their parts', async () => {
    const { store, clock, blobs, write, storedParts } = await opened()
    for (const [second, value] of [1, 2, 3].entries()) {
      clock.moveTo(new Date(START_MS + second * 1000))
      await write('a', filled(second === 0 ? 4 : 2, value))
    }

    const left = await store.transaction((tx) =>
      blobs.trim(tx, 'a', { ...ALL, sinceMs: START_MS + 1500 }),
    )

    expect(left).toMatchObject({ oldest: { version: 2 }, isCutShort: false })
    expect(await blobs.read(store, 'a', 1)).toBeUndefined()
    expect(await blobs.read(store, 'a', 2)).toEqual(filled(2, 2))
    expect(await blobs.read(store, 'a', 3)).toEqual(filled(2, 3))
    expect(await storedParts()).toBe(4)
  })

  test.each([
    ['too many', { ...ALL, versionsMax: 2 }, 2],
    ['too large together', { ...ALL, bytesMax: 2 * PART_BYTES }, 2],
    ['too large alone', { ...ALL, bytesMax: 1 }, 3],
  ])('versions that are %s are forgotten, but never the newest', async (_why, keep, oldest) => {
    const { store, blobs, write } = await opened()
    for (const value of [1, 2, 3]) await write('a', filled(1, value))

    const left = await store.transaction((tx) => blobs.trim(tx, 'a', keep))

    expect(left).toMatchObject({ oldest: { version: oldest }, isCutShort: true })
    expect((await blobs.latest(store, 'a'))?.version).toBe(3)
    expect(await blobs.read(store, 'a', oldest)).toEqual(filled(1, oldest))
  })

  test('nothing is trimmed of nothing, and removed is removed', async () => {
    const { store, blobs, write, storedParts } = await opened()
    await write('a', filled(2, 1))

    expect(await store.transaction((tx) => blobs.trim(tx, 'b', ALL))).toBeUndefined()
    expect(await store.transaction((tx) => blobs.remove(tx, 'a'))).toBe(true)
    expect(await store.transaction((tx) => blobs.remove(tx, 'a'))).toBe(false)
    expect(await storedParts()).toBe(0)
  })
})
