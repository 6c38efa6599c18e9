// Access keys: two pairs, to write and to read, by which programs open a store. Specification 3,
// service C.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { armKey } from '../families/arm.ts'
import { ResourceNotFound } from '../families/arm-errors.ts'
import { openToken } from '../families/arm-lists.ts'
import { group, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { accessKeyAt, accessKeys, checkStays, findStore, ONE, type AccessKey } from './records.ts'
import { keyAnswer, keyListAnswer, storeName } from './shapes.ts'

const LIST = `${ONE}/ListKeys`
const SECRET_BYTES = 32

/** Which keys a store has, in the order of their places. */
const KEYS = [
  { name: 'Primary', readOnly: false },
  { name: 'Secondary', readOnly: false },
  { name: 'Primary Read Only', readOnly: true },
  { name: 'Secondary Read Only', readOnly: true },
]

/** A key as its owner sees it. */
export interface ShownKey extends Pick<AccessKey, 'id' | 'name' | 'lastModified' | 'readOnly'> {
  value: string
  connectionString: string
}

const key = { ...group, configStoreName: storeName }
const listed = { query: ['$skipToken'], answer: keyListAnswer }
const regenerated = { body: 'regenerateKeyParameters', answer: keyAnswer }

export const operations = [
  operation({
    name: 'configStoreKeys',
    rest: post(LIST, listed),
    input: { ...key, $skipToken: optional(text) },
    async run(input, ctx) {
      const store = await findStore(input, ctx)
      // All fit on one page, so that no token is of this list.
      if (input.$skipToken !== undefined) openToken(ctx, LIST, input.$skipToken)
      return { value: await keysOf(armKey(store), ctx) }
    },
  }),
  operation({
    name: 'regenerateConfigStoreKey',
    rest: post(`${ONE}/RegenerateKey`, regenerated),
    input: { ...key, regenerateKeyParameters: z.object({ id: text }) },
    run: regenerateKey,
  }),
]

export const kinds = [accessKeys]

/** The keys of a store that is the caller's. A store that is not ready yet has none. */
export async function keysOf(store: string, ctx: Context): Promise<ShownKey[]> {
  const kept = await Promise.all(
    KEYS.map((_, index) => load(ctx, accessKeys, accessKeyAt(store, index + 1))),
  )
  return kept.flatMap((key) => (key ? [showKey(key, ctx)] : []))
}

/** The key with this id, whoever shows it. */
export async function accessKeyWith(id: string, ctx: Context): Promise<AccessKey | undefined> {
  const { items } = await ctx.store.list(accessKeys, { where: { id }, limit: 1 })
  return items[0]
}

export const secretOf = ({ id, sealed }: AccessKey, ctx: Context): string =>
  ctx.secrets.open(sealed, aboutOf(id))

/** Makes the keys of a store, unless it has them. */
export async function ensureAccessKeys(store: string, tx: Records, ctx: Context): Promise<void> {
  const lastModified = ctx.clock.now().toISOString()
  for (const [index, key] of KEYS.entries()) {
    const id = ctx.newId()
    const sealed = sealNew(id, ctx)
    await tx.insert(accessKeys, { store, place: index + 1, id, ...key, lastModified, sealed })
  }
}

export async function removeAccessKeys(store: string, tx: Records): Promise<void> {
  for (const index of KEYS.keys()) await tx.remove(accessKeys, accessKeyAt(store, index + 1))
}

/** Chosen: a key keeps its id, by which its holders know it; what they signed with is void at once. */
async function regenerateKey(input: Input, ctx: Context): Promise<ShownKey> {
  const { id } = input.regenerateKeyParameters
  return ctx.store.transaction(async (tx) => {
    const store = await findStore(input, ctx, tx)
    checkStays(store)
    const { items } = await tx.list(accessKeys, { where: { id }, limit: 1 })
    const before = items[0]
    if (before?.store !== armKey(store)) {
      throw ResourceNotFound(`The store ${store.name} has no access key with the id '${id}'.`, {
        details: { target: 'regenerateKeyParameters.id' },
      })
    }
    const lastModified = ctx.clock.now().toISOString()
    const after = { ...before, lastModified, sealed: sealNew(id, ctx) }
    await tx.save(accessKeys, after)
    await ctx.events.announce(tx, {
      type: 'config-store.access-key.regenerated',
      subject: store.id,
      body: { id, name: after.name },
    })
    return showKey(after, ctx)
  })
}

function showKey(key: AccessKey, ctx: Context): ShownKey {
  const { id, name, lastModified, readOnly } = key
  const value = secretOf(key, ctx)
  const connectionString = `Endpoint=${ctx.address};Id=${id};Secret=${value}`
  return { id, name, value, connectionString, lastModified, readOnly }
}

const sealNew = (id: string, ctx: Context): string =>
  ctx.secrets.seal(randomBytes(SECRET_BYTES).toString('base64'), aboutOf(id))

/** A secret that is copied to another key does not open there. */
const aboutOf = (id: string): string => `access key ${id}`
