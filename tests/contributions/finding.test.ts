// What a list costs: which index answers, and where a page begins.
import { describe, expect, test } from 'vitest'
import { driversOf } from '../../resolvers/contributions/conditions.ts'
import type { Filter } from '../../resolvers/contributions/filters.ts'
import { sourceOf } from '../../resolvers/contributions/sources.ts'
import { dropLine } from '../../resolvers/contributions/lines.ts'
import {
  completePlace,
  pointOf,
  rangesOver,
  vectorOf,
} from '../../resolvers/contributions/places.ts'
import { contributions, type Contribution } from '../../resolvers/contributions/records.ts'
import type { TestService } from '../open.ts'
import { people } from '../people.ts'
import { contribute, onEngines } from './scene.ts'
import { fillStore } from './volume.ts'

const LINES = 3_000
const SECOND_MS = 1_000

/** Pseudo-random numbers below 1: the same in every run. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Public contributions all over the world, a second apart, every third of bob. */
async function fill(service: TestService, total = LINES): Promise<Contribution[]> {
  const random = generator(7)
  const startMs = service.clock.now().getTime()
  const all: Contribution[] = []
  for (let n = 0; n < total; n += 1) {
    const latLong = { latitude: random() * 180 - 90, longitude: random() * 360 - 180 }
    all.push({
      id: `c${String(n).padStart(6, '0')}`,
      user: n % 3 === 0 ? 'bob' : 'carol',
      owner: 'alice',
      headline: `Number ${n}`,
      isAnonymous: false,
      urlWords: `number-${n}`,
      created: new Date(startMs + n * SECOND_MS).toISOString(),
      place: await completePlace({ latLong }),
      media: [],
      tags: [],
      state: 'approved',
      history: [],
      likes: 0,
    })
  }
  const now = new Date(startMs + total * SECOND_MS)
  await fillStore(service.store, { total, contributionAt: (n) => all[n]!, now })
  return all
}

async function planOf(service: TestService, text: string, values: readonly any[]): Promise<string> {
  const explain = service.store.engine === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN'
  const rows = await service.store.sql(`${explain} ${text}`, values)
  return rows.map((row) => row['detail'] ?? row['QUERY PLAN']).join('\n')
}

