// How users come to be: for a person whom identity knows, or in the sandbox with a key of their own. Each
// begins with an account, an address to be paid at and a fundraiser. Specification 2, service B.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { openAccount } from './account-changes.ts'
import { addFundraiser } from './fundraisers.ts'
import { accountById, post as book, settlementAccount } from './ledger.ts'
import { once } from './once.ts'
import { hashOf } from './secrets.ts'
import { idWrapperShape, onceHeaders, onceInput, showIdWrapper } from './shapes.ts'
import { addSubscription } from './subscriptions.ts'
import { addUser, aliases, needUser, type BankUser, type Names } from './users.ts'

const SANDBOX_FUNDS = { minor: 50_000, currency: 'EUR' }
const KEY_BYTES = 32

/** A key of the sandbox: whoever shows it is the owner of its user. */
export interface SandboxKey {
  readonly hash: string
  readonly owner: string
}

export const sandboxKeys = kind<SandboxKey>('sandbox_key', { key: ({ hash }) => hash })
export const kinds = [sandboxKeys]

const person = {
  first_name: optional(text.min(1).max(100)),
  last_name: optional(text.min(1).max(100)),
}
const company = { name: optional(text.min(1).max(100)) }
const keyShape = z.object({ api_key: z.string() })
const ofSandbox = { isBeyond: true, answer: keyShape, show: ({ api_key }: any) => ({ api_key }) }
const made = { isBeyond: true, show: showIdWrapper, answer: idWrapperShape, headers: onceHeaders }

export const operations = [
  operation({
    name: 'createUserPerson',
    rest: post('/user-person', made),
    input: { ...person, ...onceInput },
    run: (input, ctx) => createUser(ctx, 'UserPerson', input),
  }),
  operation({
    name: 'createUserCompany',
    rest: post('/user-company', made),
    input: { ...company, ...onceInput },
    run: (input, ctx) => createUser(ctx, 'UserCompany', input),
  }),
  operation({
    name: 'createSandboxUserPerson',
    access: 'anyone',
    rest: post('/sandbox-user-person', ofSandbox),
    input: person,
    run: (input, ctx) => createSandboxUser(ctx, 'UserPerson', input),
  }),
  operation({
    name: 'createSandboxUserCompany',
    access: 'anyone',
    rest: post('/sandbox-user-company', ofSandbox),
    input: company,
    run: (input, ctx) => createSandboxUser(ctx, 'UserCompany', input),
  }),
]

/** Makes a user of the caller's. */
export async function createUser(
  ctx: Context,
  kind: BankUser['kind'],
  input: Names & { 'X-Vendor-Client-Request-Id'?: string | undefined },
): Promise<BankUser> {
  const { 'X-Vendor-Client-Request-Id': _, ...names } = input
  return ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: `create${kind}`, input },
      {
        make: async () => (await register(ctx, tx, { owner: ctx.caller.userId, kind, names })).user,
        recall: (id) => needUser(ctx, id, tx),
      },
    ),
  )
}

async function createSandboxUser(ctx: Context, kind: BankUser['kind'], names: Names) {
  const api_key = `sandbox_${randomBytes(KEY_BYTES).toString('hex')}`
  const owner = `sandbox-${ctx.newId()}`
  return ctx.store.transaction(async (tx) => {
    const { user, accountId } = await register(ctx, tx, { owner, kind, names })
    await fund(ctx, tx, accountId)
    await tx.insert(sandboxKeys, { hash: hashOf(api_key), owner })
    return { api_key, user_id: user.id, monetary_account_id: accountId }
  })
}

/** Adds a user with what every user has. */
export async function register(
  ctx: Context,
  tx: Records,
  sent: { owner: string; kind: BankUser['kind']; names: Names },
): Promise<{ user: BankUser; accountId: number; fundraiserId: number }> {
  const user = await addUser(ctx, tx, sent)
  await addSubscription(ctx, tx, user)
  const accountId = await openAccount(ctx, tx, user, 'EUR', { description: 'Main account' })
  for (const { type, value } of user.alias) {
    await tx.insert(aliases, { type, value, user_id: user.id, monetary_account_id: accountId })
  }
  const fundraiserId = await addFundraiser(ctx, tx, { user, accountId })
  return { user, accountId, fundraiserId }
}

/** The sandbox gives play money to an account that was just opened. */
export async function fund(ctx: Context, tx: Records, accountId: number): Promise<void> {
  const credit = (await accountById(tx, accountId))!
  await book(ctx, tx, {
    debit: await settlementAccount(tx, SANDBOX_FUNDS.currency),
    credit,
    money: SANDBOX_FUNDS,
    reason: 'PAYMENT',
    details: { description: 'Sandbox funds' },
  })
}
