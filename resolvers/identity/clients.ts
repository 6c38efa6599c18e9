// Clients: applications that sign people in here. Specification 1, service S1.
import { z } from 'zod'
import { isPermitted, type Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { del, get, operation, post, put, reply } from '../kernel/operation.ts'
import { connect, paging, type Connection, type Paging } from '../kernel/paging.ts'
import { text } from '../kernel/shape.ts'
import { kind, textOf } from '../kernel/store.ts'
import { CLIENTS_SCOPE } from './claims.ts'
import {
  clientInput,
  metadataOf,
  type ClientInput,
  type ClientMetadata,
} from './client-metadata.ts'
import { forgetConsents } from './consents.ts'
import { LimitExceeded } from './errors.ts'
import { endClient } from './provider-records.ts'
import { hashOf, newSecret } from './secret-text.ts'
import { personNamed, personOf } from './users.ts'

/** As many as one page holds, since GET /client is documented without pages. */
const CLIENTS_MAX = 100

export interface Client extends ClientMetadata {
  readonly client_id: string
  readonly ownerId: string
  readonly secretHash: string
  readonly created: string
}

export const clients = kind<Client>('client', {
  key: ({ client_id }) => client_id,
  columns: { ownerId: textOf(({ ownerId }) => ownerId) },
  indexes: [['ownerId']],
})

export const kinds = [clients]

const strings = z.array(z.string())
const shape = z.object({
  client_id: z.string(),
  client_name: z.string(),
  client_uri: z.string(),
  redirect_uris: strings,
  response_types: strings,
  grant_types: strings,
  application_type: z.string(),
  contacts: strings,
  default_max_age: z.int().optional(),
  default_scopes: strings,
  logo_uri: z.string().optional(),
  policy_uri: z.string().optional(),
  tos_uri: z.string().optional(),
  test_mode: z.boolean(),
  id_token_signed_response_alg: z.string(),
  client_id_issued_at: z.int(),
})
const withSecret = shape.extend({ client_secret: z.string(), client_secret_expires_at: z.int() })

const MANY = '/client'
const ONE = '/client/{client_id}'
const needs = CLIENTS_SCOPE
const key = { client_id: text }
const unknown = { 404: 'You have no such client.' }

export const operations = [
  operation({
    name: 'clients',
    rest: get(MANY, { show: ({ nodes }) => nodes.map(shown), answer: z.array(shape) }),
    needs,
    input: paging,
    run: listClients,
  }),
  operation({
    name: 'createClient',
    rest: post(MANY, { status: [201], show: shownOnce, answer: withSecret }),
    needs,
    input: clientInput,
    run: createClient,
  }),
  operation({
    name: 'client',
    rest: get(ONE, { show: shown, answer: shape }),
    needs,
    refuses: unknown,
    input: key,
    run: readClient,
  }),
  operation({
    name: 'updateClient',
    rest: put(ONE, { show: shown, answer: shape }),
    needs,
    refuses: unknown,
    input: { ...key, ...clientInput },
    run: updateClient,
  }),
  operation({
    name: 'deleteClient',
    rest: del(ONE, { status: [204] }),
    needs,
    refuses: unknown,
    input: key,
    run: deleteClient,
  }),
  operation({ name: 'rotateClientSecret', needs, input: key, run: rotateClientSecret }),
]

export const entities = {
  // A client is seen by its owner alone, with a credential that permits it.
  async Client({ clientId }: { clientId: string }, ctx: Context) {
    const client = await load(ctx, clients, clientId)
    const isOwn = client?.ownerId === ctx.caller.userId && isPermitted(ctx.caller, needs)
    return isOwn ? client : null
  },
}

export const fields = {
  Client: {
    owner: ({ ownerId }: Client, _: unknown, ctx: Context) => personNamed(ownerId, ctx),
  },
}

async function listClients({ first, after }: Paging, ctx: Context): Promise<Connection<Client>> {
  const where = { ownerId: personOf(ctx) }
  return connect(ctx, clients, { first: first ?? CLIENTS_MAX, after, where })
}

async function createClient(input: ClientInput, ctx: Context) {
  const ownerId = personOf(ctx)
  const client_secret = newSecret('pgc')
  const client: Client = {
    ...metadataOf(input),
    client_id: ctx.newId(),
    ownerId,
    secretHash: hashOf(client_secret),
    created: ctx.wallClock.now().toISOString(),
  }
  await ctx.store.transaction(async (tx) => {
    const owned = await tx.count(clients, { where: { ownerId } })
    if (owned >= CLIENTS_MAX) throw LimitExceeded(`You have ${CLIENTS_MAX} clients already.`)
    await tx.insert(clients, client)
    await announce(ctx, tx, 'created', client)
  })
  const Location = `${ctx.address}/client/${client.client_id}`
  return reply(201, { client, client_secret }, { Location })
}

async function readClient({ client_id }: { client_id: string }, ctx: Context): Promise<Client> {
  return checkOwn(await load(ctx, clients, client_id), client_id, ctx)
}

async function updateClient(
  { client_id, ...input }: ClientInput & { client_id: string },
  ctx: Context,
): Promise<Client> {
  return ctx.store.transaction(async (tx) => {
    const before = checkOwn(await tx.get(clients, client_id), client_id, ctx)
    const { ownerId, secretHash, created } = before
    const client: Client = { ...metadataOf(input), client_id, ownerId, secretHash, created }
    await tx.save(clients, client)
    await announce(ctx, tx, 'changed', client)
    return client
  })
}

async function deleteClient({ client_id }: { client_id: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const client = checkOwn(await tx.get(clients, client_id), client_id, ctx)
    await tx.remove(clients, client_id)
    await announce(ctx, tx, 'deleted', client)
  })
  // A token without its client opens nothing from now on; what is left of them goes too.
  await endClient(ctx, client_id)
  await forgetConsents(ctx, client_id)
  return reply(204)
}

async function rotateClientSecret({ client_id }: { client_id: string }, ctx: Context) {
  const client_secret = newSecret('pgc')
  const client = await ctx.store.transaction(async (tx) => {
    const before = checkOwn(await tx.get(clients, client_id), client_id, ctx)
    const after = { ...before, secretHash: hashOf(client_secret) }
    await tx.save(clients, after)
    await announce(ctx, tx, 'changed', after)
    return after
  })
  return { client, client_secret }
}

function checkOwn(client: Client | undefined, client_id: string, ctx: Context): Client {
  if (client?.ownerId === personOf(ctx)) return client
  throw NotFound(`You have no client ${client_id}.`)
}

const announce = (
  ctx: Context,
  tx: Parameters<Context['events']['announce']>[0],
  happened: 'created' | 'changed' | 'deleted',
  { client_id, client_name, ownerId }: Client,
) =>
  ctx.events.announce(tx, {
    type: `identity.client.${happened}`,
    subject: client_id,
    body: { client_id, client_name, ownerId },
  })

function shown({ ownerId: _owner, secretHash: _hash, created, ...client }: Client) {
  return { ...client, client_id_issued_at: Math.floor(Date.parse(created) / 1000) }
}

/** The secret is shown this once. */
function shownOnce({ client, client_secret }: { client: Client; client_secret: string }) {
  return { ...shown(client), client_secret, client_secret_expires_at: 0 }
}
