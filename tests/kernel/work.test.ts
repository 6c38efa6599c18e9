import { describe, expect, test } from 'vitest'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import type { Context } from '../../resolvers/kernel/context.ts'
import {
  eventsMigration,
  openEvents,
  readEvents,
  sweepEvents,
} from '../../resolvers/kernel/events.ts'
import { idMaker } from '../../resolvers/kernel/ids.ts'
import { kind, type Store } from '../../resolvers/kernel/store.ts'
import { advanceTo, openWork, workMigration, type Step } from '../../resolvers/kernel/work.ts'
import { engines } from './engines.ts'

interface Note {
  readonly name: string
}

const notes = kind<Note>('note', { key: (note) => note.name })
const migrations = [{ set: 'kernel', list: [workMigration, eventsMigration] }]
const DAY_MS = 24 * 60 * 60_000

/** Work on a store, with a clock of its own; `steps` see the context as theirs. */
function workOn(store: Store, steps: Record<string, Step>) {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const failures: string[] = []
  const newId = idMaker(clock)
  const runner = openWork({
    store,
    clock,
    newId,
    steps,
    contextOf: () => ({ store, clock, work: runner }) as unknown as Context,
    onFailure: ({ step, isParked }) => failures.push(`${step}${isParked ? ' parked' : ''}`),
  })
  const advance = (ms: number) => advanceTo(new Date(clock.now().getTime() + ms), clock, [runner])
  return { runner, clock, failures, advance, newId }
}

