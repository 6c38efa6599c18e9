// The gateway's note: the caller, proved once at the gateway, signed for one subgraph.
//
// A request signature covers one path and one body, so it cannot travel through the gateway. The note
// can: it lives for seconds, names the subgraph it is for, and only holders of the key can write it.
import { jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../resolvers/kernel/clock.ts'
import type { Caller } from '../../../resolvers/kernel/context.ts'
import { Unauthenticated } from '../../../resolvers/kernel/fault.ts'

export const NOTE_HEADER = 'x-polygraph-note'

const LIFE_SECONDS = 30
/** A note is written again well before it ends. */
const REUSE_MS = 10_000
const KEPT_MAX = 10_000
const ISSUER = 'polygraph-gateway'

export interface Notes {
  write(caller: Caller, subgraph: string): Promise<string>
  /** Refuses a note that is forged, expired or for another subgraph. */
  read(note: string, subgraph: string): Promise<Caller>
}

export function openNotes(key: Uint8Array, wallClock: Clock): Notes {
  const written = new LRUCache<string, string>({
    max: KEPT_MAX,
    ttl: REUSE_MS,
    ttlResolution: 0,
    perf: { now: () => wallClock.now().getTime() },
  })

  return {
    async write(caller, subgraph) {
      const name = `${subgraph} ${JSON.stringify(caller)}`
      const kept = written.get(name)
      if (kept) return kept
      const seconds = Math.floor(wallClock.now().getTime() / 1000)
      const note = await new SignJWT({ caller })
        .setProtectedHeader({ alg: 'HS256' })
        .setIssuer(ISSUER)
        .setAudience(subgraph)
        .setIssuedAt(seconds)
        .setExpirationTime(seconds + LIFE_SECONDS)
        .sign(key)
      written.set(name, note)
      return note
    },

    async read(note, subgraph) {
      try {
        const { payload } = await jwtVerify(note, key, {
          algorithms: ['HS256'],
          issuer: ISSUER,
          audience: subgraph,
          currentDate: wallClock.now(),
          requiredClaims: ['exp', 'caller'],
        })
        return payload.caller as Caller
      } catch {
        // Why a note is bad is of no use to someone who may be forging one.
        throw Unauthenticated('The note of the gateway is missing, forged or expired.')
      }
    },
  }
}
