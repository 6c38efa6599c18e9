// Where a person is signed in, and which clients they let in.
import type { AdapterPayload } from 'oidc-provider'
import type { Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging, type Paging } from '../kernel/paging.ts'
import { text } from '../kernel/shape.ts'
import { clients } from './clients.ts'
import { load } from '../kernel/load.ts'
import { consents, withdrawConsent, type Consent } from './consents.ts'
import {
  endGrant,
  findSession,
  isCurrent,
  ofPerson,
  payloadOf,
  providerRecords,
  type Ground,
  type ProviderRecord,
} from './provider-records.ts'
import { ownerOf } from './users.ts'

const ENDS = 'identity:ManageSessions'

export const operations = [
  operation({ name: 'sessions', input: paging, run: listSessions }),
  operation({ name: 'endSession', needs: ENDS, input: { id: text }, run: endSession }),
  operation({ name: 'consents', input: paging, run: listConsents }),
  operation({
    name: 'withdrawConsent',
    needs: ENDS,
    input: { client_id: text },
    run: withdraw,
  }),
]

export const fields = {
  Session: {
    id: ({ uid }: ProviderRecord) => uid,
    signedIn: (session: ProviderRecord, _args: object, ctx: Context) =>
      new Date((payloadOf(session, ctx).loginTs ?? 0) * 1000).toISOString(),
    expires: ({ expiresMs }: ProviderRecord) => new Date(expiresMs).toISOString(),
    clientIds: (session: ProviderRecord, _args: object, ctx: Context) =>
      Object.keys(payloadOf(session, ctx).authorizations ?? {}),
  },
  Consent: {
    clientName: async ({ clientId }: Consent, _args: object, ctx: Context) =>
      (await load(ctx, clients, clientId))?.client_name ?? null,
  },
}

/** A session that has expired may be listed until it is swept; it opens nothing. */
async function listSessions(page: Paging, ctx: Context) {
  const where = ofPerson('Session', ownerOf(ctx))
  const found = await connect(ctx, providerRecords, { ...page, where })
  const edges = found.edges.filter(({ node }) => isCurrent(node, ctx))
  return { ...found, edges, nodes: edges.map(({ node }) => node) }
}

/** Signs a person out there, and ends what was issued there. */
async function endSession({ id }: { id: string }, ctx: Context): Promise<true> {
  const session = await findSession(ctx, id)
  if (session?.accountId !== ownerOf(ctx)) throw NotFound(`You have no session ${id}.`)
  await endGrantsOf(payloadOf(session, ctx), ctx)
  await ctx.store.remove(providerRecords, session.name)
  return true
}

/** Ends everything that was issued in a session. */
export async function endGrantsOf(
  { authorizations = {} }: Pick<AdapterPayload, 'authorizations'>,
  ground: Ground,
): Promise<void> {
  for (const { grantId } of Object.values(authorizations)) {
    if (grantId) await endGrant(ground, grantId)
  }
}

function listConsents(page: Paging, ctx: Context) {
  return connect(ctx, consents, { ...page, where: { userId: ownerOf(ctx) } })
}

async function withdraw({ client_id }: { client_id: string }, ctx: Context): Promise<true> {
  const was = await withdrawConsent(ctx, ownerOf(ctx), client_id)
  if (!was) throw NotFound(`You let no client ${client_id} in.`)
  return true
}