describe.each(engines)('work on $engine', ({ database }) => {
  test('a step runs when its time has come, and not before', async () => {
    const store = await (await database()).open([notes], migrations)
    const ran: string[] = []
    const { runner, advance } = workOn(store, { ring: async ({ bell }) => void ran.push(bell) })
    await store.transaction((tx) => runner.later(tx, 1_000, 'ring', { bell: 'a' }))

    expect(await advance(999)).toBe(0)
    expect(ran).toEqual([])
    expect(await advance(1)).toBe(1)
    expect(ran).toEqual(['a'])
    expect(await runner.counts()).toEqual({ waiting: 0, parked: 0 })
  })

  test('steps of one moment run in the order in which they were stored', async () => {
    const store = await (await database()).open([notes], migrations)
    const ran: number[] = []
    const { runner, advance } = workOn(store, { count: async ({ n }) => void ran.push(n) })
    await store.transaction(async (tx) => {
      for (const n of [1, 2, 3, 4, 5]) await runner.later(tx, 10, 'count', { n })
    })

    await advance(10)

    expect(ran).toEqual([1, 2, 3, 4, 5])
  })

  test('a step that a failed transaction stored never runs', async () => {
    const store = await (await database()).open([notes], migrations)
    const ran: string[] = []
    const { runner, advance } = workOn(store, { ring: async () => void ran.push('rang') })
    const failing = store.transaction(async (tx) => {
      await tx.insert(notes, { name: 'a' })
      await runner.later(tx, 0, 'ring', {})
      throw new Error('changed my mind')
    })

    await expect(failing).rejects.toThrow('changed my mind')
    expect(await advance(DAY_MS)).toBe(0)
    expect(ran).toEqual([])
  })

  test('what a step stores for later runs at that moment, in one move of the clock', async () => {
    const store = await (await database()).open([notes], migrations)
    const seen: string[] = []
    const { runner, clock, advance } = workOn(store, {
      tick: async ({ left }, ctx) => {
        seen.push(clock.now().toISOString().slice(11, 19))
        if (left > 0) {
          await ctx.store.transaction((tx) =>
            ctx.work.later(tx, 60_000, 'tick', { left: left - 1 }),
          )
        }
      },
    })
    await store.transaction((tx) => runner.later(tx, 60_000, 'tick', { left: 2 }))

    await advance(DAY_MS)

    expect(seen).toEqual(['00:01:00', '00:02:00', '00:03:00'])
  })

  test('a step that fails is tried again later and later, and then parked for an operator', async () => {
    const store = await (await database()).open([notes], migrations)
    const at: number[] = []
    const { runner, clock, failures, advance } = workOn(store, {
      fail: async () => {
        at.push((clock.now().getTime() - Date.parse('2030-01-01T00:00:00Z')) / 1000)
        throw new Error('no')
      },
    })
    await store.transaction((tx) => runner.later(tx, 0, 'fail', { why: 'test' }))

    await advance(DAY_MS)

    expect(at).toEqual([0, 1, 3, 7, 15, 31, 63, 127])
    expect(failures).toEqual([...Array<string>(7).fill('fail'), 'fail parked'])
    expect(await runner.counts()).toEqual({ waiting: 0, parked: 1 })
    expect(await runner.parked()).toEqual([
      {
        id: expect.any(String),
        step: 'fail',
        input: { why: 'test' },
        attempts: 8,
        error: 'Error: no',
      },
    ])
  })

  test('a parked step runs again when it is told to, or is given up', async () => {
    const store = await (await database()).open([notes], migrations)
    let isBroken = true
    const { runner, advance } = workOn(store, {
      fail: async () => {
        if (isBroken) throw new Error('no')
      },
    })
    await store.transaction(async (tx) => {
      await runner.later(tx, 0, 'fail', {})
      await runner.later(tx, 0, 'fail', {})
    })
    await advance(DAY_MS)
    const [first, second] = await runner.parked()
    isBroken = false

    expect(await runner.retry(first!.id)).toBe(true)
    expect(await runner.discard(second!.id)).toBe(true)
    expect(await runner.discard(second!.id)).toBe(false)
    expect(await advance(0)).toBe(1)
    expect(await runner.counts()).toEqual({ waiting: 0, parked: 0 })
  })

  test('two runners on one store never run a step twice', async () => {
    const store = await (await database()).open([notes], migrations)
    const ran: number[] = []
    const steps = { count: async ({ n }: { n: number }) => void ran.push(n) }
    const one = workOn(store, steps)
    const two = workOn(store, steps)
    await store.transaction(async (tx) => {
      for (let n = 0; n < 40; n += 1) await one.runner.later(tx, 0, 'count', { n })
    })

    await Promise.all([one.runner.runDue(), two.runner.runDue()])

    expect(ran.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, n) => n))
  })

  test('a step whose runner died runs again when the lease has run out', async () => {
    const store = await (await database()).open([notes], migrations)
    let runs = 0
    const { runner, advance } = workOn(store, { ring: async () => void (runs += 1) })
    await store.transaction((tx) => runner.later(tx, 0, 'ring', {}))
    // What a runner that died a moment ago leaves behind.
    const leasedUntil = Date.parse('2030-01-01T00:01:00Z')
    await store.sql('UPDATE work SET leased_until = ?, attempts = 1', [leasedUntil])

    expect(await advance(59_000)).toBe(0)
    expect(await advance(1_000)).toBe(1)
    expect(runs).toBe(1)
  })

  test('what a step stores for its own moment runs after what waits already', async () => {
    const store = await (await database()).open([notes], migrations)
    const ran: string[] = []
    const { runner, advance } = workOn(store, {
      first: async (_, ctx) => {
        ran.push('first')
        await ctx.store.transaction((tx) => ctx.work.later(tx, 0, 'third', {}))
      },
      second: async () => void ran.push('second'),
      third: async () => void ran.push('third'),
    })
    await store.transaction(async (tx) => {
      await runner.later(tx, 0, 'first', {})
      await runner.later(tx, 0, 'second', {})
    })

    expect(await advance(0)).toBe(3)
    expect(ran).toEqual(['first', 'second', 'third'])
    expect(await runner.counts()).toEqual({ waiting: 0, parked: 0 })
  })

  test('a step that waited in its batch until another runner took it is left to that one', async () => {
    const store = await (await database()).open([notes], migrations)
    const ran: string[] = []
    let isFirst = true
    const steps = (name: string): Record<string, Step> => ({
      slow: async () => {
        if (!isFirst) return
        isFirst = false
        for (const { clock } of [one, two]) clock.moveTo(new Date('2030-01-01T00:01:01Z'))
        await two.runner.runDue()
      },
      count: async () => void ran.push(name),
    })
    const one = workOn(store, steps('one'))
    const two = workOn(store, steps('two'))
    await store.transaction(async (tx) => {
      await one.runner.later(tx, 0, 'slow', {})
      await one.runner.later(tx, 0, 'count', {})
    })

    await one.runner.runDue()

    expect(ran).toEqual(['two'])
    expect(await one.runner.counts()).toEqual({ waiting: 0, parked: 0 })
  })

  test('a step that waited in its batch for half its lease is renewed and runs once', async () => {
    const store = await (await database()).open([notes], migrations)
    const ran: string[] = []
    const steps = (name: string): Record<string, Step> => ({
      slow: async () => {
        for (const { clock } of [one, two]) clock.moveTo(new Date('2030-01-01T00:00:45Z'))
      },
      long: async () => {
        for (const { clock } of [one, two]) clock.moveTo(new Date('2030-01-01T00:01:20Z'))
        // The lease of the batch has run out; that of this step was renewed.
        await two.runner.runDue()
        ran.push(name)
      },
    })
    const one = workOn(store, steps('one'))
    const two = workOn(store, steps('two'))
    await store.transaction(async (tx) => {
      await one.runner.later(tx, 0, 'slow', {})
      await one.runner.later(tx, 0, 'long', {})
    })

    await one.runner.runDue()

    expect(ran).toEqual(['one'])
  })

  test('background runs finish what is due and stop when they are told to', async () => {
    const store = await (await database()).open([notes], migrations)
    const rang = Promise.withResolvers<void>()
    const { runner } = workOn(store, { ring: async () => rang.resolve() })

    runner.start()
    await store.transaction((tx) => runner.later(tx, 0, 'ring', {}))
    await rang.promise
    await runner.stop()

    expect(await runner.counts()).toEqual({ waiting: 0, parked: 0 })
  })
})

