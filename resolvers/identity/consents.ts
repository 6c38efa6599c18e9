// What people allowed which client to see: asked once, remembered until they take it back.
import type { Context } from '../kernel/context.ts'
import { kind, numberOf, textOf } from '../kernel/store.ts'
import { endGrant, ofPerson, payloadOf, providerRecords, type Ground } from './provider-records.ts'

const KEPT_MS = 366 * 24 * 60 * 60_000
const SWEEP_MAX = 1_000
const GRANTS_MAX = 1_000

export interface Consent {
  readonly userId: string
  readonly clientId: string
  /** Identity scopes, those that were asked for and refused, and scopes of services by resource. */
  readonly scopes: readonly string[]
  readonly refused: readonly string[]
  readonly resources: Readonly<Record<string, readonly string[]>>
  readonly given: string
}

const keyOf = (userId: string, clientId: string) => `${userId}/${clientId}`

export const consents = kind<Consent>('consent', {
  key: ({ userId, clientId }) => keyOf(userId, clientId),
  columns: {
    userId: textOf(({ userId }) => userId),
    clientId: textOf(({ clientId }) => clientId),
    given: numberOf(({ given }) => Date.parse(given)),
  },
  indexes: [['userId'], ['clientId'], ['given']],
})

export const kinds = [consents]

export const consentOf = (
  { store }: Pick<Context, 'store'>,
  userId: string,
  clientId: string,
): Promise<Consent | undefined> => store.get(consents, keyOf(userId, clientId))

/** Adds what was allowed or refused now to what was before; the last answer counts. */
export async function keepConsent(
  { store, wallClock }: Pick<Context, 'store' | 'wallClock'>,
  now: Omit<Consent, 'given'>,
): Promise<Consent> {
  const given = wallClock.now().toISOString()
  return store.transaction(async (tx) => {
    const before = await tx.get(consents, keyOf(now.userId, now.clientId))
    const without = (list: readonly string[] = [], removed: readonly string[]) =>
      list.filter((scope) => !removed.includes(scope))
    const resources = { ...before?.resources }
    for (const [resource, scopes] of Object.entries(now.resources)) {
      resources[resource] = [...new Set([...(resources[resource] ?? []), ...scopes])]
    }
    const consent: Consent = {
      ...now,
      scopes: [...new Set([...without(before?.scopes, now.refused), ...now.scopes])],
      refused: [...new Set([...without(before?.refused, now.scopes), ...now.refused])],
      resources,
      given,
    }
    await tx.save(consents, consent)
    return consent
  })
}

/** Takes a consent back, and ends what was issued under it. Returns whether there was one. */
export async function withdrawConsent(
  ground: Ground,
  userId: string,
  clientId: string,
): Promise<boolean> {
  const was = await ground.store.remove(consents, keyOf(userId, clientId))
  const grants = await ground.store.list(providerRecords, {
    where: ofPerson('Grant', userId),
    limit: GRANTS_MAX,
  })
  for (const record of grants.items.filter((grant) => grant.clientId === clientId)) {
    await endGrant(ground, payloadOf(record, ground).jti as string)
  }
  return was
}

export async function forgetConsents({ store }: Ground, clientId: string): Promise<void> {
  const query = { where: { clientId }, limit: SWEEP_MAX }
  while ((await store.removeMany(consents, query)) === SWEEP_MAX);
}

/** A consent that nobody renewed for a year is asked for again. */
export async function sweepConsents({ store, wallClock }: Ground): Promise<void> {
  const below = wallClock.now().getTime() - KEPT_MS
  const query = { order: 'given', below, limit: SWEEP_MAX }
  while ((await store.removeMany(consents, query)) === SWEEP_MAX);
}
