// Records that were read stay at hand, and nobody sees less than what was committed.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { bodyOf, rowCache, thawed } from '../../resolvers/kernel/row-cache.ts'
import { kind, versionOf } from '../../resolvers/kernel/store.ts'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import { testFolder } from './engines.ts'

interface Note {
  readonly id: string
  readonly parts: readonly string[]
}

const notes = kind<Note>('note', { key: (note) => note.id })
/** Longer than the store looks at one state of the file. */
const LOOK_ENDS_MS = 30

async function open() {
  const file = join(await testFolder(), 'test.db')
  const store = await openSqlite({ file, kinds: [notes], synchronous: 'OFF' })
  onTestFinished(() => store.close())
  return { store, file }
}

test('what is read twice is the same object, with its version and its text', async () => {
  const { store } = await open()
  await store.insert(notes, { id: 'a', parts: ['x'] })

  const first = await store.get(notes, 'a')
  const second = await store.get(notes, 'a')

  expect(second).toBe(first)
  expect(versionOf(second!)).toMatch(/./)
  expect(bodyOf(second!)).toBe('{"id":"a","parts":["x"]}')
})

test('nobody can change what others are handed', async () => {
  const { store } = await open()
  await store.insert(notes, { id: 'a', parts: ['x'] })
  const note = (await store.get(notes, 'a')) as any

  expect(() => (note.id = 'b')).toThrow(TypeError)
  expect(() => note.parts.push('y')).toThrow(TypeError)
})

test('a copy of what was kept can be added to, and has its version', async () => {
  const { store } = await open()
  await store.insert(notes, { id: 'a', parts: ['x'] })
  const note = (await store.get(notes, 'a'))!

  const copy = thawed(note)

  expect(copy).not.toBe(note)
  expect(Object.assign(copy, { more: 1 })).toEqual({ id: 'a', parts: ['x'], more: 1 })
  expect(versionOf(copy)).toBe(versionOf(note))
  expect([thawed(null), thawed('a'), thawed(copy)]).toEqual([null, 'a', copy])
})

test('a write is seen at once, by whatever way it came', async () => {
  const { store } = await open()
  const seen = async () => (await store.get(notes, 'a'))?.parts[0]
  await store.insert(notes, { id: 'a', parts: ['inserted'] })
  const moments = [await seen()]
  await store.save(notes, { id: 'a', parts: ['saved'] })
  moments.push(await seen())
  await store.transaction(async (tx) => {
    await tx.save(notes, { id: 'a', parts: ['in a transaction'] })
    expect((await tx.get(notes, 'a'))?.parts).toEqual(['in a transaction'])
  })
  moments.push(await seen())
  await store.sql(`UPDATE note SET body = '{"id":"a","parts":["by hand"]}'`)
  moments.push(await seen())
  await store.remove(notes, 'a')
  moments.push(await seen())

  expect(moments).toEqual(['inserted', 'saved', 'in a transaction', 'by hand', undefined])
})

test('a write that was undone is not seen', async () => {
  const { store } = await open()
  await store.insert(notes, { id: 'a', parts: ['before'] })
  await store.get(notes, 'a')

  const undone = store.transaction(async (tx) => {
    await tx.save(notes, { id: 'a', parts: ['after'] })
    throw new Error('no')
  })

  await expect(undone).rejects.toThrow('no')
  expect(await store.get(notes, 'a')).toEqual({ id: 'a', parts: ['before'] })
})

test('what another process wrote is seen when the look has ended', async () => {
  const { store, file } = await open()
  await store.insert(notes, { id: 'a', parts: ['ours'] })
  await store.get(notes, 'a')

  const other = new DatabaseSync(file)
  other.exec(`UPDATE note SET body = '{"id":"a","parts":["theirs"]}'`)
  other.close()
  // A process knows of another's commit only by looking again, after a time of the world's clock.
  await pause(LOOK_ENDS_MS)

  expect(await store.get(notes, 'a')).toEqual({ id: 'a', parts: ['theirs'] })
})

test('records are forgotten before they are too many or too large', () => {
  const cache = rowCache()
  const body = 'x'.repeat(60_000)
  for (let n = 0; n < 60; n += 1) cache.keep(notes, `note-${n}`, { n }, body)
  const kept = cache.get(notes, 'note-0')
  for (let n = 60; n < 70; n += 1) cache.keep(notes, `note-${n}`, { n }, body)
  cache.keep(notes, 'huge', {}, 'x'.repeat(64_001))

  expect(kept).toEqual({ n: 0 })
  expect(cache.get(notes, 'note-0')).toBeUndefined()
  expect(cache.get(notes, 'note-69')).toEqual({ n: 69 })
  expect(cache.get(notes, 'huge')).toBeUndefined()
})
