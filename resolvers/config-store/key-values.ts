// Key-values: what a store is there for, with their labels, locks and history. Specification 3,
// service C.
import { z } from 'zod'
import { armKey } from '../families/arm.ts'
import { ResourceNotFound } from '../families/arm-errors.ts'
import { group, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { PreconditionFailed } from '../kernel/fault.ts'
import { operation, post } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { KeyValueLocked, QuotaExceeded } from './errors.ts'
import {
  checkStays,
  findStore,
  findStoreById,
  keyValueAt,
  keyValues,
  ONE,
  revisions,
  SEPARATOR,
  type ConfigStore,
  type KeyValue,
  type SkuName,
} from './records.ts'
import { keyOfValue, keyValueAnswer, labelOfValue, storeName, valueOfKey } from './shapes.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const FORGET = 'forget revision'

/** How long history is kept, as the vendor does; and, chosen, how many key-values a store holds. */
const ALLOWANCES: Readonly<Record<SkuName, { historyMs: number; keyValuesMax: number }>> = {
  Free: { historyMs: 7 * DAY_MS, keyValuesMax: 1_000 },
  Standard: { historyMs: 30 * DAY_MS, keyValuesMax: 20_000 },
}

const named = { key: keyOfValue, label: labelOfValue }
const one = { configStoreId: text, ...named }
const condition = { ifMatch: optional(text) }
const asked = { ...group, configStoreName: storeName, listKeyValueParameters: z.object(named) }
const shown = { body: 'listKeyValueParameters', answer: keyValueAnswer, show: showKeyValue }

// What the documents do not show, setting a key-value above all, is of the graph alone.
export const operations = [
  operation({
    name: 'configStoreKeyValue',
    rest: post(`${ONE}/listKeyValue`, shown),
    input: asked,
    run: readKeyValue,
  }),
  operation({
    name: 'setKeyValue',
    input: { ...one, ...valueOfKey, ...condition },
    run: setKeyValue,
  }),
  operation({ name: 'deleteKeyValue', input: { ...one, ...condition }, run: deleteKeyValue }),
  operation({
    name: 'lockKeyValue',
    input: { ...one, ...condition },
    run: (input, ctx) => setLock(input, true, ctx),
  }),
  operation({
    name: 'unlockKeyValue',
    input: { ...one, ...condition },
    run: (input, ctx) => setLock(input, false, ctx),
  }),
  operation({ name: 'keyValueRevisions', input: { ...one, ...paging }, run: listRevisions }),
]

export const kinds = [keyValues, revisions]

const forget: Step = async ({ key }, ctx) => {
  await ctx.store.remove(revisions, key)
}
export const steps = { [FORGET]: forget }

async function readKeyValue(input: Input, ctx: Context): Promise<KeyValue> {
  const store = await findStore(input, ctx)
  return findKeyValue({ store: armKey(store), ...input.listKeyValueParameters }, ctx.store)
}

export async function findKeyValue(
  at: Pick<KeyValue, 'store' | 'key' | 'label'>,
  records: Records,
): Promise<KeyValue> {
  const found = await records.get(keyValues, keyValueAt(at))
  if (found) return found
  const label = at.label === undefined ? 'without a label' : `with the label '${at.label}'`
  throw ResourceNotFound(`The store has no key-value '${at.key}' ${label}.`)
}

function showKeyValue({ store: _, ...shown }: KeyValue) {
  return shown
}

interface Named extends Input {
  readonly configStoreId: string
  readonly key: string
  readonly label?: string | undefined
  readonly ifMatch?: string | undefined
}

/** Creates or replaces a key-value, as a whole. */
export async function setKeyValue(input: Named, ctx: Context): Promise<KeyValue> {
  return ctx.store.transaction(async (tx) => {
    const { store, before } = await findForChange(input, tx, ctx)
    checkIsOpen(before)
    if (!before) await checkRoom(store, tx)
    const { key, label, value, contentType, tags } = input
    const set = { store: armKey(store), key, label, value, contentType, tags, locked: false }
    return keep(set, before ? 'changed' : 'created', { store, tx, ctx })
  })
}

/** Returns what was deleted, or null when there was nothing. */
async function deleteKeyValue(input: Named, ctx: Context): Promise<KeyValue | null> {
  return ctx.store.transaction(async (tx) => {
    const { store, before } = await findForChange(input, tx, ctx)
    if (!before) return null
    checkIsOpen(before)
    await tx.remove(keyValues, keyValueAt(before))
    await announce('deleted', before, { store, tx, ctx })
    return before
  })
}

/** Locks or unlocks; what is so already stays as it is. */
async function setLock(input: Named, locked: boolean, ctx: Context): Promise<KeyValue> {
  return ctx.store.transaction(async (tx) => {
    const { store, before } = await findForChange(input, tx, ctx)
    const found = before ?? (await findKeyValue({ ...input, store: armKey(store) }, tx))
    if (found.locked === locked) return found
    return keep({ ...found, locked }, locked ? 'locked' : 'unlocked', { store, tx, ctx })
  })
}

/** What a key-value was, newest first. A deleted one keeps its history for as long as another. */
async function listRevisions({ configStoreId, key, label, ...page }: Input, ctx: Context) {
  const store = await findStoreById(configStoreId, ctx)
  const prefix = `${keyValueAt({ store: armKey(store), key, label })}${SEPARATOR}`
  const { first, after } = page
  return connect(ctx, revisions, { prefix, descending: true, first, after })
}

async function findForChange(
  { configStoreId, key, label, ifMatch }: Named,
  tx: Records,
  ctx: Context,
): Promise<{ store: ConfigStore; before: KeyValue | undefined }> {
  const store = await findStoreById(configStoreId, ctx, tx)
  checkStays(store)
  const before = await tx.get(keyValues, keyValueAt({ store: armKey(store), key, label }))
  if (ifMatch !== undefined && ifMatch !== before?.eTag) {
    const now = before ? `is at ${before.eTag}` : 'does not exist'
    throw PreconditionFailed(`ifMatch names ${ifMatch}, but the key-value ${now}. Read it again.`)
  }
  return { store, before }
}

function checkIsOpen(before: KeyValue | undefined): void {
  if (!before?.locked) return
  throw KeyValueLocked(`The key-value '${before.key}' is locked. Unlock it first.`)
}

async function checkRoom({ id, name, sku }: ConfigStore, tx: Records): Promise<void> {
  const { keyValuesMax } = ALLOWANCES[sku.name]
  const held = await tx.count(keyValues, { prefix: `${armKey({ id })}\n` })
  if (held < keyValuesMax) return
  throw QuotaExceeded(`The store ${name} holds ${held} key-values, which is all it may hold.`)
}

interface At {
  readonly store: ConfigStore
  readonly tx: Records
  readonly ctx: Context
}

type Happened = 'created' | 'changed' | 'deleted' | 'locked' | 'unlocked'

/** Writes a key-value and a revision of it, which is forgotten later. */
async function keep(
  changed: Omit<KeyValue, 'lastModified' | 'eTag'>,
  happened: Happened,
  at: At,
): Promise<KeyValue> {
  const { store, tx, ctx } = at
  const eTag = ctx.newId()
  const after: KeyValue = { ...changed, lastModified: ctx.clock.now().toISOString(), eTag }
  const revision = { ...after, revisionId: eTag }
  await tx.save(keyValues, after)
  await tx.insert(revisions, revision)
  const { historyMs } = ALLOWANCES[store.sku.name]
  await ctx.work.later(tx, historyMs, FORGET, { key: revisions.key(revision) })
  await announce(happened, after, at)
  return after
}

/** Tells which key-value it was, and not its value. */
async function announce(
  happened: Happened,
  { key, label, eTag }: KeyValue,
  { store, tx, ctx }: At,
) {
  await ctx.events.announce(tx, {
    type: `config-store.key-value.${happened}`,
    subject: store.id,
    body: { key, label, eTag },
  })
}
