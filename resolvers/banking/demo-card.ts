// The demo's card and OAuth client.
import { randomInt } from 'node:crypto'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { dataOf } from '../kernel/graph.ts'
import { createUrl } from './callback-urls.ts'
import { createCard } from './cards.ts'
import { linkClient } from './oauth-clients.ts'
import type { BankUser } from './users.ts'

const CALLBACK_URL = 'http://127.0.0.1:8765/bank-callback'

/** A virtual card, since that is there at once, and the PIN that it was given. */
export async function demoCard(ctx: Context, user: BankUser, accountId: number) {
  const cardPin = String(randomInt(10_000)).padStart(4, '0')
  const card = await createCard(
    {
      userId: user.id,
      second_line: 'Demo',
      name_on_card: user.legal_name,
      type: 'SCHEME_ONE',
      product_type: 'SCHEME_ONE_DEBIT',
      order_status: 'VIRTUAL_DELIVERY',
      pin_code_assignment: [
        {
          type: 'PRIMARY',
          routing_type: 'MANUAL',
          pin_code: cardPin,
          status: 'ACTIVE',
          monetary_account_id: accountId,
        },
      ],
      alias: undefined,
      preferred_name_on_card: undefined,
      monetary_account_id_fallback: undefined,
    },
    ctx,
  )
  return { cardId: String(card.id), cardPin }
}

/** A client that the person has at identity, or else a new one; with a callback URL. */
export async function demoClient(ctx: Context, userId: number): Promise<Record<string, string>> {
  try {
    const { clients } = dataOf(await ctx.graph.ask('{ clients(first: 1) { nodes { clientId } } }'))
    const client_id = clients.nodes[0]?.clientId ?? (await newClient(ctx))
    const { id } = await linkClient({ userId, client_id }, ctx)
    await createUrl({ userId, oauthClientId: String(id), url: CALLBACK_URL }, ctx)
    return { oauthClientId: String(id) }
  } catch (error) {
    // A bank that is started alone reaches no identity, and has no client to show.
    if (error instanceof Fault && error.status === 503) return {}
    throw error
  }
}

async function newClient(ctx: Context): Promise<string> {
  const answer = await ctx.graph.ask(
    `mutation { createClient(clientName: "Bank demo", clientUri: "http://127.0.0.1:8765/") {
       client { clientId } } }`,
  )
  return dataOf(answer).createClient.client.clientId
}
