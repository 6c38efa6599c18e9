// The small words of the kernel: ids, cursors, entity tags, sealed secrets, clocks.
import { expect, test } from 'vitest'
import { stillClock, virtualClock } from '../../resolvers/kernel/clock.ts'
import { checkIfMatch, checkIfNoneMatch, etagOf } from '../../resolvers/kernel/etag.ts'
import { idMaker } from '../../resolvers/kernel/ids.ts'
import { cursors } from '../../resolvers/kernel/paging.ts'
import { keyFor, openSecrets } from '../../resolvers/kernel/secrets.ts'
import { setVersion } from '../../resolvers/kernel/store.ts'

const KEY = Buffer.alloc(32, 1)

test('ids are UUIDs of version 7 that carry the time and rise also within a millisecond', () => {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const newId = idMaker(clock)
  const made = Array.from({ length: 10_000 }, newId)

  expect(made[0]).toMatch(/^01b8dac5-b400-7000-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(made.toSorted()).toEqual(made)
  expect(new Set(made).size).toBe(10_000)
})

test('a cursor opens for the list that gave it, and says what it said', () => {
  const own = cursors(KEY)

  expect(own.open('things', own.seal('things', '["a",7]'))).toBe('["a",7]')
})

test.each([
  ['of another list', (token: string) => token, 'others'],
  ['with a letter changed', (token: string) => `${token.slice(0, -1)}A`, 'things'],
  ['cut short', (token: string) => token.slice(0, 8), 'things'],
  ['that is empty', () => '', 'things'],
  ['with something added', (token: string) => `${token}=`, 'things'],
])('a cursor %s is refused', (_case, change, list) => {
  const own = cursors(KEY)
  const token = change(own.seal('things', '["key"]x'))

  expect(() => own.open(list, token)).toThrow('The page token is not one that this list gave out.')
})

test('a cursor of another installation is refused', () => {
  const token = cursors(Buffer.alloc(32, 2)).seal('things', 'x')

  expect(() => cursors(KEY).open('things', token)).toThrow('not one that this list gave out')
})

test('If-Match lets the version pass that the record has, and no other', () => {
  const record = { name: 'a' }
  setVersion(record, 'v1')

  expect(etagOf(record)).toBe('"v1"')
  expect(() => checkIfMatch(undefined, undefined)).not.toThrow()
  expect(() => checkIfMatch('"v1"', record)).not.toThrow()
  expect(() => checkIfMatch('"v0", W/"v1"', record)).not.toThrow()
  expect(() => checkIfMatch('*', record)).not.toThrow()
  expect(() => checkIfMatch('"v2"', record)).toThrow('but the resource is at "v1"')
  expect(() => checkIfMatch('*', undefined)).toThrow('there is no such resource')
})

test('If-None-Match * lets only a first write pass', () => {
  expect(() => checkIfNoneMatch('*', undefined)).not.toThrow()
  expect(() => checkIfNoneMatch('*', {})).toThrow('the resource exists already')
})

test('a sealed secret opens for its record alone, and differs each time', () => {
  const secrets = openSecrets(KEY)
  const sealed = secrets.seal('secret', 'record 1')

  expect(sealed).not.toContain('secret')
  expect(secrets.seal('secret', 'record 1')).not.toBe(sealed)
  expect(secrets.open(sealed, 'record 1')).toBe('secret')
  expect(() => secrets.open(sealed, 'record 2')).toThrow()
  expect(() => openSecrets(Buffer.alloc(32, 2)).open(sealed, 'record 1')).toThrow()
})

test('a key for one purpose is not the key for another', () => {
  expect(Buffer.from(keyFor('notes', KEY))).not.toEqual(Buffer.from(keyFor('cursors', KEY)))
  expect(keyFor('notes', KEY)).toHaveLength(32)
})

test('an advanced clock runs on, and never goes back', () => {
  const base = stillClock('2030-01-01T00:00:00Z')
  const clock = virtualClock({ base })

  clock.moveTo(new Date('2030-01-02T00:00:00Z'))
  clock.moveTo(new Date('2029-01-01T00:00:00Z'))
  base.moveTo(new Date('2030-01-01T01:00:00Z'))

  expect(clock.now().toISOString()).toBe('2030-01-02T01:00:00.000Z')
})
