// Requests for payment: one account asks, another accepts or rejects. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, post as postTo, put } from '../kernel/operation.ts'
import { flag, optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import { amount, amountOf, limitOf, moneyOf, type Amount } from './amounts.ts'
import { counterpartyOf, TEST_FUNDER } from './counterparties.ts'
import { BadRequest, NoSuch, WrongState } from './errors.ts'
import { accountById, post, settlementAccount, type Account } from './ledger.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { listInput, listKind, showNodes, viewPage } from './pages.ts'
import { announcePayment } from './payment-views.ts'
import {
  inquiryShape,
  requests,
  responseShape,
  viewInquiry,
  viewResponse,
} from './request-records.ts'
import type { PaymentRequest } from './request-records.ts'
import { checkSigned } from './signatures.ts'
import {
  ACCOUNT,
  description,
  idShape,
  idWrapperShape,
  itemId,
  moments,
  momentOf,
  ofAccount,
  onceHeaders,
  onceInput,
  pointer,
  readUrl,
  showId,
  showIdWrapper,
  type SentPointer,
} from './shapes.ts'

const LIFE_MS = 30 * 24 * 60 * 60_000
const TEST_FUNDS_MAX = 50_000
const AGE_MIN = 12
const AGE_MAX = 100

export const kinds = [requests]

const INQUIRIES = `${ACCOUNT}/request-inquiry`
const RESPONSES = `${ACCOUNT}/request-response`
const beyond = { isBeyond: true }
const one = { ...ofAccount, itemId }

export const operations = [
  operation({
    name: 'createRequestInquiry',
    rest: postTo(INQUIRIES, { ...beyond, show: showId, answer: idShape, headers: onceHeaders }),
    input: {
      ...ofAccount,
      amount_inquired: amount,
      counterparty_alias: pointer,
      description,
      allow_vendorme: flag,
      merchant_reference: optional(text.max(200)),
      minimum_age: optional(whole),
      require_address: optional(text.max(40)),
      redirect_url: optional(text.max(2000)),
      event_id: optional(whole),
      ...onceInput,
    },
    run: createInquiry,
  }),
  operation({
    name: 'requestInquiries',
    rest: get(INQUIRIES, { ...beyond, show: showNodes, answer: z.array(inquiryShape) }),
    input: { ...ofAccount, ...listInput },
    async run({ userId, monetaryAccountId, ...input }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      const page = await listKind(ctx, requests, { asking: monetaryAccountId }, input)
      return viewPage(page, (found) => viewInquiry(ctx, found))
    },
  }),
  operation({
    name: 'requestInquiry',
    rest: get(`${INQUIRIES}/{itemId}`, { ...beyond, answer: inquiryShape }),
    input: one,
    run: async (input, ctx) => viewInquiry(ctx, await needRequest(ctx, ctx.store, 'asking', input)),
  }),
  operation({
    name: 'updateRequestInquiry',
    rest: put(`${INQUIRIES}/{itemId}`, { ...beyond, answer: inquiryShape }),
    input: { ...one, status: z.literal('REVOKED') },
    run: revokeInquiry,
  }),
  operation({
    name: 'requestResponses',
    rest: get(RESPONSES, { ...beyond, show: showNodes, answer: z.array(responseShape) }),
    input: { ...ofAccount, ...listInput },
    async run({ userId, monetaryAccountId, ...input }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      const page = await listKind(ctx, requests, { asked: monetaryAccountId }, input)
      return viewPage(page, (found) => viewResponse(ctx, found))
    },
  }),
  operation({
    name: 'requestResponse',
    rest: get(`${RESPONSES}/{itemId}`, { ...beyond, answer: responseShape }),
    input: one,
    run: async (input, ctx) => viewResponse(ctx, await needRequest(ctx, ctx.store, 'asked', input)),
  }),
  operation({
    name: 'updateRequestResponse',
    rest: put(`${RESPONSES}/{itemId}`, { ...beyond, show: showIdWrapper, answer: idWrapperShape }),
    input: {
      ...one,
      status: z.enum(['ACCEPTED', 'REJECTED']),
      amount_responded: optional(amount),
    },
    refuses: { 466: 'A client with a session signs what moves money.' },
    run: respond,
  }),
]

export const steps = { 'expire request': expireRequest }

const times = moments('created', 'updated', 'time_responded', 'time_expiry')
export const fields = { RequestInquiry: times, RequestResponse: times }

interface One {
  readonly userId: number
  readonly monetaryAccountId: number
  readonly itemId: number
}

async function needRequest(
  ctx: Context,
  from: Records,
  side: 'asking' | 'asked',
  { userId, monetaryAccountId, itemId }: One,
): Promise<PaymentRequest> {
  await needAccount(ctx, userId, monetaryAccountId, from)
  const request = await from.get(requests, String(itemId))
  if (request?.[side] !== monetaryAccountId) throw NoSuch('request', itemId)
  return request
}

type CreateInput = {
  userId: number
  monetaryAccountId: number
  amount_inquired: Amount
  counterparty_alias: SentPointer
  description: string
  allow_vendorme: boolean
  merchant_reference?: string | undefined
  minimum_age?: number | undefined
  require_address?: string | undefined
  redirect_url?: string | undefined
  event_id?: number | undefined
}

export async function createInquiry(input: CreateInput, ctx: Context) {
  const { userId, monetaryAccountId, minimum_age: age } = input
  if (age !== undefined && (age < AGE_MIN || age > AGE_MAX)) {
    throw BadRequest(`minimum_age must be between ${AGE_MIN} and ${AGE_MAX}.`)
  }
  const request = await ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createRequestInquiry', input },
      {
        async make() {
          const asking = await needAccount(ctx, userId, monetaryAccountId, tx)
          const money = moneyOf(input.amount_inquired, 'amount_inquired')
          if (money.currency !== asking.currency) {
            throw BadRequest(`amount_inquired.currency must be ${asking.currency}.`)
          }
          if (asking.status !== 'ACTIVE') throw WrongState(`The account ${asking.iban} is closed.`)
          const isTest = isTestFunder(input.counterparty_alias)
          if (isTest && money.minor > TEST_FUNDS_MAX) {
            throw BadRequest('The test address gives at most 500.00 at a time.')
          }
          const asked = isTest
            ? await settlementAccount(tx, money.currency)
            : await askedOf(ctx, tx, input.counterparty_alias, asking)
          const made = await addRequest(ctx, tx, { input, asking, asked })
          return isTest
            ? accept(ctx, tx, made, { asking, asked, amount: made.amount_inquired })
            : made
        },
        recall: async (id) => (await tx.get(requests, String(id)))!,
      },
    ),
  )
  return viewInquiry(ctx, request)
}

