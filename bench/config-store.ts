// A page in the middle of 1,000 stores, and of 1,000 key-values, against the first page of them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { stillClock } from '../resolvers/kernel/clock.ts'
import { noGraph } from '../resolvers/kernel/graph.ts'
import { closedOutbound } from '../resolvers/kernel/outbound.ts'
import { openSecrets } from '../resolvers/kernel/secrets.ts'
import { openSqlite } from '../resolvers/kernel/store-sqlite.ts'
import { subgraph } from '../subgraphs/config-store.ts'
import { kindsOf, migrationsOf, open } from '../subgraphs/server/open.ts'
import { openTelemetry } from '../subgraphs/server/telemetry.ts'
import { askAs } from '../gateway/ask-as.ts'
import { people, SUBSCRIPTION, testCredentials, tokenOf } from '../tests/people.ts'
import { compare, processorTime } from './measure.ts'

const ROUNDS = 9
const CALLS = 40
const RECORDS = 1_000
/** Of ten pages. */
const MIDDLE = 5
const AREA = `/subscriptions/${SUBSCRIPTION}/resourceGroups/bench/providers/Vendor.AppConfiguration`
const VERSION = `api-version=${subgraph.version}`
const HEADERS = { authorization: `Bearer ${tokenOf('alice')}`, 'content-type': 'application/json' }

export async function benchConfigStore(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  const service = await openService(join(folder, 'config-store.db'))
  const { stores, keyValues } = await fill(service)
  const shared = { atMost: 1.5, rounds: ROUNDS, unit: 'µs of processor time' }
  const results = [
    await compare({
      ...shared,
      title: `page ${MIDDLE} of ${RECORDS} stores by REST against page 1`,
      ours: () => processorTime(stores.middle, CALLS),
      theirs: () => processorTime(stores.first, CALLS),
    }),
    await compare({
      ...shared,
      title: `page ${MIDDLE} of ${RECORDS} key-values in the graph against page 1`,
      ours: () => processorTime(keyValues.middle, CALLS),
      theirs: () => processorTime(keyValues.first, CALLS),
    }),
  ]
  await service.close()
  await rm(folder, { recursive: true, force: true })
  return results.every(Boolean)
}

type Service = Awaited<ReturnType<typeof openService>>

async function openService(file: string) {
  const store = await openSqlite({
    file,
    kinds: kindsOf(subgraph),
    migrations: migrationsOf(subgraph),
  })
  const clock = stillClock('2030-01-01T00:00:00Z')
  return open(subgraph, {
    store,
    clock,
    wallClock: clock,
    credentials: testCredentials,
    telemetry: openTelemetry(pino({ level: 'silent' })),
    outbound: closedOutbound,
    graph: noGraph,
    cursorKey: Buffer.alloc(32, 7),
    secrets: openSecrets(Buffer.alloc(32, 9)),
  })
}

async function fill(service: Service) {
  const get = async (url: string) => (await service.rest.inject({ url, headers: HEADERS })).json()
  const ask = askAs(service, people.alice)
  const payload = { location: 'westus', sku: { name: 'Standard' } }
  const names = Array.from({ length: RECORDS }, (_, n) => `store-${String(n).padStart(4, '0')}`)
  for (const name of names) {
    const url = `${AREA}/configurationStores/${name}?${VERSION}`
    const { statusCode } = await service.rest.inject({
      method: 'PUT',
      url,
      headers: HEADERS,
      payload,
    })
    if (statusCode !== 201) throw new Error(`${url} answered ${statusCode}`)
  }
  const id = `${AREA}/configurationStores/${names[0]}`
  for (const key of names) {
    await ask(
      'mutation ($id: ID!, $key: String!) { setKeyValue(configStoreId: $id, key: $key, value: "v") { eTag } }',
      { id, key },
    )
  }
  const first = `${AREA}/configurationStores?${VERSION}`
  let link = first
  for (let page = 1; page < MIDDLE; page += 1) {
    const { pathname, search } = new URL((await get(link)).nextLink)
    link = pathname + search
  }
  const page = (after?: string) =>
    ask(
      `query ($id: ID!, $after: String) { configKeyValues(configStoreId: $id, first: 100, after: $after) {
        nodes { key value } pageInfo { endCursor } } }`,
      { id, after },
    )
  let after: string | undefined
  for (let n = 1; n < MIDDLE; n += 1) after = (await page(after)).configKeyValues.pageInfo.endCursor
  return {
    stores: { first: () => get(first), middle: () => get(link) },
    keyValues: { first: () => page(), middle: () => page(after) },
  }
}

if (import.meta.main) process.exit((await benchConfigStore()) ? 0 : 1)
