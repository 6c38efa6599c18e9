// Whom a pointer names: an account here, one at another bank, a tab or a fundraiser.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { BadRequest, WrongState } from './errors.ts'
import { fundraiserByUrl } from './fundraisers.ts'
import { isOurs, readIban } from './iban.ts'
import { accountByIban, accountById, settlementAccount, type Account } from './ledger.ts'
import type { AccountLabel, SentPointer } from './shapes.ts'
import { tabByUrl, type Tab } from './tabs.ts'
import { aliases, aliasKey } from './users.ts'

export interface Counterparty {
  readonly account: Account
  /** Where the account is only the bank's own, through which money leaves. */
  readonly outside?: Partial<AccountLabel>
  readonly about?: string
  readonly tab?: Tab
}

/** The sandbox accepts requests to it at once, and pays them. */
export const TEST_FUNDER = 'funds@bank.example'

/** Finds who is to be paid, or says why nobody is found. */
export async function counterpartyOf(
  ctx: Context,
  tx: Records,
  pointer: SentPointer,
  currency: string,
): Promise<Counterparty> {
  switch (pointer.type) {
    case 'IBAN':
      return byIban(tx, pointer, currency)
    case 'URL':
      return byUrl(tx, pointer.value)
    default: {
      const alias = await tx.get(aliases, aliasKey(pointer.type, pointer.value))
      if (alias) return { account: (await accountById(tx, alias.monetary_account_id))! }
      throw BadRequest(
        `counterparty_alias: nobody at this bank has the ${pointer.type} ${pointer.value}.`,
      )
    }
  }
}

async function byIban(
  tx: Records,
  { value, name }: SentPointer,
  currency: string,
): Promise<Counterparty> {
  const iban = readIban(value)
  if (!iban) throw BadRequest('counterparty_alias.value is no IBAN: its check digits do not fit.')
  const account = await accountByIban(tx, iban)
  if (account) return { account }
  if (isOurs(iban)) throw BadRequest(`counterparty_alias: there is no account ${iban}.`)
  if (!name) throw BadRequest('counterparty_alias.name is required with an IBAN of another bank.')
  const outside = { iban, display_name: name, country: iban.slice(0, 2) }
  return { account: await settlementAccount(tx, currency), outside }
}

async function byUrl(tx: Records, value: string): Promise<Counterparty> {
  const tab = await tabByUrl(tx, value)
  if (tab) {
    const account = (await accountById(tx, tab.monetary_account_id))!
    return { account, tab, about: `tab ${tab.id}` }
  }
  const fundraiser = await fundraiserByUrl(tx, value)
  if (!fundraiser) throw BadRequest('counterparty_alias.value is not a page of this bank.')
  if (fundraiser.status !== 'ACTIVE') throw WrongState('This fundraiser takes no payments now.')
  const account = (await accountById(tx, fundraiser.monetary_account_id))!
  return { account, about: `fundraiser ${fundraiser.id}` }
}