describe.each(onEngines)('finding on $engine', ({ open }) => {
  test('circles and cells are answered by the index of places, page by page by that of the order', async () => {
    const service = await open()
    await fill(service)
    const ctx = service.opened.contextFor(people.bob, { address: '', headers: {} })
    const near: Filter = {
      seesAll: false,
      near: { latitude: 52.5, longitude: 13.4, radiusKm: 300 },
    }
    const cells: Filter = { seesAll: false, geohashes: ['u33', 'u09'] }

    for (const filter of [near, cells]) {
      const [driver] = await driversOf(filter)
      const candidates = await planOf(service, driver!.text, driver!.values)
      const { text, values } = await sourceOf(filter, ctx)
      const page = await planOf(
        service,
        `SELECT l.id FROM ${text} ORDER BY l.created_ms DESC, l.id DESC LIMIT 25`,
        values,
      )

      expect(candidates).toContain('contribution_by_place')
      expect(page).toContain('contribution_by_place')
      expect(candidates + page).not.toMatch(/SCAN contribution_line|Seq Scan on contribution_line/)
    }
    const { text, values } = await sourceOf({ seesAll: false }, ctx)
    const walk = await planOf(
      service,
      `SELECT l.id FROM ${text} ORDER BY l.created_ms DESC, l.id DESC LIMIT 25`,
      values,
    )
    expect(walk).toMatch(/contribution_by_(public|all)/)
    expect(walk).not.toMatch(/TEMP B-TREE|Sort/)
  })

  test('a circle holds what is near and nothing else, also at the poles and where the day changes', async () => {
    const service = await open()
    const all = await fill(service, 1_000)
    const circles = [
      { latitude: 52.5, longitude: 13.4, radiusKm: 1_500 },
      { latitude: 89, longitude: 20, radiusKm: 2_000 },
      { latitude: -90, longitude: 0, radiusKm: 1_000 },
      { latitude: 0, longitude: 179.9, radiusKm: 1_500 },
      { latitude: 10, longitude: -179.5, radiusKm: 3_000 },
      { latitude: 30, longitude: 90, radiusKm: 12_000 },
    ]

    for (const { latitude, longitude, radiusKm } of circles) {
      const found = new Set<string>()
      for (let page = 1; ; page += 1) {
        const { body } = await service.rest(
          `GET /1/contributions?latLong=${latitude},${longitude}&radius=${radiusKm}&pageSize=100&page=${page}`,
        )
        for (const { id } of body) found.add(id)
        if (body.length < 100) break
      }
      const expected = all.filter(
        ({ place }) => haversineKm({ latitude, longitude }, place!.latLong!) <= radiusKm,
      )
      expect(expected.length).toBeGreaterThan(5)
      expect(found).toEqual(new Set(expected.map(({ id }) => id)))
    }
  })

  test('filters that fit more than two thousand are checked on the way through the list', async () => {
    const service = await open()
    const all = await fill(service)
    const centre = { latitude: 30, longitude: 90 }
    const expected = all
      .toReversed()
      .filter(({ place }) => haversineKm(centre, place!.latLong!) <= 15_000)
    const east = all.toReversed().filter(({ place }) => /^[8-9b-z]/.test(place!.geohash!))

    const near = await service.rest(
      'GET /1/contributions?latLong=30,90&radius=15000&q=number&page=2&pageSize=20',
    )
    const cells = await service.rest(
      `GET /1/contributions?geohash=${[...'89bcdefghjkmnpqrstuvwxyz'].join(',')}&pageSize=20`,
    )

    expect(expected.length).toBeGreaterThan(2_000)
    expect(near.body.map(({ id }: any) => id)).toEqual(expected.slice(20, 40).map(({ id }) => id))
    expect(near.headers['x-total-count']).toBe(String(expected.length))
    expect(east.length).toBeGreaterThan(2_000)
    expect(cells.body.map(({ id }: any) => id)).toEqual(east.slice(0, 20).map(({ id }) => id))
  })

  test('a deep page begins in its bucket, and holds what a walk would find, also after deletions', async () => {
    const service = await open()
    const all = await fill(service)
    const [buckets] = await service.store.sql('SELECT count(*) AS n FROM contribution_bucket')
    const gone = new Set(all.filter((_, n) => n % 37 === 0).map(({ id }) => id))
    await service.store.transaction(async (tx) => {
      for (const contribution of all.filter(({ id }) => gone.has(id))) {
        await dropLine(tx, contribution)
        await tx.remove(contributions, contribution.id)
      }
    })
    const left = all.filter(({ id }) => !gone.has(id)).toReversed()
    const ofBob = left.filter(({ user }) => user === 'bob')
    const ids = (from: readonly Contribution[], page: number) =>
      from.slice((page - 1) * 20, page * 20).map(({ id }) => id)

    for (const page of [1, 40, 80, 146, 147]) {
      const answer = await service.rest(`GET /1/contributions?page=${page}&pageSize=20`)
      expect(answer.body.map(({ id }: any) => id)).toEqual(ids(left, page))
      expect(answer.headers['x-total-count']).toBe(String(left.length))
    }
    for (const page of [1, 30, 49]) {
      const answer = await service.rest(`GET /1/contributions?user=bob&page=${page}&pageSize=20`)
      expect(answer.body.map(({ id }: any) => id)).toEqual(ids(ofBob, page))
    }
    expect(buckets!.n).toBe(3)
  })

  test('what is contributed when a bucket is full begins the next one', async () => {
    const service = await open()
    await fill(service, 1_000)
    await service.advance(1_000 * SECOND_MS)
    const id = await contribute(service)

    const [line] = await service.store.sql('SELECT bucket FROM contribution_line WHERE id = ?', [
      id,
    ])
    const first = await service.rest('GET /1/contributions?user=bob&pageSize=2', undefined, {
      credential: 'bob',
    })

    expect(line!.bucket).toBe(1)
    expect(first.body.map((one: any) => one.id)).toEqual([id, 'c000999'])
  })
})

/** Kilometres along the sphere, by the formula that the service does not use. */
function haversineKm(a: { latitude: number; longitude: number }, b: typeof a): number {
  const radians = Math.PI / 180
  const half = (angle: number) => Math.sin((angle * radians) / 2) ** 2
  const square =
    half(b.latitude - a.latitude) +
    Math.cos(a.latitude * radians) *
      Math.cos(b.latitude * radians) *
      half(b.longitude - a.longitude)
  return 2 * 6371.0088 * Math.asin(Math.min(1, Math.sqrt(square)))
}

test('a small circle is covered by few cells, and a point by itself', async () => {
  const ranges = await rangesOver({ latitude: 52.5, longitude: 13.4, radiusKm: 1 })
  const point = await pointOf({ geohash: 'u33d' })

  expect(ranges.length).toBeLessThanOrEqual(32)
  expect(ranges.every(({ from }) => from.startsWith('u33d'))).toBe(true)
  expect(point).toMatchObject({ geohashChars: 4 })
  expect(point!.geohash.startsWith('u33d')).toBe(true)
  expect(vectorOf({ latitude: 90, longitude: 0 }).z).toBe(1)
})
