// What a program reads of its store, and a person of theirs: key-values by filter, and one by name.
// Specification 3, service C; the two paths are those of the interface that such stores have beside it.
//
// Chosen: api-version is not looked at here, since clients of all versions read these two alike.
import { armKey } from '../families/arm.ts'
import { linkTo, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { Invalid, Unauthenticated } from '../kernel/fault.ts'
import { get, operation, perform, reply, type Reply } from '../kernel/operation.ts'
import { connection, paging, type Connection } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { positionOf } from '../kernel/store.ts'
import { accessKeyWith } from './access-keys.ts'
import { refuseInput } from './errors.ts'
import { listFiltered, type Filter } from './key-value-filters.ts'
import { findKeyValue } from './key-values.ts'
import {
  checkStays,
  findStoreById,
  keyValues,
  storeAt,
  type ConfigStore,
  type KeyValue,
} from './records.ts'
import {
  filterOfValue,
  keyOfValue,
  labelOfValue,
  settingAnswer,
  settingListAnswer,
} from './shapes.ts'
import { accessKeyScheme, shownKeyOf } from './signatures.ts'

const MANY = '/kv'
const PAGE_MAX = 100
/** A program wants all there is, a person has a first look. */
const PAGE_OF_PROGRAM = 100
const PAGE_OF_PERSON = 25

const media = (of: 'kv' | 'kvset') => ({
  'content-type': `application/vnd.vendor.appconfig.${of}+json; charset=utf-8`,
})

/** A person names the store; a program shows an access key of it. */
const where = { configStoreId: optional(text) }
const many = { ...where, key: filterOfValue, label: filterOfValue, ...paging }
const own = { scheme: accessKeyScheme, isBeyond: true }

export const operations = [
  operation({
    name: 'configKeyValues',
    rest: get(MANY, { ...own, answer: settingListAnswer, show: showSettings }),
    input: many,
    run: listKeyValues,
  }),
  operation({
    name: 'configKeyValue',
    rest: get(`${MANY}/{key+}`, {
      ...own,
      status: [200, 304],
      answer: settingAnswer,
      show: showSetting,
    }),
    input: { ...where, key: keyOfValue, label: labelOfValue },
    run: readOne,
  }),
]

async function listKeyValues(input: Input, ctx: Context) {
  const store = await storeMeant(input, ctx)
  const isProgram = shownKeyOf(ctx.caller) !== undefined
  const { key, label, first = isProgram ? PAGE_OF_PROGRAM : PAGE_OF_PERSON, after } = input
  const page = await connectFiltered(store, { key, label }, { first, after }, ctx)
  const { hasNextPage, endCursor } = page.pageInfo
  if (!hasNextPage) return reply(200, page, media('kvset'))
  // Clients look for `after` in the link as if it were a bare query, and miss what comes first in it.
  const query = { first, key, label, after: endCursor }
  const nextLink = linkTo(ctx, { path: MANY, input: {}, query })
  const link = `<${nextLink}>; rel="next"`
  return reply(200, { ...page, nextLink }, { ...media('kvset'), link })
}

async function readOne(input: Input, ctx: Context) {
  const { key, label } = input
  const store = await storeMeant(input, ctx)
  const found = await findKeyValue({ store, key, label }, ctx.store)
  const headers = {
    etag: `"${found.eTag}"`,
    'last-modified': new Date(found.lastModified).toUTCString(),
  }
  const isKnown = ctx.headers['if-none-match'] === headers.etag
  if (isKnown && shownKeyOf(ctx.caller) !== undefined) return reply(304, null, headers)
  return reply(200, found, { ...media('kv'), ...headers })
}

/** The key of the store that the caller means. */
async function storeMeant({ configStoreId }: Input, ctx: Context): Promise<string> {
  const keyId = shownKeyOf(ctx.caller)
  const store = await (keyId === undefined ? storeOfPerson() : storeOfProgram(keyId))
  checkStays(store)
  return armKey(store)

  async function storeOfPerson(): Promise<ConfigStore> {
    if (configStoreId === undefined) throw refuseInput('configStoreId', 'is required')
    return findStoreById(configStoreId, ctx)
  }

  async function storeOfProgram(keyId: string): Promise<ConfigStore> {
    const key = await accessKeyWith(keyId, ctx)
    // The store went while the program was being recognised.
    if (!key) throw Unauthenticated('The access key opens nothing any more.')
    return storeAt(key.store, ctx.store)
  }
}

/** The key-values of one store that the graph shows, by the rules of the operation. */
export async function keyValuesOf({ id }: ConfigStore, args: object, ctx: Context) {
  const [list] = operations
  const answer = await perform(list!, { ...args, configStoreId: id }, ctx)
  return (answer as Reply).result
}

function showSettings({ nodes, nextLink }: Connection<KeyValue> & { nextLink?: string }) {
  return { items: nodes.map(showSetting), '@nextLink': nextLink }
}

/** In the spelling of that interface. */
function showSetting(keyValue: KeyValue) {
  const { eTag, key, label, contentType, value, lastModified, locked, tags } = keyValue
  return {
    etag: eTag,
    key,
    label: label ?? null,
    content_type: contentType ?? null,
    value,
    last_modified: lastModified,
    locked,
    tags: tags ?? {},
  }
}

/** One page of key-values as a connection. */
async function connectFiltered(
  store: string,
  filter: Filter,
  { first, after }: { first: number; after: string | undefined },
  ctx: Context,
): Promise<Connection<KeyValue>> {
  if (first < 1 || first > PAGE_MAX) throw Invalid(`first must be between 1 and ${PAGE_MAX}.`)
  const list = JSON.stringify([keyValues.name, store, filter])
  const { items, next } = await listFiltered(
    store,
    filter,
    { limit: first, after: after === undefined ? undefined : ctx.cursors.open(list, after) },
    ctx,
  )
  const page = connection(items, next !== undefined, (item) =>
    ctx.cursors.seal(list, positionOf(keyValues, item)),
  )
  if (next === undefined) return page
  // A short page ends where the looking ended, which may be after its last item.
  return { ...page, pageInfo: { hasNextPage: true, endCursor: ctx.cursors.seal(list, next) } }
}
