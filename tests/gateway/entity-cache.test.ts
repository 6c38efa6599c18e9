// Entities are kept for whom they were found, as long as their type says, and no longer.
import { expect, test } from 'vitest'
import type { GatewayContext } from '../../gateway/callers.ts'
import { readConfiguration } from '../../gateway/configuration.ts'
import { openEntityCache } from '../../gateway/entity-cache.ts'
import type { Answer } from '../../gateway/executor/source.ts'
import { openGateway } from '../../gateway/gateway.ts'
import { newReads } from '../../gateway/live-reads.ts'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { people } from '../people.ts'

const QUERY = `query ($representations: [_Any!]!) {
  _entities(representations: $representations) { ... on Book { title } } }`
const contextOf = (person: 'alice' | 'bob'): GatewayContext => ({
  caller: people[person],
  publicUrl: '',
  requestId: '',
  headers: {},
})
const booksOf = (...ids: string[]) => ids.map((id) => ({ __typename: 'Book', id }))

function open(types: Record<string, number> = { Book: 60 }) {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const asked: string[] = []
  const cache = openEntityCache(new Map(Object.entries(types)), clock)
  const source = cache.keeping('books', {
    prepare:
      () =>
      (variables, context): Answer => {
        const representations = (variables.representations ?? []) as { id: string }[]
        asked.push(`${context.caller.userId} ${representations.map(({ id }) => id).join(' ')}`)
        const at = representations.findIndex(({ id }) => id === 'bad')
        return {
          data: {
            _entities: representations.map(({ id }) =>
              id === 'none' || id === 'bad' ? null : { title: `${id} of ${context.caller.userId}` },
            ),
          },
          ...(at >= 0 && { errors: [{ message: 'bad', path: ['_entities', at, 'title'] }] }),
        }
      },
  })
  const send = source.prepare(QUERY, undefined)
  const ask = async (person: 'alice' | 'bob', ...ids: string[]) =>
    send({ representations: booksOf(...ids) }, contextOf(person))
  const askLive = (...ids: string[]) =>
    send({ representations: booksOf(...ids) }, { ...contextOf('alice'), reads: newReads() })
  const change = () => source.prepare('mutation { touch }', undefined)({}, contextOf('alice'))
  return { asked, ask, askLive, change, clock }
}

const titles = (...all: (string | null)[]) => ({
  data: { _entities: all.map((title) => title && { title }) },
})

test('what was found is not asked again, and the rest is', async () => {
  const { ask, asked } = open()

  expect(await ask('alice', 'a', 'b')).toEqual(titles('a of alice', 'b of alice'))
  expect(await ask('alice', 'c', 'b')).toEqual(titles('c of alice', 'b of alice'))
  expect(await ask('alice', 'b', 'c')).toEqual(titles('b of alice', 'c of alice'))
  expect(asked).toEqual(['alice a b', 'alice c'])
})

test('nobody is shown what was kept for another', async () => {
  const { ask, asked } = open()
  await ask('alice', 'a')

  expect(await ask('bob', 'a')).toEqual(titles('a of bob'))
  expect(asked).toEqual(['alice a', 'bob a'])
})

test('an entity is asked for again when the time of its type is over, or something was changed', async () => {
  const { ask, asked, clock, change } = open()
  await ask('alice', 'a')
  clock.moveTo(new Date('2030-01-01T00:00:59Z'))
  await ask('alice', 'a')
  clock.moveTo(new Date('2030-01-01T00:01:01Z'))
  await ask('alice', 'a')
  await change()
  await ask('alice', 'a')

  expect(asked).toEqual(['alice a', 'alice a', 'alice ', 'alice a'])
})

test('what was not found, came with an error or is of another type is not kept', async () => {
  const { ask, asked } = open()
  await ask('alice', 'a')

  expect(await ask('alice', 'none')).toEqual(titles(null))
  expect(await ask('alice', 'a', 'bad', 'b')).toEqual({
    ...titles('a of alice', null, 'b of alice'),
    errors: [{ message: 'bad', path: ['_entities', 1, 'title'] }],
  })
  await ask('alice', 'none', 'b')
  expect(asked).toEqual(['alice a', 'alice none', 'alice bad b', 'alice none b'])
  const other = open({ Author: 60 })
  await other.ask('alice', 'a')
  await other.ask('alice', 'a')
  expect(other.asked).toEqual(['alice a', 'alice a'])
})

test('a live query sees what is there now', async () => {
  const { ask, askLive, asked } = open()
  await ask('alice', 'a')

  expect(await askLive('a')).toEqual(titles('a of alice'))
  expect(asked).toEqual(['alice a', 'alice a'])
})

test('whoever adds to an entity adds to a copy', async () => {
  const { ask } = open()
  await ask('alice', 'a')
  const first = await ask('alice', 'a')
  first.data!._entities[0].stars = 5

  expect(await ask('alice', 'a')).toEqual(titles('a of alice'))
})

test('types and seconds are checked', async () => {
  const read = (text: string) => readConfiguration({ POLYGRAPH_ENTITY_CACHE: text }, [])
  const sourceOf = () => ({ prepare: () => () => ({ data: {} }) })
  const entitySeconds = new Map([['Nothing', 1]])

  expect(() => read('Podcast')).toThrow('POLYGRAPH_ENTITY_CACHE: must be like Podcast=60')
  expect([...read('Podcast=60, Episode=5').entitySeconds]).toEqual([
    ['Podcast', 60],
    ['Episode', 5],
  ])
  await expect(openGateway({ isIntrospectable: false, sourceOf, entitySeconds })).rejects.toThrow(
    'POLYGRAPH_ENTITY_CACHE: there is no type Nothing',
  )
})
