// Many payers at once, on both engines: exactly the payments that fit are made.
import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/banking.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openBank, violations, type Holder } from './bank.ts'

const ACCOUNTS = 10
const PAYERS = 64
const TIME_MS_MAX = 60_000

describe.each(engines)('on $engine', ({ database }) => {
  test(
    '64 payers on 10 accounts make exactly the payments that fit',
    async () => {
      const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
      const bank = await openBank({ store })
      const accounts: Holder[] = []
      for (let i = 0; i < ACCOUNTS; i += 1) accounts.push(await bank.holder('alice', 10))
      const shop = await bank.holder('bob')

      // Each account can pay 3 of its 6 or 7 payers: 3 times 3.00 of 10.00.
      const answers = await Promise.all(
        Array.from({ length: PAYERS }, (_, i) =>
          bank.pay(accounts[i % ACCOUNTS]!, shop.iban, '3.00', {
            headers: { 'x-vendor-client-request-id': `payer-${i}` },
          }),
        ),
      )

      const statuses = answers.map(({ status }) => status).sort((a, b) => a - b)
      expect(statuses.filter((status) => status === 200)).toHaveLength(30)
      expect(statuses.filter((status) => status === 400)).toHaveLength(34)
      expect(await bank.balance(shop)).toBe('90.00')
      for (const account of accounts) expect(await bank.balance(account)).toBe('1.00')
      expect(await violations(bank.store)).toEqual([])
      expect(bank.mistakes).toEqual([])
    },
    TIME_MS_MAX,
  )

  test(
    'payments in circles, in batches and to one tab at once lose nothing',
    async () => {
      const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
      const bank = await openBank({ store })
      const accounts: Holder[] = []
      for (let i = 0; i < 4; i += 1) accounts.push(await bank.holder('alice', 50))
      const [asker] = accounts as [Holder]
      const tab = await bank.rest(`POST ${asker.account}/vendorme-tab`, {
        vendorme_tab_entry: {
          amount_inquired: { value: '5.00', currency: 'EUR' },
          description: 'Once',
        },
      })
      const { body } = await bank.rest(`GET ${asker.account}/vendorme-tab/${tab.body.id}`)
      const url = { type: 'URL', value: body.vendorme_tab_share_url }

      const answers = await Promise.all([
        ...accounts.map((from, i) => bank.pay(from, accounts[(i + 1) % 4]!.iban, '7.00')),
        ...accounts
          .slice(1)
          .map((from) =>
            bank.pay(from, '', '5.00', { counterparty_alias: url, description: 'The tab' }),
          ),
      ])

      expect(answers.slice(0, 4).map(({ status }) => status)).toEqual([200, 200, 200, 200])
      const onTab = answers.slice(4).map(({ status }) => status)
      expect(onTab.sort((a, b) => a - b)).toEqual([200, 400, 400])
      expect(await bank.balance(asker)).toBe('55.00')
      expect(await violations(bank.store)).toEqual([])
    },
    TIME_MS_MAX,
  )
})
