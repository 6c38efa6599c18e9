// The bank opened for a test, and people with money in it.
import { fundraisers } from '../../resolvers/banking/fundraisers.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/banking.ts'
import { openForTest, type OpenOptions, type TestService } from '../open.ts'
import type { Person } from '../people.ts'

export interface Holder {
  readonly person: Person
  readonly userId: number
  readonly accountId: number
  readonly iban: string
  /** The path of the account. */
  readonly account: string
}

export type TestBank = Awaited<ReturnType<typeof openBank>>

export const openBank = async (options: OpenOptions = {}) =>
  bankOf(await openForTest(subgraph, options))

/** A bank that was opened among other services. */
export const bankOf = (service: TestService) => ({ ...service, ...helpersOf(service) })

function helpersOf(service: TestService) {
  /** Gives a person a user with an account, and so many euros. */
  async function holder(person: Person, euros = 0): Promise<Holder> {
    const made = await service.rest('POST /v1/user-person', {}, { credential: person })
    const userId: number = made.body.Id.id
    const { body } = await service.rest(`GET /v1/user/${userId}/monetary-account-bank`, undefined, {
      credential: person,
    })
    const [{ id: accountId, alias }] = body
    const account = `/v1/user/${userId}/monetary-account/${accountId}`
    const found = { person, userId, accountId, iban: alias[0].value as string, account }
    for (let rest = euros; rest > 0; rest -= 500) await fund(found, Math.min(rest, 500))
    return found
  }

  /** The sandbox pays a request to the test address at once. */
  async function fund({ account, person }: Holder, euros: number): Promise<void> {
    const { status } = await service.rest(
      `POST ${account}/request-inquiry`,
      {
        amount_inquired: { value: `${euros}.00`, currency: 'EUR' },
        counterparty_alias: { type: 'EMAIL', value: 'funds@bank.example' },
        description: 'Funds',
        allow_vendorme: false,
      },
      { credential: person },
    )
    if (status !== 200) throw new Error(`funding answered ${status}`)
  }

  async function balance({ userId, accountId, person }: Holder): Promise<string> {
    const { body } = await service.rest(
      `GET /v1/user/${userId}/monetary-account-bank/${accountId}`,
      undefined,
      { credential: person },
    )
    return body.balance.value
  }

  const pay = (
    from: Holder,
    to: string,
    value: string,
    { headers = {}, ...more }: Record<string, any> = {},
  ) =>
    service.rest(
      `POST ${from.account}/payment`,
      {
        amount: { value, currency: 'EUR' },
        counterparty_alias: { type: 'IBAN', value: to, name: 'Someone' },
        description: 'A payment',
        ...more,
      },
      { credential: from.person, headers },
    )

  return { holder, fund, balance, pay }
}

/** What is refused, in words. */
export const wordsOf = ({ body }: { body: any }): string => body.Error[0].error_description

/**
 * Looks through all books: what migrations.ts lists must be true. Returns what is not, in words.
 */
export async function violations(store: Store): Promise<string[]> {
  const found: string[] = []
  const check = async (rule: string, sql: string) => {
    const rows = await store.sql(sql)
    if (rows.length > 0) found.push(`${rule}: ${JSON.stringify(rows.slice(0, 3))}`)
  }
  await check(
    'the balances of a currency add up to nothing',
    'SELECT currency, sum(balance) AS total FROM account GROUP BY currency HAVING sum(balance) <> 0',
  )
  await check(
    'a balance is the fold of its entries',
    `SELECT a.id, a.balance, a.balance
       - coalesce((SELECT sum(amount) FROM entry WHERE credit = a.id), 0)
       + coalesce((SELECT sum(amount) FROM entry WHERE debit = a.id), 0) AS difference
     FROM account a WHERE a.balance
       <> coalesce((SELECT sum(amount) FROM entry WHERE credit = a.id), 0)
        - coalesce((SELECT sum(amount) FROM entry WHERE debit = a.id), 0)`,
  )
  await check(
    'an account holds what its holds add up to',
    `SELECT a.id, a.held FROM account a WHERE a.held
       <> coalesce((SELECT sum(amount) FROM hold WHERE account = a.id AND state = 'HELD'), 0)`,
  )
  await check(
    'no account is overdrawn beyond its limit',
    'SELECT id, balance, held FROM account WHERE overdraft_limit IS NOT NULL AND balance - held < -overdraft_limit',
  )
  await check(
    'a reversal undoes its entry exactly, and no reversal is undone',
    `SELECT r.id FROM entry r JOIN entry e ON e.id = r.reverses
     WHERE r.debit <> e.credit OR r.credit <> e.debit OR r.amount <> e.amount OR e.reverses IS NOT NULL`,
  )
  await check(
    'the latest entry of an account has its balance',
    `SELECT a.id, a.balance FROM account a JOIN entry e ON e.id =
       (SELECT max(id) FROM entry WHERE debit = a.id OR credit = a.id)
     WHERE CASE WHEN e.debit = a.id THEN e.debit_after ELSE e.credit_after END <> a.balance`,
  )
  const fundraisersFound = await store.sql(
    `SELECT about, sum(CASE WHEN reverses IS NULL THEN amount ELSE -amount END) AS raised FROM entry
     WHERE about LIKE 'fundraiser %' GROUP BY about`,
  )
  for (const { about, raised } of fundraisersFound) {
    const kept = await store.get(fundraisers, about.slice('fundraiser '.length))
    if (kept?.raised !== raised) found.push(`${about} has ${kept?.raised}, and was given ${raised}`)
  }
  return found
}