/** PostgreSQL shows events when every transaction that began before has ended, also those of others. */
async function settledEvents(store: Store, count: number) {
  const read = () => readEvents(store, { after: 0, limit: 10 })
  await expect.poll(read, { timeout: 10_000 }).toHaveLength(count)
  return read()
}

describe.each(engines)('events on $engine', ({ database }) => {
  test('an event exists if and only if what it announces happened', async () => {
    const store = await (await database()).open([notes], migrations)
    const { runner, clock, newId } = workOn(store, {})
    const events = openEvents({ clock, newId, work: runner, listeners: {} })
    const announcement = { type: 'note.made', subject: 'a', body: { name: 'a' } }
    await store
      .transaction(async (tx) => {
        await events.announce(tx, announcement)
        throw new Error('no')
      })
      .catch(() => {})
    expect(await readEvents(store, { after: 0, limit: 10 })).toEqual([])

    await store.transaction((tx) => events.announce(tx, announcement))

    const [event] = await settledEvents(store, 1)
    expect(event).toMatchObject({ ...announcement, time: '2030-01-01T00:00:00.000Z' })
    expect(await readEvents(store, { after: event!.number, limit: 10 })).toEqual([])
  })

  test('a listener is called for its type alone, after the transaction', async () => {
    const store = await (await database()).open([notes], migrations)
    const heard: string[] = []
    const { runner, clock, newId, advance } = workOn(store, {
      'listen to note.made': async (event) => void heard.push(event.subject),
    })
    const events = openEvents({
      clock,
      newId,
      work: runner,
      listeners: { 'note.made': async () => {} },
    })

    await store.transaction(async (tx) => {
      await events.announce(tx, { type: 'note.made', subject: 'a', body: {} })
      await events.announce(tx, { type: 'note.lost', subject: 'b', body: {} })
    })
    await advance(0)

    expect(heard).toEqual(['a'])
  })

  test('events are forgotten after thirty days', async () => {
    const store = await (await database()).open([notes], migrations)
    const { runner, clock, newId } = workOn(store, {})
    const events = openEvents({ clock, newId, work: runner, listeners: {} })
    await store.transaction((tx) => events.announce(tx, { type: 't', subject: 'old', body: {} }))
    clock.moveTo(new Date('2030-01-31T00:00:01Z'))
    await store.transaction((tx) => events.announce(tx, { type: 't', subject: 'new', body: {} }))

    await sweepEvents(store, clock)

    const left = await settledEvents(store, 1)
    expect(left.map(({ subject }) => subject)).toEqual(['new'])
  })
})
