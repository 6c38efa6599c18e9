// What the graph joins on, statements as files, and the demo.
import { expect, test } from 'vitest'
import { demo } from '../../resolvers/banking/demo.ts'
import { HOST } from '../open.ts'
import { people } from '../people.ts'
import { openBank, violations } from './bank.ts'

const ENTITY = `query ($of: [_Any!]!) { _entities(representations: $of) { __typename
  ... on MonetaryAccount { id balance { value } owner { id } }
  ... on Payment { id amount { value } payer { id } monetaryAccount { id } }
  ... on PaymentRequestTab { id status }
  ... on FundraiserProfile { id total { value } }
  ... on User { id monetaryAccounts { nodes { id } } } } }`

test('references are resolved for their owner alone', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 10)
  const bob = await bank.holder('bob')
  const { body } = await bank.pay(alice, bob.iban, '4.00')
  await bank.rest(`POST ${alice.account}/vendorme-tab`, {
    vendorme_tab_entry: {
      amount_inquired: { value: '1.00', currency: 'EUR' },
      description: 'x',
    },
  })
  const of = [
    { __typename: 'MonetaryAccount', id: String(alice.accountId) },
    { __typename: 'Payment', id: String(body.id) },
    { __typename: 'PaymentRequestTab', id: '1' },
    { __typename: 'FundraiserProfile', id: '1' },
    { __typename: 'User', id: 'alice' },
  ]

  const own = await bank.graphql(ENTITY, { of })
  const foreign = await bank.graphql(ENTITY, { of }, { credential: 'bob' })
  const odd = await bank.graphql(ENTITY, {
    of: of.map((reference) => ({ ...reference, id: "1' OR 1=1" })),
  })

  expect(own.data._entities).toMatchObject([
    { id: String(alice.accountId), balance: { value: '6.00' }, owner: { id: 'alice' } },
    { amount: { value: '-4.00' }, payer: { id: 'alice' }, monetaryAccount: {} },
    { id: '1', status: 'WAITING_FOR_PAYMENT' },
    { id: '1', total: { value: '0.00' } },
    { id: 'alice', monetaryAccounts: { nodes: [{ id: String(alice.accountId) }] } },
  ])
  expect(foreign.data._entities).toEqual([null, null, null, null, null])
  expect(odd.data._entities).toEqual([null, null, null, null, null])
})

test('the statements of many accounts cost one reading, and page by cursors of their own', async () => {
  let readings = 0
  const bank = await openBank({
    wrap: (store) => ({
      ...store,
      sql: (text, values) => {
        if (text.includes('both_sides')) readings += 1
        return store.sql(text, values)
      },
    }),
  })
  const holders = [await bank.holder('alice', 10), await bank.holder('alice', 20)]
  const shop = await bank.holder('bob')
  for (const holder of holders)
    for (let i = 0; i < 3; i += 1) await bank.pay(holder, shop.iban, '1.00')
  const query = `query ($after: String) { _entities(representations: [{ __typename: "User", id: "alice" }]) { ... on User {
    monetaryAccounts { nodes { payments(first: 2, after: $after) { nodes { balanceAfterMutation { value } } pageInfo { hasNextPage endCursor } } } } } } }`

  const { data } = await bank.graphql(query)
  const pages = data._entities[0].monetaryAccounts.nodes.map((node: any) => node.payments)
  const one = `query ($u: ID!, $m: ID!, $after: String) { payments(userId: $u, monetaryAccountId: $m, first: 2, after: $after) {
    nodes { balanceAfterMutation { value } } } }`
  const of = { u: holders[0]!.userId, m: holders[0]!.accountId }
  const next = await bank.graphql(one, { ...of, after: pages[1].pageInfo.endCursor })
  const foreign = await bank.graphql(one, { ...of, after: pages[0].pageInfo.endCursor })

  expect(readings).toBe(2)
  expect(
    pages.map(({ nodes }: any) => nodes.map((n: any) => n.balanceAfterMutation.value)),
  ).toEqual([
    ['17.00', '18.00'],
    ['7.00', '8.00'],
  ])
  expect(next.data.payments.nodes).toEqual([
    { balanceAfterMutation: { value: '9.00' } },
    { balanceAfterMutation: { value: '10.00' } },
  ])
  expect(foreign.errors![0].extensions.status).toBe(400)
})

