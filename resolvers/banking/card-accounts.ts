// The accounts that a card pays from. Specification 2, service B.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import type { Card } from './card-records.ts'
import { BadRequest } from './errors.ts'

/**
 * Refuses accounts that are not the user's, are closed, or are of another currency. Those that the card had
 * `before` stay with it: one that was closed since must not keep the holder from changing the card.
 */
export async function checkAccounts(
  ctx: Context,
  tx: Records,
  card: Card,
  before?: Card,
): Promise<void> {
  const known = new Set(before ? accountsOf(before).map(({ id }) => id) : [])
  for (const { field, id } of accountsOf(card)) {
    if (known.has(id)) continue
    const account = await needAccount(ctx, card.user_id, id, tx)
    if (account.status !== 'ACTIVE') throw BadRequest(`${field}: the account ${id} is not open.`)
    if (account.currency !== card.currency) {
      throw BadRequest(`${field}: the account ${id} is not in ${card.currency}, as the card is.`)
    }
  }
}

function accountsOf(card: Card): { field: string; id: number }[] {
  const named = [
    ...card.pin_code_assignment.map((one) => ({
      field: 'pin_code_assignment',
      id: one.monetary_account_id,
    })),
    ...card.primary_account_numbers.map((one) => ({
      field: 'primary_account_numbers',
      id: one.monetary_account_id,
    })),
    { field: 'monetary_account_id_fallback', id: card.monetary_account_id_fallback },
  ]
  return named.filter((one): one is { field: string; id: number } => one.id !== null)
}
