// The keys that tokens and cookies are signed with, kept sealed and changed every month.
//
// 1. A new key is published for a day before it signs, since services remember the published set.
// 2. An old key stays published for a day after its successor began to sign; no token lives longer.
// 3. What is called a key here is a pair: one for ES256, which signs unless a client asks for RS256, since
//    that takes forty times as long, and one for RS256, which some clients know alone.
import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type { JWK } from 'jose'
import { kind } from '../kernel/store.ts'
import type { Ground } from './provider-records.ts'

const DAY_MS = 24 * 60 * 60_000
const ROTATE_MS = 30 * DAY_MS
const PUBLISH_MS = DAY_MS
const RSA_BITS = 2048
const COOKIE_BYTES = 32
const KEYS_MAX = 20
/** How long a process goes without looking for keys that another made. */
const REMEMBERED_MS = 5_000
const COOKIE = 'cookie'

/** The algorithms of ID tokens, the usual one first; access tokens have that one. */
export const TOKEN_ALGS = ['ES256', 'RS256'] as const
export const [TOKEN_ALG] = TOKEN_ALGS

interface TokenKey {
  /** The key id, or `cookie`. */
  readonly id: string
  readonly sealed: string
  readonly created: string
}

export const tokenKeys = kind<TokenKey>('token_key', { key: ({ id }) => id })
export const kinds = [tokenKeys]

export interface KeySet {
  /** Private keys; the first one of an algorithm signs. */
  readonly signing: readonly JWK[]
  readonly cookie: string
  /** Differs whenever the set does. */
  readonly version: string
}

const remembered = new WeakMap<Ground['store'], { readAtMs: number; set: KeySet }>()

/** The keys as they are now. Makes those that are missing or due. */
export async function keysOf(ground: Ground): Promise<KeySet> {
  const nowMs = ground.wallClock.now().getTime()
  const known = remembered.get(ground.store)
  if (known && Math.abs(nowMs - known.readAtMs) < REMEMBERED_MS) return known.set
  let keys = await readKeys(ground)
  const due = dueAt(keys, nowMs)
  if (due) {
    await makeKeys(ground, due)
    keys = await readKeys(ground)
  }
  const set = keySet(keys, ground, nowMs)
  remembered.set(ground.store, { readAtMs: nowMs, set })
  return set
}

/** The public half, as it is published. */
export const publicKeys = ({ signing }: KeySet): JWK[] =>
  signing.map(({ kty, kid, alg, use, crv, x, y, n, e }) =>
    kty === 'EC' ? { kty, kid, alg, use, crv, x, y } : { kty, kid, alg, use, n, e },
  ) as JWK[]

async function readKeys({ store }: Ground): Promise<TokenKey[]> {
  return (await store.list(tokenKeys, { limit: KEYS_MAX })).items
}

const byAge = (a: TokenKey, b: TokenKey) => (a.created < b.created ? 1 : -1)
const signers = (keys: readonly TokenKey[]) => keys.filter(({ id }) => id !== COOKIE).sort(byAge)
const ageMs = ({ created }: TokenKey, nowMs: number) => nowMs - Date.parse(created)

interface Due {
  readonly cookie: boolean
  readonly signing: boolean
  readonly retired: readonly string[]
}

function dueAt(keys: readonly TokenKey[], nowMs: number): Due | undefined {
  const [newest, ...older] = signers(keys)
  const cookie = !keys.some(({ id }) => id === COOKIE)
  const signing = !newest || ageMs(newest, nowMs) >= ROTATE_MS
  const hasReplaced = newest && ageMs(newest, nowMs) >= 2 * PUBLISH_MS
  const retired = hasReplaced ? older.map(({ id }) => id) : []
  return cookie || signing || retired.length > 0 ? { cookie, signing, retired } : undefined
}

/** Two processes that find the same key due make one: the second finds it made. */
async function makeKeys(ground: Ground, due: Due): Promise<void> {
  const { store, secrets, wallClock, newId } = ground
  const now = wallClock.now()
  const created = now.toISOString()
  const kid = newId()
  const made = due.signing ? await makePair(kid) : undefined
  await store.transaction(async (tx) => {
    const { items } = await tx.list(tokenKeys, { limit: KEYS_MAX })
    const still = dueAt(items, now.getTime())
    if (still?.cookie) {
      const text = randomBytes(COOKIE_BYTES).toString('base64url')
      await tx.insert(tokenKeys, { id: COOKIE, sealed: secrets.seal(text, COOKIE), created })
    }
    if (still?.signing && made) {
      const sealed = secrets.seal(JSON.stringify(made), kid)
      await tx.insert(tokenKeys, { id: kid, sealed, created })
    }
    for (const id of still?.retired ?? []) await tx.remove(tokenKeys, id)
  })
}

async function makePair(kid: string): Promise<JWK[]> {
  const ec = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
  const rsa = await promisify(generateKeyPair)('rsa', { modulusLength: RSA_BITS })
  return [
    { ...ec.privateKey.export({ format: 'jwk' }), kid: `${kid}-ec`, alg: 'ES256', use: 'sig' },
    { ...rsa.privateKey.export({ format: 'jwk' }), kid: `${kid}-rsa`, alg: 'RS256', use: 'sig' },
  ] as JWK[]
}

function keySet(keys: readonly TokenKey[], { secrets }: Ground, nowMs: number): KeySet {
  const all = signers(keys)
  const first = all.find((key) => ageMs(key, nowMs) >= PUBLISH_MS) ?? all.at(-1)!
  const ordered = [first, ...all.filter((key) => key !== first)]
  const cookie = keys.find(({ id }) => id === COOKIE)!
  return {
    signing: ordered.flatMap(({ id, sealed }) => JSON.parse(secrets.open(sealed, id)) as JWK[]),
    cookie: secrets.open(cookie.sealed, COOKIE),
    version: ordered.map(({ id }) => id).join(),
  }
}
