// The gateway's note: the caller, proved once at the gateway, signed for one subgraph.
//
// A request signature covers one path and one body, so it cannot travel through the gateway. The note
// can: it lives for seconds, names the subgraph it is for, and only holders of the key can write it.
import { jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../resolvers/kernel/clock.ts'
import type { Caller } from '../../../resolvers/kernel/context.ts'
import { Unauthenticated } from '../../../resolvers/kernel/fault.ts'
import type { Soon } from '../../../resolvers/kernel/soon.ts'

export const NOTE_HEADER = 'x-polygraph-note'

const LIFE_SECONDS = 30
/** A note is written again well before it ends. */
const REUSE_MS = 10_000
const KEPT_MAX = 10_000
const ISSUER = 'polygraph-gateway'

export interface Notes {
  write(caller: Caller, subgraph: string): Soon<string>
  /** Refuses a note that is forged, expired or for another subgraph. */
  read(note: string, subgraph: string): Soon<Caller>
}

export function openNotes(key: Uint8Array, wallClock: Clock): Notes {
  const nowMs = () => wallClock.now().getTime()
  const written = new LRUCache<string, string>({
    max: KEPT_MAX,
    ttl: REUSE_MS,
    ttlResolution: 0,
    perf: { now: nowMs },
  })
  const known = new LRUCache<string, { caller: Caller; untilMs: number }>({ max: KEPT_MAX })
  const words = new WeakMap<Caller, string>()

  /** A caller is the same object for many requests. */
  function wordsOf(caller: Caller): string {
    let text = words.get(caller)
    if (text === undefined) words.set(caller, (text = JSON.stringify(caller)))
    return text
  }

  async function sign(caller: Caller, subgraph: string, name: string): Promise<string> {
    const seconds = Math.floor(nowMs() / 1000)
    const note = await new SignJWT({ caller })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer(ISSUER)
      .setAudience(subgraph)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + LIFE_SECONDS)
      .sign(key)
    written.set(name, note)
    return note
  }

  async function verify(note: string, subgraph: string, name: string): Promise<Caller> {
    try {
      const { payload } = await jwtVerify<{ caller: Caller }>(note, key, {
        algorithms: ['HS256'],
        issuer: ISSUER,
        audience: subgraph,
        currentDate: wallClock.now(),
        requiredClaims: ['exp', 'caller'],
      })
      const { caller, exp } = payload
      known.set(name, { caller, untilMs: exp! * 1000 })
      return caller
    } catch {
      // Why a note is bad is of no use to someone who may be forging one.
      throw Unauthenticated('The note of the gateway is missing, forged or expired.')
    }
  }

  return {
    write(caller, subgraph) {
      const name = `${subgraph} ${wordsOf(caller)}`
      return written.get(name) ?? sign(caller, subgraph, name)
    },

    // The same note comes with every fetch for its caller while it lives.
    read(note, subgraph) {
      const name = `${subgraph} ${note}`
      const kept = known.get(name)
      return kept && kept.untilMs > nowMs() ? kept.caller : verify(note, subgraph, name)
    },
  }
}
