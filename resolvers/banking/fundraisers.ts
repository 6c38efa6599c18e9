// Fundraisers: a page where anyone with an account here gives what they like. Specification 2, service B.
//
// Chosen: every user has one from the beginning, since no operation of the interface makes them; and each
// has one result, which grows with every payment made to it.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import type { Paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { loadLabel, needAccount } from './accounts.ts'
import { amountOf } from './amounts.ts'
import { NoSuch } from './errors.ts'
import type { Entry } from './ledger.ts'
import { nextId } from './numbers.ts'
import { listInput, listKind, showNodes, viewPage } from './pages.ts'
import { paymentsAbout, paymentShape, showPayment } from './payment-views.ts'
import { idOfPublic, viewPublic } from './public-attachments.ts'
import {
  ACCOUNT,
  accountLabelShape,
  description,
  itemId,
  moments,
  momentOf,
  ofAccount,
  ofUser,
  pointerOf,
  pointerShape,
  readColor,
  readUrl,
  USER,
} from './shapes.ts'
import { attachmentShape, uuid } from './uploads.ts'
import { needUser, type BankUser } from './users.ts'

const PAYMENTS_SHOWN_MAX = 100
const FUNDRAISER_URL = /\/f\/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export interface Fundraiser {
  readonly id: number
  readonly owner: string
  readonly owner_user_id: number
  readonly monetary_account_id: number
  readonly created: string
  readonly updated: string
  readonly uuid: string
  readonly color: string
  readonly currency: string
  readonly description: string
  readonly redirect_url: string | null
  /** The number of a public attachment. */
  readonly attachment_id: number | null
  readonly status: 'ACTIVE' | 'DEACTIVATED'
  /** What was given and not given back, in minor units, and how often. */
  readonly raised: number
  readonly donations: number
}

export const fundraisers = kind<Fundraiser>('fundraiser', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    user: numberOf(({ owner_user_id }) => owner_user_id),
    owner: textOf(({ owner }) => owner),
    uuid: textOf(({ uuid }) => uuid),
  },
  indexes: [['user', 'id'], ['owner', 'id'], ['uuid']],
})
export const kinds = [fundraisers]

const textOrNull = z.string().nullable()
const profileShape = z.object({
  monetary_account_id: z.int(),
  owner_user_id: z.int(),
  color: z.string(),
  alias: accountLabelShape,
  currency: z.string(),
  description: z.string(),
  attachment: attachmentShape.nullable(),
  pointer: pointerShape,
  redirect_url: textOrNull,
  status: z.string(),
})
const resultShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  vendorme_fundraiser_profile: z.object({
    pointer: pointerShape,
    color: z.string(),
    alias: accountLabelShape,
    currency: z.string(),
    description: z.string(),
    attachment: attachmentShape.nullable(),
    status: z.string(),
    redirect_url: textOrNull,
    invite_profile_name: textOrNull,
    merchant_available: z.array(z.unknown()),
  }),
  payments: z.array(paymentShape),
})

const MANY = `${USER}/vendorme-fundraiser-profile`
const ONE = `${MANY}/{itemId}`

export const operations = [
  operation({
    name: 'fundraiserProfile',
    rest: get(ONE, { show: showProfile, answer: profileShape }),
    input: { ...ofUser, itemId },
    run: async ({ userId, itemId }, ctx) =>
      viewProfile(ctx, await needFundraiser(ctx, ctx.store, userId, itemId)),
  }),
  operation({
    name: 'fundraiserProfiles',
    rest: get(MANY, {
      show: (page) => (showNodes(page) as ProfileView[]).map(showProfile),
      answer: z.array(profileShape),
    }),
    input: { ...ofUser, ...listInput },
    async run({ userId, ...input }, ctx) {
      await needUser(ctx, userId)
      const page = await listKind(ctx, fundraisers, { user: userId }, input)
      return viewPage(page, (found) => viewProfile(ctx, found))
    },
  }),
  operation({
    name: 'fundraiserResult',
    rest: get(`${ACCOUNT}/vendorme-fundraiser-result/{itemId}`, {
      show: showResult,
      answer: resultShape,
    }),
    input: { ...ofAccount, itemId },
    run: readResult,
  }),
  operation({
    name: 'updateFundraiserProfile',
    input: {
      ...ofUser,
      itemId,
      description: optional(description),
      color: optional(text.max(7)),
      redirect_url: optional(text.max(2000)),
      attachment_public_uuid: optional(uuid),
      status: optional(z.enum(['ACTIVE', 'DEACTIVATED'])),
    },
    run: updateFundraiser,
  }),
]

export const fields = {
  FundraiserProfile: {
    ...moments('created', 'updated'),
    payments: (profile: ProfileView, { first, after }: Paging, ctx: Context) =>
      paymentsTo(ctx, profile, { first, after }),
  },
  FundraiserResult: {
    ...moments('created', 'updated'),
    payments: ({ profile }: { profile: ProfileView }, { first, after }: Paging, ctx: Context) =>
      paymentsTo(ctx, profile, { first, after }),
  },
}

async function needFundraiser(
  ctx: Context,
  from: Records,
  userId: number,
  id: number,
): Promise<Fundraiser> {
  await needUser(ctx, userId, from)
  const fundraiser = await from.get(fundraisers, String(id))
  if (fundraiser?.owner_user_id !== userId) throw NoSuch('fundraiser profile', id)
  return fundraiser
}

