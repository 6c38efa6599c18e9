// What the tests of databases send again and again.
import { expect } from 'vitest'
import { subgraph } from '../../subgraphs/sql-db.ts'
import { openForTest, type OpenOptions, type SendOptions, type TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'

export const VERSION = 'api-version=2017-10-01-preview'
export const GROUP = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Shop`
export const SERVERS = `${GROUP}/providers/Vendor.Sql/servers`
export const SERVER = `${SERVERS}/main`
export const MANY = `${SERVER}/databases`
export const POOL = `${SERVER}/elasticPools/pool`

/** How long a change takes that is answered with 202. */
export const CHANGE_MS = 1_000
export const DAY_MS = 24 * 60 * 60 * 1000

export const one = (name: string, action = '', server = 'main') =>
  `${SERVERS}/${server}/databases/${name}${action && `/${action}`}?${VERSION}`

/** The least that a database needs. */
export const PLAIN = { location: 'westus' }
export const WAREHOUSE = { ...PLAIN, sku: { name: 'DW100' } }

const PLACE = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop"`

/** A service with a server called main, and a pool on it. */
export async function openShop(options: OpenOptions = {}) {
  const service = await openForTest(subgraph, options)
  await putServer(service, 'main')
  await putPool(service, 'pool')
  return service
}

export async function putServer(service: TestService, name: string, location = 'westus') {
  const { errors } = await service.graphql(
    `mutation { putSqlServer(${PLACE}, serverName: "${name}", parameters: { location: "${location}" }) { id } }`,
  )
  expect(errors).toBeUndefined()
}

export async function putPool(
  service: TestService,
  name: string,
  sku = '{ name: "StandardPool" }',
) {
  const { errors } = await service.graphql(
    `mutation { putElasticPool(${PLACE}, serverName: "main", elasticPoolName: "${name}",
      parameters: { location: "westus", sku: ${sku} }) { id } }`,
  )
  expect(errors).toBeUndefined()
}

/** Puts a database and waits until it is ready. */
export async function putReady(
  service: TestService,
  name: string,
  body: object = PLAIN,
  server = 'main',
) {
  const answer = await service.rest(`PUT ${one(name, '', server)}`, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  await service.advance(CHANGE_MS)
  return (await service.rest(`GET ${one(name, '', server)}`)).body
}

/** Follows an absolute link unchanged, as clients do. */
export function follow(service: TestService, link: string | undefined) {
  const { pathname, search } = new URL(link!)
  return service.rest(`GET ${pathname}${search}`)
}

export const EXECUTE = `mutation ($id: ID!, $sql: String!, $parameters: JSON) {
  executeSql(id: $id, sql: $sql, parameters: $parameters) {
    results { columns { name type } rows hasMoreRows changes } contentVersion sizeBytes } }`

/** The answer as the graph gives it, refusals included. */
export const ask = (
  service: TestService,
  name: string,
  sql: string,
  {
    parameters,
    server = 'main',
    ...options
  }: { parameters?: unknown; server?: string } & SendOptions = {},
) =>
  service.graphql(
    EXECUTE,
    {
      id: `${SERVERS}/${server}/databases/${name}`,
      sql,
      ...(parameters !== undefined && { parameters }),
    },
    options,
  )

/** The rows of the last statement. */
export async function rowsOf(service: TestService, name: string, sql: string, server = 'main') {
  const { data, errors } = await ask(service, name, sql, { server })
  expect(errors).toBeUndefined()
  return data.executeSql.results.at(-1).rows
}

/** Makes a table of words, with a first one in it. */
export const fill = (service: TestService, name: string, word = 'first') =>
  rowsOf(service, name, `CREATE TABLE word (text TEXT); INSERT INTO word VALUES ('${word}')`)

export const add = (service: TestService, name: string, word: string) =>
  rowsOf(service, name, `INSERT INTO word VALUES ('${word}')`)

export const wordsOf = async (service: TestService, name: string, server = 'main') =>
  (await rowsOf(service, name, 'SELECT text FROM word ORDER BY rowid', server)).flat()

/** What a refusal was: its status and its code. */
export const refusal = ({ status, body }: { status: number; body: any }) => [
  status,
  body?.error?.code,
]
export const graphRefusal = ({ errors }: { errors?: any[] }) => [
  errors?.[0].extensions.status,
  errors?.[0].extensions.code,
]
