// Callback URLs: where a browser may be sent back to after a sign-in by an OAuth client.
// Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, put, reply } from '../kernel/operation.ts'
import { connect, type Paging } from '../kernel/paging.ts'
import { text } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { BadRequest, LimitExceeded, NoSuch } from './errors.ts'
import { nextId } from './numbers.ts'
import { needClient, numberedClient, ofClient } from './oauth-clients.ts'
import { once } from './once.ts'
import { listInput, listKind, showNodes } from './pages.ts'
import {
  idWrapperShape,
  itemId,
  momentOf,
  moments,
  onceHeaders,
  onceInput,
  showIdWrapper,
  USER,
} from './shapes.ts'

const URLS_MAX = 50
const URL_LENGTH_MAX = 2000
const CLIENT_ID = /^[\w-]{1,100}$/
const LOOPBACKS = new Set(['localhost', '127.0.0.1', '[::1]'])

export interface CallbackUrl {
  readonly id: number
  readonly owner: string
  readonly client_id: string
  readonly url: string
  readonly created: string
  readonly updated: string
}

const callbackUrls = kind<CallbackUrl>('callback_url', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    owner: textOf(({ owner }) => owner),
    client: textOf(({ client_id }) => client_id),
  },
  indexes: [['owner', 'client', 'id']],
})
export const kinds = [callbackUrls]

const MANY = `${USER}/oauth-client/{oauthClientId}/callback-url`
const ONE = `${MANY}/{itemId}`
const url = text.min(1).max(URL_LENGTH_MAX)
// The document shows the url alone; the id is needed to name one of a list.
const urlShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  url: z.string(),
})
const show = ({ id, created, updated, url }: CallbackUrl) => ({ id, created, updated, url })
const changed = { show: showIdWrapper, answer: idWrapperShape }

interface One {
  readonly userId: number
  readonly oauthClientId: string
  readonly itemId: number
}

export const operations = [
  operation({
    name: 'callbackUrl',
    rest: get(ONE, { show, answer: urlShape }),
    input: { ...ofClient, itemId },
    async run({ userId, oauthClientId, itemId }, ctx) {
      const client = await needClient(ctx, userId, oauthClientId)
      return needUrl(ctx, ctx.store, client, itemId)
    },
  }),
  operation({
    name: 'callbackUrls',
    rest: get(MANY, {
      show: (page) => (showNodes(page) as CallbackUrl[]).map(show),
      answer: z.array(urlShape),
    }),
    input: { ...ofClient, ...listInput },
    async run({ userId, oauthClientId, ...input }, ctx) {
      const client = await needClient(ctx, userId, oauthClientId)
      return listKind(ctx, callbackUrls, { owner: ctx.caller.userId, client }, input)
    },
  }),
  operation({
    name: 'createCallbackUrl',
    rest: post(MANY, { ...changed, headers: onceHeaders }),
    input: { ...ofClient, url, ...onceInput },
    run: createUrl,
  }),
  operation({
    name: 'updateCallbackUrl',
    rest: put(ONE, changed),
    input: { ...ofClient, itemId, url },
    run: updateUrl,
  }),
  operation({
    name: 'deleteCallbackUrl',
    rest: del(ONE),
    input: { ...ofClient, itemId },
    run: deleteUrl,
  }),
]

export const entities = {
  // What hangs on it is looked for among the caller's own.
  Client: ({ clientId }: { clientId: string }, { caller }: Context) =>
    caller.kind === 'user' && CLIENT_ID.test(clientId) ? { clientId } : null,
}

export const fields = {
  CallbackUrl: moments('created', 'updated'),
  Client: {
    callbackUrls: ({ clientId }: { clientId: string }, { first, after }: Paging, ctx: Context) => {
      const where = { owner: ctx.caller.userId, client: clientId }
      return connect(ctx, callbackUrls, { first, after, where, order: 'id', descending: true })
    },
  },
}

async function needUrl(
  { caller }: Context,
  from: Records,
  client_id: string,
  id: number,
): Promise<CallbackUrl> {
  const found = await from.get(callbackUrls, String(id))
  if (found?.client_id === client_id && found.owner === caller.userId) return found
  throw NoSuch('callback URL', id)
}

export async function createUrl(
  input: Omit<One, 'itemId'> & { url: string },
  ctx: Context,
): Promise<CallbackUrl> {
  const client_id = await needClient(ctx, input.userId, input.oauthClientId)
  checkUrl(input.url)
  return ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createCallbackUrl', input },
      {
        async make() {
          const { owner } = await numberedClient(ctx, tx, client_id)
          await checkAmongOthers(ctx, tx, client_id, input.url)
          const now = momentOf(ctx.clock.now())
          const id = await nextId(tx, 'callback-url')
          const made = { id, owner, client_id, url: input.url, created: now, updated: now }
          await tx.insert(callbackUrls, made)
          await announce(ctx, tx, 'created', made)
          return made
        },
        recall: (id) => needUrl(ctx, tx, client_id, id),
      },
    ),
  )
}

async function updateUrl(
  { userId, oauthClientId, itemId, url }: One & { url: string },
  ctx: Context,
): Promise<CallbackUrl> {
  const client = await needClient(ctx, userId, oauthClientId)
  checkUrl(url)
  return ctx.store.transaction(async (tx) => {
    const before = await needUrl(ctx, tx, client, itemId)
    if (before.url !== url) await checkAmongOthers(ctx, tx, client, url, 0)
    const after = { ...before, url, updated: momentOf(ctx.clock.now()) }
    await tx.save(callbackUrls, after)
    await announce(ctx, tx, 'changed', after)
    return after
  })
}

async function deleteUrl({ userId, oauthClientId, itemId }: One, ctx: Context) {
  const client = await needClient(ctx, userId, oauthClientId)
  await ctx.store.transaction(async (tx) => {
    const found = await needUrl(ctx, tx, client, itemId)
    await tx.remove(callbackUrls, String(itemId))
    await announce(ctx, tx, 'deleted', found)
  })
  return reply(200)
}

/** As for every redirect in OAuth: an address of the web, matched as it is written. */
function checkUrl(sent: string): void {
  const refuse = (why: string) => BadRequest(`url ${why}.`)
  const url = URL.parse(sent)
  if (!url) throw refuse('must be a URL, such as https://example.org/callback')
  if (sent.includes('#')) throw refuse('must not have a fragment')
  if (sent.includes('*')) throw refuse('must not have a wildcard: it is matched as it is written')
  if (url.username || url.password) throw refuse('must not carry a name or a password')
  const isLoopback = url.protocol === 'http:' && LOOPBACKS.has(url.hostname)
  if (url.protocol !== 'https:' && !isLoopback) {
    throw refuse('must be an https address, or an http address of the own machine')
  }
}

async function checkAmongOthers(
  { caller }: Context,
  tx: Records,
  client: string,
  url: string,
  added: 0 | 1 = 1,
): Promise<void> {
  const where = { owner: caller.userId, client }
  const { items } = await tx.list(callbackUrls, { where, order: 'id', limit: URLS_MAX })
  if (items.some((other) => other.url === url)) {
    throw BadRequest('url is one of the callback URLs of this client already.')
  }
  if (items.length + added > URLS_MAX) {
    throw LimitExceeded(`A client has at most ${URLS_MAX} callback URLs.`)
  }
}

const announce = (
  ctx: Context,
  tx: Records,
  happened: 'created' | 'changed' | 'deleted',
  { id, client_id, url }: CallbackUrl,
) =>
  ctx.events.announce(tx, {
    type: `banking.callback-url.${happened}`,
    subject: String(id),
    body: { client_id, url },
  })
