// How often a key may ask: counted in the store, in blocks, so that few requests wait for a commit.
// Specification 1, service S5.
//
// 1. What is handed out was reserved before, in a transaction: processes together never exceed a quota.
// 2. Blocks shrink as the quota runs out, so that the last request of a quota is served.
// 3. A process that dies loses what it reserved and did not hand out; the next month begins anew.
import type { Context } from '../kernel/context.ts'
import { operation, reply, type Reply } from '../kernel/operation.ts'
import { text, whole } from '../kernel/shape.ts'
import { kind, type Migration, type Store } from '../kernel/store.ts'
import { QuotaExceeded } from './errors.ts'

/** Chosen: the public plans begin at 300 a month; an installation of one's own need not be so narrow. */
const QUOTA_DEFAULT = 100_000
const QUOTA_MAX = 1_000_000_000
const BLOCK_MAX = 100
/** A block is at most this part of what is left. */
const BLOCK_SHARE = 20
const PERIODS_KEPT = 2
/** How long a refusal stands before the store is asked again. */
const REFUSAL_MS = 5_000

/** What an operator allows one key. */
interface Quota {
  readonly key_id: string
  readonly monthly: number
}

export const quotas = kind<Quota>('quota', { key: ({ key_id }) => key_id })
export const kinds = [quotas]

export const usageMigration: Migration = {
  number: 1,
  name: 'usage',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const integer = engine === 'postgres' ? 'bigint' : 'INTEGER'
    await tx.sql(`CREATE TABLE key_usage (
      key_id ${text} NOT NULL, period ${text} NOT NULL, reserved ${integer} NOT NULL,
      PRIMARY KEY (key_id, period))`)
    await tx.sql('CREATE INDEX key_usage_by_period ON key_usage (period)')
  },
}

interface Usage {
  readonly quota: number
  readonly used: number
  readonly nextPeriod: Date
}

export const operations = [
  operation({
    name: 'podcastUsage',
    input: {},
    async run(_input, ctx) {
      const { quota, used, nextPeriod } = await usageOf(ctx)
      return { quota, used, next_billing_date: nextPeriod.toISOString() }
    },
  }),
  operation({
    name: 'setPodcastQuota',
    access: 'administrators',
    input: {
      key_id: text.min(1).max(200),
      monthly: whole.refine((value) => value >= 0 && value <= QUOTA_MAX, 'must not be negative'),
    },
    async run({ key_id, monthly }, ctx) {
      await ctx.store.transaction(async (tx) => {
        await tx.save(quotas, { key_id, monthly })
        const body = { key_id, monthly }
        await ctx.events.announce(tx, { type: 'podcasts.quota.changed', subject: key_id, body })
      })
      blocksOf(ctx.store).delete(key_id)
      return { key_id, monthly }
    },
  }),
]

/** Counts an operation against the quota of the caller's key, and shows the count beside the answer. */
export const metered =
  <I>(run: (input: I, ctx: Context) => Promise<unknown>) =>
  async (input: I, ctx: Context): Promise<Reply> => {
    const startedMs = performance.now()
    const { quota, used, nextPeriod } = await spend(ctx)
    const result = await run(input, ctx)
    return reply(200, result, {
      'x-vendor-api-freequota': String(quota),
      'x-vendor-api-usage': String(used),
      'x-vendor-api-nextbillingdate': nextPeriod.toISOString(),
      'x-vendor-api-latency-seconds': ((performance.now() - startedMs) / 1_000).toFixed(6),
    })
  }

/** What is reserved and not yet handed out. */
interface Block {
  readonly period: string
  readonly quota: number
  readonly reserved: number
  readonly atMs: number
  /** Nothing was left to reserve. */
  readonly isEmpty: boolean
  left: number
}

const blocks = new WeakMap<Store, Map<string, Promise<Block>>>()

function blocksOf(store: Store): Map<string, Promise<Block>> {
  let own = blocks.get(store)
  if (!own) blocks.set(store, (own = new Map()))
  return own
}