async function withHistory() {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')
  await bank.advance(24 * 3600_000)
  await bank.pay(alice, bob.iban, '12.50', { description: '=HYPERLINK("x"), "quoted" & <b>' })
  await bank.pay(alice, 'DE89370400440532013000', '7.50', { description: 'Rent' })
  return { bank, alice, bob }
}

test('a statement as CSV has a line for each payment of its days, and no formulas', async () => {
  const { bank, alice, bob } = await withHistory()

  const answer = await bank.rest(
    `GET ${alice.account}/statement?format=CSV&date_start=2030-01-02&date_end=2030-01-02`,
  )

  expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
  expect(answer.body.toString().split('\r\n')).toEqual([
    'Date,Id,Amount,Currency,Account,Counterparty,Name,Description,Type,Balance',
    `2030-01-02,3,-12.50,EUR,${alice.iban},${bob.iban},Person 2,"'=HYPERLINK(""x""), ""quoted"" & <b>",VENDOR,87.50`,
    `2030-01-02,5,-7.50,EUR,${alice.iban},DE89370400440532013000,Someone,Rent,EBA_SCT,80.00`,
    '',
  ])
})

test('a statement as camt.053 opens and closes with the balances of its days', async () => {
  const { bank, alice, bob } = await withHistory()

  const { data } = await bank.graphql(
    `query ($u: ID!, $m: ID!) { statementExport(userId: $u, monetaryAccountId: $m, format: CAMT_053,
       dateStart: "2030-01-02", dateEnd: "2030-01-31") { content contentType fileName } }`,
    { u: alice.userId, m: alice.accountId },
  )

  const { content, contentType, fileName } = data.statementExport
  expect(contentType).toBe('application/xml; charset=utf-8')
  expect(fileName).toBe(`${alice.iban}-2030-01-02.xml`)
  expect(content).toContain('urn:iso:std:iso:20022:tech:xsd:camt.053.001.02')
  expect(content).toContain(
    '<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">100.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>',
  )
  expect(content).toContain(
    '<Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">80.00</Amt><CdtDbtInd>CRDT</CdtDbtInd>',
  )
  expect(content).toContain(`<CdtrAcct><Id><IBAN>${bob.iban}</IBAN></Id></CdtrAcct>`)
  expect(content).toContain('<Ustrd>=HYPERLINK("x"), "quoted" &amp; &lt;b&gt;</Ustrd>')
})

test('days without payments keep their balance, and wrong days are refused', async () => {
  const { bank, alice } = await withHistory()
  const path = `GET ${alice.account}/statement?format=CAMT_053`

  const quiet = await bank.rest(`${path}&date_start=2030-01-05&date_end=2030-01-06`)
  const backwards = await bank.rest(`${path}&date_start=2030-01-05&date_end=2030-01-04`)
  const noDay = await bank.rest(`${path}&date_start=yesterday`)
  const format = await bank.rest(`GET ${alice.account}/statement?format=PDF&date_start=2030-01-05`)

  expect(quiet.body.toString().match(/<Amt Ccy="EUR">80.00<\/Amt>/g)).toHaveLength(2)
  expect([backwards.status, noDay.status, format.status]).toEqual([400, 400, 400])
})

test('the demo makes what its credentials name', async () => {
  const bank = await openBank()
  const ctx = bank.opened.contextFor(people.alice, { address: `http://${HOST}`, headers: {} })
  const startMs = performance.now()

  const made = await demo(ctx)
  const tookMs = performance.now() - startMs

  const account = `/v1/user/${made.userId}/monetary-account/${made.monetaryAccountId}`
  const paths = [
    `/v1/user/${made.userId}/vendorme-fundraiser-profile/${made.fundraiserProfileId}`,
    `${account}/vendorme-fundraiser-result/${made.fundraiserResultId}`,
    `${account}/vendorme-tab-result-response/${made.tabResultResponseId}`,
    `${account}/vendorme-tab`,
  ]
  for (const path of paths) expect((await bank.rest(`GET ${path}`)).status).toBe(200)
  const { body } = await bank.rest(`GET ${paths[1]}`)
  expect(body.payments.map(({ amount }: any) => amount.value)).toEqual(['50.00', '25.00'])
  expect(tookMs).toBeLessThan(3_000)
  expect(await violations(bank.store)).toEqual([])
})
