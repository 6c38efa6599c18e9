// What the tests of stores send again and again.
import { createHash, createHmac } from 'node:crypto'
import type { SendOptions, TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'

export const VERSION = 'api-version=2019-11-01-preview'
export const AREA = 'providers/Vendor.AppConfiguration'
export const ALL = `/subscriptions/${SUBSCRIPTION}/${AREA}/configurationStores`
export const GROUP = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Apps`
export const MANY = `${GROUP}/${AREA}/configurationStores`

/** How long a new store takes until it is Succeeded, a changed one, and an old one until it is gone. */
export const READY_MS = 1_000
export const GONE_MS = 1_000

export const idOf = (name: string) => `${MANY}/${name}`
export const one = (name: string) => `${idOf(name)}?${VERSION}`
export const action = (name: string, verb: string) => `${idOf(name)}/${verb}?${VERSION}`

/** The least that a store needs. */
export const PLAIN = { location: 'westus', sku: { name: 'Standard' } }

export const ENDPOINT = `${GROUP}/providers/Vendor.Network/privateEndpoints/entry`

export async function putReady(service: TestService, name: string, body: object = PLAIN) {
  await service.rest(`PUT ${one(name)}`, body)
  await service.advance(READY_MS)
}

/** Follows an absolute link unchanged, as clients do. */
export function follow(service: TestService, link: string | undefined) {
  const { pathname, search } = new URL(link!)
  return service.rest(`GET ${pathname}${search}`)
}

const SET = `mutation ($id: ID!, $key: String!, $label: String, $value: String!, $contentType: String,
  $tags: JSONObject, $ifMatch: String) {
  set: setKeyValue(configStoreId: $id, key: $key, label: $label, value: $value,
    contentType: $contentType, tags: $tags, ifMatch: $ifMatch) {
    key label value contentType tags locked lastModified eTag } }`

/** Sets a key-value of a store, as its owner does. */
export async function set(service: TestService, store: string, setting: object) {
  const { data, errors } = await service.graphql(SET, { id: idOf(store), ...setting })
  if (errors) throw new Error(errors[0].message)
  return data.set
}

const BATCH = 50

/** Sets as many key-values as there are names, fifty in a request. */
export async function setMany(
  service: TestService,
  store: string,
  settings: readonly { key: string; label?: string }[],
) {
  for (let from = 0; from < settings.length; from += BATCH) {
    const batch = settings.slice(from, from + BATCH)
    const variables: Record<string, unknown> = { id: idOf(store) }
    for (const [n, { key, label }] of batch.entries()) {
      variables[`key${n}`] = key
      variables[`label${n}`] = label
    }
    const declared = batch.map((_, n) => `$key${n}: String!, $label${n}: String`)
    const fields = batch.map(
      (_, n) =>
        `set${n}: setKeyValue(configStoreId: $id, key: $key${n}, label: $label${n}, value: "v") { key }`,
    )
    const { errors } = await service.graphql(
      `mutation ($id: ID!, ${declared.join(', ')}) { ${fields.join('\n')} }`,
      variables,
    )
    if (errors) throw new Error(errors[0].message)
  }
}

/** As many names as said, in the order of names. */
export const keysNamed = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ key: `${prefix}${String(n).padStart(4, '0')}` }))

export const trySet = (service: TestService, variables: object, options?: SendOptions) =>
  service.graphql(SET, { value: 'v', ...variables }, options)

export interface Key {
  readonly id: string
  readonly value: string
}

export async function keysOf(service: TestService, store: string) {
  const { body } = await service.rest(`POST ${action(store, 'ListKeys')}`)
  return body.value as (Key & Record<string, unknown>)[]
}

export const HOST = 'polygraph.test'

/** Signs as public clients of such stores do. */
export function signed(
  request: string,
  { id, value }: Key,
  date = 'Tue, 01 Jan 2030 00:00:01 GMT',
): Record<string, string> {
  const [method, url] = request.split(' ') as [string, string]
  const contentHash = createHash('sha256').update('').digest('base64')
  const signature = createHmac('sha256', Buffer.from(value, 'base64'))
    .update(`${method}\n${url}\n${date};${HOST};${contentHash}`)
    .digest('base64')
  return {
    host: HOST,
    'x-ms-date': date,
    'x-ms-content-sha256': contentHash,
    authorization: `HMAC-SHA256 Credential=${id}&SignedHeaders=x-ms-date;host;x-ms-content-sha256&Signature=${signature}`,
  }
}

/** Asks as a program that holds an access key. */
export const asProgram = (service: TestService, request: string, key: Key) =>
  service.rest(request, undefined, { credential: null, headers: signed(request, key) })