async function spend(ctx: Context): Promise<Usage> {
  const key = ctx.caller.credentialId
  const { period, nextPeriod } = periodOf(ctx)
  const own = blocksOf(ctx.store)
  for (;;) {
    const reserved = own.get(key) ?? reserveOnce(ctx, key, period)
    const block = await reserved
    if (block.period === period && block.left > 0) {
      block.left -= 1
      return { quota: block.quota, used: block.reserved - block.left, nextPeriod }
    }
    const isFresh = ctx.clock.now().getTime() - block.atMs < REFUSAL_MS
    if (block.period === period && block.isEmpty && isFresh) {
      throw exceeded(ctx, block.quota, nextPeriod)
    }
    // Whoever finds the block used up first replaces it; the others wait for the same one.
    if (own.get(key) === reserved) own.delete(key)
  }
}

function reserveOnce(ctx: Context, key: string, period: string): Promise<Block> {
  const own = blocksOf(ctx.store)
  const reserving = reserve(ctx, key, period)
  own.set(key, reserving)
  // A store that did not answer is asked again by the next request.
  reserving.catch(() => own.delete(key))
  return reserving
}

const reserve = (ctx: Context, key: string, period: string): Promise<Block> =>
  ctx.store.transaction(async (tx) => {
    const quota = (await tx.get(quotas, key))?.monthly ?? QUOTA_DEFAULT
    const [row] = await tx.sql('SELECT reserved FROM key_usage WHERE key_id = ? AND period = ?', [
      key,
      period,
    ])
    const before = Number(row?.['reserved'] ?? 0)
    const remaining = Math.max(quota - before, 0)
    const left = Math.min(remaining, BLOCK_MAX, Math.ceil(remaining / BLOCK_SHARE))
    if (left > 0) {
      await tx.sql(
        `INSERT INTO key_usage (key_id, period, reserved) VALUES (?, ?, ?)
         ON CONFLICT (key_id, period) DO UPDATE SET reserved = excluded.reserved`,
        [key, period, before + left],
      )
    }
    const atMs = ctx.clock.now().getTime()
    return { period, quota, reserved: before + left, left, isEmpty: left === 0, atMs }
  })

async function usageOf(ctx: Context): Promise<Usage> {
  const key = ctx.caller.credentialId
  const { period, nextPeriod } = periodOf(ctx)
  const block = await blocksOf(ctx.store).get(key)
  const [row] = await ctx.store.sql(
    'SELECT reserved FROM key_usage WHERE key_id = ? AND period = ?',
    [key, period],
  )
  const unspent = block?.period === period ? block.left : 0
  const quota = (await ctx.store.get(quotas, key))?.monthly ?? QUOTA_DEFAULT
  return { quota, used: Number(row?.['reserved'] ?? 0) - unspent, nextPeriod }
}

function exceeded(ctx: Context, quota: number, nextPeriod: Date) {
  const seconds = Math.ceil((nextPeriod.getTime() - ctx.clock.now().getTime()) / 1_000)
  return QuotaExceeded(
    `The key has used its ${quota} requests of this month. The next month begins at ${nextPeriod.toISOString()}.`,
    {
      headers: {
        'retry-after': String(seconds),
        'x-vendor-api-freequota': String(quota),
        'x-vendor-api-usage': String(quota),
        'x-vendor-api-nextbillingdate': nextPeriod.toISOString(),
      },
    },
  )
}

/** Chosen: a period is a month of the calendar, in UTC. */
function periodOf({ clock }: Context): { period: string; nextPeriod: Date } {
  const now = clock.now()
  const nextPeriod = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))
  return { period: now.toISOString().slice(0, 7), nextPeriod }
}

/** Forgets the counts of months that are long over. */
export async function sweepUsage(ctx: Context): Promise<void> {
  const now = ctx.clock.now()
  const oldest = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - PERIODS_KEPT, 1))
  await ctx.store.sql('DELETE FROM key_usage WHERE period < ?', [oldest.toISOString().slice(0, 7)])
}
