// How often a key may ask.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite } from '../../resolvers/kernel/store-sqlite.ts'
import { subgraph } from '../../subgraphs/podcasts.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { testFolder } from '../kernel/engines.ts'
import type { TestService } from '../open.ts'
import { admin, API, DAY_MS, openDirectory } from './directory.ts'

const limit = (service: TestService, monthly: number, keyId = 'alice-credential') =>
  service.graphqlAs(
    admin,
    'mutation ($keyId: String!, $monthly: Int!) { setPodcastQuota(keyId: $keyId, monthly: $monthly) { keyId monthly } }',
    { keyId, monthly },
  )
const ask = (service: TestService) => service.rest(`GET ${API}/languages`)

async function openOn(file: string) {
  const kinds = kindsOf(subgraph)
  const migrations = migrationsOf(subgraph)
  return openDirectory({
    store: await openSqlite({ file, kinds, migrations, synchronous: 'OFF' }),
  })
}

test('every answer tells what the key has used', async () => {
  const service = await openDirectory()

  const first = await ask(service)
  const second = await service.rest(`GET ${API}/podcasts/${'0'.repeat(32)}`)
  const third = await ask(service)
  const { data } = await service.graphql('{ podcastUsage { quota used nextBillingDate } }')

  expect(first.headers).toMatchObject({
    'x-vendor-api-freequota': '100000',
    'x-vendor-api-usage': '1',
    'x-vendor-api-nextbillingdate': '2030-02-01T00:00:00.000Z',
  })
  expect(Number(first.headers['x-vendor-api-latency-seconds'])).toBeGreaterThan(0)
  expect(second.status).toBe(404)
  expect(third.headers['x-vendor-api-usage']).toBe('3')
  expect(data.podcastUsage).toEqual({
    quota: 100000,
    used: 3,
    nextBillingDate: '2030-02-01T00:00:00.000Z',
  })
})

test('exactly as many requests are served as the quota says, also when they come together', async () => {
  const service = await openDirectory()
  await limit(service, 30)

  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(service)))

  const counts = answers.map(({ status }) => status)
  expect(counts.filter((status) => status === 200)).toHaveLength(30)
  expect(counts.filter((status) => status === 429)).toHaveLength(10)
  const refused = answers.find(({ status }) => status === 429)!
  expect(refused.headers).toMatchObject({
    'retry-after': String(31 * 24 * 3600),
    'x-vendor-api-freequota': '30',
    'x-vendor-api-usage': '30',
  })
  expect(refused.body.error).toContain('30 requests')
})

test('both doors count, and the graph refuses by the same rule', async () => {
  const service = await openDirectory()
  await limit(service, 2)

  const { data } = await service.graphql('{ podcastLanguages podcastRegions { code } }')
  const rest = await ask(service)
  const { errors } = await service.graphql('{ podcastLanguages }')

  expect(data.podcastLanguages).toHaveLength(74)
  expect(rest.status).toBe(429)
  expect(errors![0].extensions).toMatchObject({ code: 'QuotaExceeded', status: 429 })
})

test('one key does not use up the quota of another', async () => {
  const service = await openDirectory()
  await limit(service, 1)
  await ask(service)

  const own = await ask(service)
  const other = await service.rest(`GET ${API}/languages`, undefined, { credential: 'bob' })

  expect([own.status, other.status]).toEqual([429, 200])
})

test('a new month begins anew, and old counts are forgotten', async () => {
  const service = await openDirectory()
  await limit(service, 1)
  await ask(service)

  const refused = await ask(service)
  await service.advance(31 * DAY_MS)
  const anew = await ask(service)
  await service.advance(90 * DAY_MS)
  await service.opened.sweep()

  expect([refused.status, anew.status]).toEqual([429, 200])
  expect(await service.store.sql('SELECT period FROM key_usage')).toEqual([])
})

test('a greater quota takes effect', async () => {
  const service = await openDirectory()
  await limit(service, 0)

  const refused = await ask(service)
  await limit(service, 1)
  const served = await ask(service)

  expect([refused.status, served.status]).toEqual([429, 200])
})

test('what was used survives a restart', async () => {
  const file = join(await testFolder(), 'podcasts.db')
  const before = await openOn(file)
  await limit(before, 10)
  for (let at = 0; at < 6; at += 1) await ask(before)
  await before.opened.close()

  const after = await openOn(file)
  const statuses: number[] = []
  for (let at = 0; at < 5; at += 1) statuses.push((await ask(after)).status)

  expect(statuses).toEqual([200, 200, 200, 200, 429])
})

test('processes together serve no more than the quota', async () => {
  const file = join(await testFolder(), 'podcasts.db')
  const one = await openOn(file)
  await limit(one, 50)
  const two = await openOn(file)

  const statuses: number[] = []
  for (let at = 0; at < 40; at += 1) {
    statuses.push((await ask(one)).status, (await ask(two)).status)
  }

  expect(statuses.filter((status) => status === 200)).toHaveLength(50)
})

test('few requests wait for a commit', async () => {
  const service = await openDirectory()
  await ask(service)
  const before = service.store.stats().commits

  for (let at = 0; at < 99; at += 1) await ask(service)

  expect(service.store.stats().commits - before).toBe(0)
})

test('only administrators set quotas, and none below nothing', async () => {
  const service = await openDirectory()

  const refused = await service.graphql(
    'mutation { setPodcastQuota(keyId: "alice-credential", monthly: 1) { monthly } }',
  )
  const wrong = await limit(service, -1)

  expect(refused.errors![0].extensions.code).toBe('Forbidden')
  expect(wrong.errors![0].extensions.code).toBe('Invalid')
})
