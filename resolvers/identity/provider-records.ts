// What the OpenID provider remembers: sessions, sign-ins under way, codes, grants, tokens.
//
// 1. The name of a record is the hash of its id, since the id of most is a secret that opens something.
// 2. What the provider keeps is sealed, since it repeats ids of other records.
// 3. A record that has expired is not found, whether or not it was swept.
import type { AdapterPayload } from 'oidc-provider'
import type { Context } from '../kernel/context.ts'
import { kind, numberOf, textOf, versionOf, type Kind, type Records } from '../kernel/store.ts'
import { hashOf } from './secret-text.ts'

const SWEEP_MAX = 1_000
const AGENT_MAX = 300

/** What of a context outlives a request. */
export type Ground = Pick<
  Context,
  'store' | 'wallClock' | 'secrets' | 'newId' | 'work' | 'events' | 'clock'
>

export interface ProviderRecord {
  /** Model and hash of the id. */
  readonly name: string
  readonly model: string
  readonly sealed: string
  readonly expiresMs: number
  readonly consumed?: number | undefined
  readonly grantId?: string | undefined
  /** Of sessions: the name that outlives a change of the id. */
  readonly uid?: string | undefined
  readonly accountId?: string | undefined
  readonly clientId?: string | undefined
  readonly userAgent?: string | undefined
}

/** Sessions, sign-ins under way and grants. */
export const providerRecords = kind<ProviderRecord>('provider_record', {
  key: ({ name }) => name,
  columns: {
    uid: textOf(({ uid }) => uid),
    owner: textOf(({ model, accountId }) => accountId && ownerColumn(model, accountId)),
    clientId: textOf(({ clientId }) => clientId),
    expires: numberOf(({ expiresMs }) => expiresMs),
  },
  indexes: [['uid'], ['owner'], ['clientId'], ['expires']],
})

/** Codes and tokens: many, short-lived, and looked for by grant alone. */
export const issuedRecords = kind<ProviderRecord>('issued_record', {
  key: ({ name }) => name,
  columns: {
    grantId: textOf(({ grantId }) => grantId),
    expires: numberOf(({ expiresMs }) => expiresMs),
  },
  indexes: [['grantId'], ['expires']],
})

export const kinds = [providerRecords, issuedRecords]

const ISSUED = new Set(['AuthorizationCode', 'AccessToken'])
const kindOf = (model: string) => (ISSUED.has(model) ? issuedRecords : providerRecords)

const ownerColumn = (model: string, accountId: string) => `${model} ${accountId}`

export const nameOf = (model: string, id: string): string => `${model}/${hashOf(id)}`

export const isCurrent = ({ expiresMs }: ProviderRecord, { wallClock }: Ground): boolean =>
  expiresMs > wallClock.now().getTime()

/** What the provider kept in a record. */
export function payloadOf(record: ProviderRecord, { secrets }: Ground): AdapterPayload {
  const payload = JSON.parse(secrets.open(record.sealed, record.name)) as AdapterPayload
  return record.consumed ? { ...payload, consumed: record.consumed } : payload
}

export async function keepPayload(
  ground: Ground,
  model: string,
  { id, payload, lifeS, userAgent }: Kept,
): Promise<void> {
  const name = nameOf(model, id)
  const { grantId, uid, accountId, clientId } = payload
  await ground.store.save(kindOf(model), {
    name,
    model,
    sealed: ground.secrets.seal(JSON.stringify(payload), name),
    expiresMs: ground.wallClock.now().getTime() + lifeS * 1000,
    ...(grantId && { grantId }),
    ...(model === 'Session' && uid && { uid }),
    ...(accountId && { accountId }),
    ...(clientId && { clientId }),
    ...(userAgent && { userAgent: userAgent.slice(0, AGENT_MAX) }),
  })
}

interface Kept {
  readonly id: string
  readonly payload: AdapterPayload
  readonly lifeS: number
  readonly userAgent?: string | undefined
}

export async function findRecord(
  ground: Ground,
  model: string,
  id: string,
): Promise<ProviderRecord | undefined> {
  const record = await ground.store.get(kindOf(model), nameOf(model, id))
  return record && isCurrent(record, ground) ? record : undefined
}

export async function findSession(
  ground: Ground,
  uid: string,
): Promise<ProviderRecord | undefined> {
  const { items } = await ground.store.list(providerRecords, { where: { uid }, limit: 1 })
  return items[0] && isCurrent(items[0], ground) ? items[0] : undefined
}

/** Keeps which browser a session is of, where the provider does not see the request. */
export async function noteBrowser(ground: Ground, uid: string, userAgent: string): Promise<void> {
  const session = await findSession(ground, uid)
  if (!session) return
  const noted = { ...session, userAgent: userAgent.slice(0, AGENT_MAX) }
  await ground.store.save(providerRecords, noted)
}

/** Marks a code as used. Returns false when someone was faster. */
export async function consumeRecord(ground: Ground, record: ProviderRecord): Promise<boolean> {
  if (record.consumed) return false
  const consumed = Math.floor(ground.wallClock.now().getTime() / 1000)
  return ground.store.save(kindOf(record.model), { ...record, consumed }, versionOf(record))
}

/** Ends everything that was issued under a grant, and the grant. */
export async function endGrant(ground: Ground, grantId: string): Promise<void> {
  await removeRecord(ground, 'Grant', grantId)
  await removeAll(ground.store, issuedRecords, { grantId })
}

/** Ends the grants of a client, and with them all that was issued under them. */
export const endClient = (ground: Ground, clientId: string): Promise<void> =>
  removeAll(ground.store, providerRecords, { clientId })

export async function removeRecord({ store }: Ground, model: string, id: string): Promise<void> {
  await store.remove(kindOf(model), nameOf(model, id))
}

/** The records of one model that belong to a person. */
export const ofPerson = (model: string, accountId: string) => ({
  owner: ownerColumn(model, accountId),
})

async function removeAll(
  records: Records,
  kind: Kind<ProviderRecord>,
  where: Record<string, string>,
): Promise<void> {
  while ((await records.removeMany(kind, { where, limit: SWEEP_MAX })) === SWEEP_MAX);
}

/** Forgets what has expired. */
export async function sweepRecords({ store, wallClock }: Ground): Promise<void> {
  // What ends at this moment has ended.
  const query = { order: 'expires', below: wallClock.now().getTime() + 1, limit: SWEEP_MAX }
  for (const kind of kinds) {
    while ((await store.removeMany(kind, query)) === SWEEP_MAX);
  }
}