const isTestFunder = ({ type, value }: SentPointer): boolean =>
  type === 'EMAIL' && value.toLowerCase() === TEST_FUNDER

async function askedOf(
  ctx: Context,
  tx: Records,
  sent: SentPointer,
  asking: Account,
): Promise<Account> {
  if (sent.type === 'URL')
    throw BadRequest('counterparty_alias.type must be EMAIL, PHONE_NUMBER or IBAN.')
  const { account, outside } = await counterpartyOf(ctx, tx, sent, asking.currency)
  if (outside) throw BadRequest('counterparty_alias must be an account of this bank.')
  if (account.id === asking.id) throw BadRequest('An account cannot ask itself.')
  if (account.currency !== asking.currency) {
    throw BadRequest(`The account ${account.iban} is kept in ${account.currency}.`)
  }
  return account
}

async function addRequest(
  ctx: Context,
  tx: Records,
  { input, asking, asked }: { input: CreateInput; asking: Account; asked: Account },
): Promise<PaymentRequest> {
  const now = ctx.clock.now().getTime()
  const request: PaymentRequest = {
    id: await nextId(tx, 'request'),
    asking: asking.id,
    asked: asked.id,
    created: momentOf(now),
    updated: momentOf(now),
    time_responded: null,
    time_expiry: momentOf(now + LIFE_MS),
    expiresMs: now + LIFE_MS,
    amount_inquired: input.amount_inquired,
    amount_responded: null,
    status: 'PENDING',
    description: input.description,
    merchant_reference: input.merchant_reference ?? null,
    minimum_age: input.minimum_age ?? null,
    require_address: input.require_address ?? null,
    redirect_url:
      input.redirect_url === undefined ? null : readUrl(input.redirect_url, 'redirect_url'),
    event_id: input.event_id ?? null,
    allow_vendorme: input.allow_vendorme,
  }
  await tx.insert(requests, request)
  await ctx.work.later(tx, LIFE_MS, 'expire request', { id: request.id })
  await announce(ctx, tx, request, 'created')
  return request
}