export async function viewProfile(ctx: Context, fundraiser: Fundraiser) {
  const { owner, uuid, raised, donations, attachment_id, ...profile } = fundraiser
  const alias = await loadLabel(ctx, fundraiser.monetary_account_id)
  return {
    ...profile,
    owner_id: owner,
    alias,
    attachment: attachment_id === null ? null : await viewPublic(ctx, attachment_id),
    pointer: pointerOf('URL', `${ctx.address}/f/${uuid}`, alias.display_name),
    total: amountOf(raised, fundraiser.currency),
    donations,
  }
}
export type ProfileView = Awaited<ReturnType<typeof viewProfile>>

function showProfile(profile: ProfileView) {
  const {
    owner_id: _,
    total: __,
    donations: ___,
    created: ____,
    updated: _____,
    ...shown
  } = profile
  return shown
}

const paymentsTo = (
  ctx: Context,
  { id, monetary_account_id }: Pick<Fundraiser, 'id' | 'monetary_account_id'>,
  page: { first: number | undefined; after: string | undefined },
) =>
  paymentsAbout(
    ctx,
    { about: `fundraiser ${id}`, accountId: monetary_account_id, side: 'credit' },
    page,
  )

async function readResult(
  {
    userId,
    monetaryAccountId,
    itemId,
  }: { userId: number; monetaryAccountId: number; itemId: number },
  ctx: Context,
) {
  await needAccount(ctx, userId, monetaryAccountId)
  const fundraiser = await ctx.store.get(fundraisers, String(itemId))
  if (fundraiser?.monetary_account_id !== monetaryAccountId)
    throw NoSuch('fundraiser result', itemId)
  const profile = await viewProfile(ctx, fundraiser)
  const { nodes } = await paymentsAbout(
    ctx,
    { about: `fundraiser ${itemId}`, accountId: monetaryAccountId, side: 'credit' },
    { first: PAYMENTS_SHOWN_MAX, after: undefined },
  )
  return {
    id: fundraiser.id,
    created: fundraiser.created,
    updated: fundraiser.updated,
    profile,
    newest: nodes,
  }
}

function showResult({ profile, newest, ...result }: Awaited<ReturnType<typeof readResult>>) {
  const { pointer, color, alias, currency, description, attachment, status, redirect_url } = profile
  return {
    ...result,
    vendorme_fundraiser_profile: {
      pointer,
      color,
      alias,
      currency,
      description,
      attachment,
      status,
      redirect_url,
      invite_profile_name: alias.display_name,
      merchant_available: [],
    },
    payments: newest.map(showPayment),
  }
}

/** Gives a user the fundraiser that every user has. Returns its id. */
export async function addFundraiser(
  ctx: Context,
  tx: Records,
  { user, accountId }: { user: BankUser; accountId: number },
): Promise<number> {
  const now = momentOf(ctx.clock.now())
  const id = await nextId(tx, 'fundraiser')
  await tx.insert(fundraisers, {
    id,
    owner: user.owner,
    owner_user_id: user.id,
    monetary_account_id: accountId,
    created: now,
    updated: now,
    uuid: ctx.newId(),
    color: '#FE2851',
    currency: 'EUR',
    description: '',
    redirect_url: null,
    attachment_id: null,
    status: 'ACTIVE',
    raised: 0,
    donations: 0,
  })
  await ctx.events.announce(tx, {
    type: 'banking.fundraiser.created',
    subject: String(id),
    body: { user_id: user.id, monetary_account_id: accountId },
  })
  return id
}

export async function updateFundraiser(
  {
    userId,
    itemId,
    ...sent
  }: {
    userId: number
    itemId: number
    description?: string | undefined
    color?: string | undefined
    redirect_url?: string | undefined
    attachment_public_uuid?: string | undefined
    status?: Fundraiser['status'] | undefined
  },
  ctx: Context,
): Promise<ProfileView> {
  const changed = await ctx.store.transaction(async (tx) => {
    const before = await needFundraiser(ctx, tx, userId, itemId)
    const after: Fundraiser = {
      ...before,
      description: sent.description ?? before.description,
      color: sent.color === undefined ? before.color : readColor(sent.color),
      redirect_url:
        sent.redirect_url === undefined
          ? before.redirect_url
          : readUrl(sent.redirect_url, 'redirect_url'),
      attachment_id: sent.attachment_public_uuid
        ? await idOfPublic(tx, sent.attachment_public_uuid)
        : before.attachment_id,
      status: sent.status ?? before.status,
      updated: momentOf(ctx.clock.now()),
    }
    await tx.save(fundraisers, after)
    await ctx.events.announce(tx, {
      type: 'banking.fundraiser.changed',
      subject: String(itemId),
      body: { status: after.status },
    })
    return after
  })
  return viewProfile(ctx, changed)
}

/** The fundraiser that a page of ours shows, by the address of the page. */
export async function fundraiserByUrl(from: Records, url: string): Promise<Fundraiser | undefined> {
  const uuid = FUNDRAISER_URL.exec(url)?.[1]
  return uuid === undefined ? undefined : fundraiserByUuid(from, uuid)
}

export async function fundraiserByUuid(
  from: Records,
  uuid: string,
): Promise<Fundraiser | undefined> {
  const { items } = await from.list(fundraisers, { where: { uuid }, limit: 1 })
  return items[0]
}

/** Counts a payment to a fundraiser, or, given back, takes it out of the count again. */
export async function countDonation(
  ctx: Context,
  tx: Records,
  { about, amount }: Entry,
  sign: 1 | -1 = 1,
): Promise<void> {
  const fundraiser = (await tx.get(fundraisers, about!.slice('fundraiser '.length)))!
  await tx.save(fundraisers, {
    ...fundraiser,
    raised: fundraiser.raised + sign * amount,
    donations: fundraiser.donations + sign,
    updated: momentOf(ctx.clock.now()),
  })
}
