import { expect, test } from 'vitest'
import { subgraph as banking } from '../../subgraphs/banking.ts'
import { HOST } from '../open.ts'
import { openGraphForTest } from '../open-graph.ts'
import { people } from '../people.ts'
import { bankOf, openBank } from './bank.ts'

test('the demo has a card that pays with its PIN, and a client of identity with a callback URL', async () => {
  const graph = await openGraphForTest([banking])
  const bank = bankOf(graph.service('banking'))
  const ctx = bank.opened.contextFor(people.alice, { address: `http://${HOST}`, headers: {} })

  const things = await banking.demo!(ctx)

  const { userId, cardId, cardPin, oauthClientId } = things
  const { body } = await bank.rest(`GET /v1/user/${userId}/card/${cardId}`)
  expect(body).toMatchObject({ status: 'ACTIVE', name_on_card: 'Ada Lovelace' })
  const paid = await bank.graphql(
    `mutation ($user: ID!, $card: ID!, $pin: String!) {
       payWithCard(userId: $user, itemId: $card, pinCode: $pin, country: "NL", merchant: "Bakery",
         amount: { value: "2.50", currency: "EUR" }) { amount { value } } }`,
    { user: userId, card: cardId, pin: cardPin },
  )
  expect(paid.data.payWithCard).toEqual({ amount: { value: '-2.50' } })
  const urls = await bank.rest(`GET /v1/user/${userId}/oauth-client/${oauthClientId}/callback-url`)
  expect(urls.body).toMatchObject([{ id: 1, url: 'http://127.0.0.1:8765/bank-callback' }])
  const { data } = await graph.ask('{ clients { nodes { clientName } } }')
  expect(data.clients.nodes).toEqual([{ clientName: 'Bank demo' }])
})

test('the demo uses a client that the person has', async () => {
  const graph = await openGraphForTest([banking])
  const bank = bankOf(graph.service('banking'))
  await graph.ask(
    'mutation { createClient(clientName: "App", clientUri: "https://app.example/") { client { clientId } } }',
  )

  await banking.demo!(
    bank.opened.contextFor(people.alice, { address: `http://${HOST}`, headers: {} }),
  )

  const { data } = await graph.ask(
    '{ clients { nodes { clientName callbackUrls { nodes { url } } } } }',
  )
  expect(data.clients.nodes).toEqual([
    {
      clientName: 'App',
      callbackUrls: { nodes: [{ url: 'http://127.0.0.1:8765/bank-callback' }] },
    },
  ])
})

test('a bank alone makes its demo without a client', async () => {
  const bank = await openBank()

  const things = await banking.demo!(
    bank.opened.contextFor(people.alice, { address: `http://${HOST}`, headers: {} }),
  )

  expect(things).toMatchObject({ cardId: '1' })
  expect(things).not.toHaveProperty('oauthClientId')
})
