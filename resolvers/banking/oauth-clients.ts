// OAuth clients are identity's. Here they have a number, since the interface counts them.
// Specification 2, service B.
//
// Chosen: a client belongs to a person, so it is the same under each of that person's users; and it may be
// named by its number or by the client_id that identity gave it.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { dataOf } from '../kernel/graph.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { LimitExceeded, NoSuch } from './errors.ts'
import { nextId } from './numbers.ts'
import { listInput, listKind, showNodes } from './pages.ts'
import { idWrapperShape, momentOf, moments, ofUser, showIdWrapper, USER } from './shapes.ts'
import { needUser } from './users.ts'

/** As many as identity lets a person have, with room for those that were removed there. */
const CLIENTS_MAX = 1000
/** The right at identity to look up one's clients. */
const CLIENTS_SCOPE = 'clients'
const NUMBER = /^[1-9]\d{0,15}$/

export interface OauthClient {
  readonly id: number
  readonly client_id: string
  readonly owner: string
  readonly created: string
  readonly updated: string
}

export const oauthClients = kind<OauthClient>('oauth_client', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    owner: textOf(({ owner }) => owner),
    client: textOf(({ client_id }) => client_id),
  },
  indexes: [
    ['owner', 'id'],
    ['owner', 'client'],
  ],
})
export const kinds = [oauthClients]

/** A number, or what identity calls it. */
export const oauthClientId = text.min(1).max(100)
export const ofClient = { ...ofUser, oauthClientId }

const MANY = `${USER}/oauth-client`
const clientShape = z.object({
  id: z.int(),
  client_id: z.string(),
  created: z.string(),
  updated: z.string(),
})
const show = ({ owner: _, ...client }: OauthClient) => client

export const operations = [
  operation({
    name: 'linkOauthClient',
    rest: post(MANY, { isBeyond: true, show: showIdWrapper, answer: idWrapperShape }),
    input: { ...ofUser, client_id: text.min(1).max(100) },
    run: linkClient,
  }),
  operation({
    name: 'bankOauthClient',
    rest: get(`${MANY}/{oauthClientId}`, { isBeyond: true, show, answer: clientShape }),
    input: ofClient,
    async run({ userId, oauthClientId }, ctx) {
      const client_id = await needClient(ctx, userId, oauthClientId)
      const client = await clientBy(ctx, ctx.store, client_id)
      if (!client) throw NoSuch('OAuth client', oauthClientId)
      return client
    },
  }),
  operation({
    name: 'bankOauthClients',
    rest: get(MANY, {
      isBeyond: true,
      show: (page) => (showNodes(page) as OauthClient[]).map(show),
      answer: z.array(clientShape),
    }),
    input: { ...ofUser, ...listInput },
    async run({ userId, ...input }, ctx) {
      await needUser(ctx, userId)
      return listKind(ctx, oauthClients, { owner: ctx.caller.userId }, input)
    },
  }),
]

export const fields = { BankOauthClient: moments('created', 'updated') }

/** Gives a client of the caller's a number, or tells the one that it has. */
export async function linkClient(
  { userId, client_id }: { userId: number; client_id: string },
  ctx: Context,
): Promise<OauthClient> {
  await needUser(ctx, userId)
  await checkClient(ctx, client_id)
  return ctx.store.transaction((tx) => numberedClient(ctx, tx, client_id))
}

/**
 * What identity calls a client of the caller's. Refuses one that is someone else's, or is gone there. Must
 * not be called within a transaction.
 */
export async function needClient(ctx: Context, userId: number, sent: string): Promise<string> {
  await needUser(ctx, userId)
  if (!NUMBER.test(sent)) return checkClient(ctx, sent)
  const client = await ctx.store.get(oauthClients, sent)
  if (client?.owner !== ctx.caller.userId) throw NoSuch('OAuth client', sent)
  return checkClient(ctx, client.client_id)
}

/** Whoever opens a user of the bank may name the person's clients here; that is all that is asked. */
async function checkClient(ctx: Context, client_id: string): Promise<string> {
  const { userId } = ctx.caller
  // Identity does not know those of the sandbox.
  if (userId.startsWith('sandbox-')) throw NoSuch('OAuth client', client_id)
  const answer = await ctx.graph
    .as(userId, [CLIENTS_SCOPE])
    .ask('query ($id: String!) { client(clientId: $id) { clientId } }', { id: client_id })
  if (answer.errors?.[0]?.extensions?.['status'] === 404) throw NoSuch('OAuth client', client_id)
  return dataOf(answer).client.clientId
}

async function clientBy(
  { caller }: Context,
  from: Records,
  client_id: string,
): Promise<OauthClient | undefined> {
  const where = { owner: caller.userId, client: client_id }
  return (await from.list(oauthClients, { where, limit: 1 })).items[0]
}

/** The client with its number, which it gets when it is first seen. It must have been checked. */
export async function numberedClient(
  ctx: Context,
  tx: Records,
  client_id: string,
): Promise<OauthClient> {
  const before = await clientBy(ctx, tx, client_id)
  if (before) return before
  const owner = ctx.caller.userId
  if ((await tx.count(oauthClients, { where: { owner } })) >= CLIENTS_MAX) {
    throw LimitExceeded(`Nobody has more than ${CLIENTS_MAX} OAuth clients here.`)
  }
  const now = momentOf(ctx.clock.now())
  const id = await nextId(tx, 'oauth-client')
  const client: OauthClient = { id, client_id, owner, created: now, updated: now }
  await tx.insert(oauthClients, client)
  await ctx.events.announce(tx, {
    type: 'banking.oauth-client.created',
    subject: String(id),
    body: { client_id },
  })
  return client
}