const announce = (ctx: Context, tx: Records, request: PaymentRequest, happened: string) =>
  ctx.events.announce(tx, {
    type: `banking.request.${happened}`,
    subject: String(request.id),
    body: { asking: request.asking, asked: request.asked, status: request.status },
  })

/** Refuses what asks for a request that waits, also when its end has not been written yet. */
function checkPending({ clock }: Context, { status, expiresMs }: PaymentRequest): void {
  const isOver = status === 'PENDING' && clock.now().getTime() >= expiresMs
  if (status === 'PENDING' && !isOver) return
  throw WrongState(`This request is ${(isOver ? 'EXPIRED' : status).toLowerCase()}.`)
}

async function end(
  ctx: Context,
  tx: Records,
  request: PaymentRequest,
  change: Partial<PaymentRequest> & Pick<PaymentRequest, 'status'>,
): Promise<PaymentRequest> {
  const ended = { ...request, updated: momentOf(ctx.clock.now()), ...change }
  await tx.save(requests, ended)
  await announce(ctx, tx, ended, ended.status.toLowerCase())
  return ended
}

async function revokeInquiry(input: One, ctx: Context) {
  const request = await ctx.store.transaction(async (tx) => {
    const request = await needRequest(ctx, tx, 'asking', input)
    checkPending(ctx, request)
    return end(ctx, tx, request, { status: 'REVOKED' })
  })
  return viewInquiry(ctx, request)
}

async function respond(
  input: One & { status: 'ACCEPTED' | 'REJECTED'; amount_responded?: Amount | undefined },
  ctx: Context,
) {
  checkSigned(ctx)
  const request = await ctx.store.transaction(async (tx) => {
    const request = await needRequest(ctx, tx, 'asked', input)
    checkPending(ctx, request)
    if (input.status === 'REJECTED') {
      const time_responded = momentOf(ctx.clock.now())
      return end(ctx, tx, request, { status: 'REJECTED', time_responded })
    }
    return accept(ctx, tx, request, {
      asking: (await accountById(tx, request.asking))!,
      asked: (await accountById(tx, request.asked))!,
      amount: input.amount_responded ?? request.amount_inquired,
    })
  })
  return viewResponse(ctx, request)
}

async function accept(
  ctx: Context,
  tx: Records,
  request: PaymentRequest,
  { asking, asked, amount }: { asking: Account; asked: Account; amount: Amount },
): Promise<PaymentRequest> {
  const money = moneyOf(amount, 'amount_responded')
  if (money.minor < limitOf(request.amount_inquired, 'amount_inquired').minor) {
    throw BadRequest('amount_responded must be at least what was asked for.')
  }
  const entry = await post(ctx, tx, {
    debit: asked,
    credit: asking,
    money,
    reason: 'REQUEST',
    about: `request ${request.id}`,
    details: { description: request.description },
  })
  await announcePayment(ctx, tx, entry)
  return end(ctx, tx, request, {
    status: 'ACCEPTED',
    amount_responded: amountOf(money.minor, money.currency),
    time_responded: momentOf(ctx.clock.now()),
  })
}

async function expireRequest({ id }: { id: number }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const request = await tx.get(requests, String(id))
    if (request?.status === 'PENDING') await end(ctx, tx, request, { status: 'EXPIRED' })
  })
}
