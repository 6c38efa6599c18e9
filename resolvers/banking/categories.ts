// Categories that transactions are sorted into: those that everyone has, and a user's own.
// Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { connection, paging, type Connection, type Paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, numberOf, type Records } from '../kernel/store.ts'
import { BadRequest, LimitExceeded } from './errors.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { showNodes } from './pages.ts'
import {
  idWrapperShape,
  momentOf,
  ofUser,
  onceHeaders,
  onceInput,
  readColor,
  showIdWrapper,
  USER,
} from './shapes.ts'
import { needUser } from './users.ts'

const OWN_MAX = 100
/** All that there can be: the list is documented without pages. */
const FIRST_MAX = 200
const NAME = /^[A-Z][A-Z0-9_]{0,63}$/

export interface Category {
  readonly category: string
  /** Who made it. */
  readonly type: 'SYSTEM' | 'USER_DEFINED'
  readonly status: 'ACTIVE' | 'DEACTIVATED'
  readonly description: string
  readonly color: string
  readonly icon: string
  readonly order: number
}

interface OwnCategory extends Category {
  readonly id: number
  readonly user_id: number
  readonly created: string
  readonly updated: string
}

export const ownCategories = kind<OwnCategory>('category', {
  key: ({ user_id, category }) => keyOf(user_id, category),
  columns: { user: numberOf(({ user_id }) => user_id), order: numberOf(({ order }) => order) },
  indexes: [['user', 'order']],
})
export const kinds = [ownCategories]
const keyOf = (userId: number, category: string): string => `${userId}/${category}`

/** Chosen, as a household has them: name, description, colour, icon. */
const SYSTEM = [
  ['GROCERIES', 'Groceries', '#2E9E5B', 'basket'],
  ['FOOD_AND_DRINK', 'Food and drink', '#E0792B', 'cutlery'],
  ['HOUSING', 'Housing', '#3B6FB6', 'house'],
  ['UTILITIES', 'Energy and water', '#D4A514', 'bolt'],
  ['COMMUNICATION', 'Telephone and internet', '#5A63C4', 'antenna'],
  ['INSURANCE', 'Insurance', '#1F8A8C', 'umbrella'],
  ['TRANSPORT', 'Transport', '#7A5AB5', 'train'],
  ['CAR', 'Car', '#5C6B73', 'car'],
  ['HEALTH', 'Health', '#C43D52', 'heart'],
  ['SHOPPING', 'Shopping', '#B5479B', 'bag'],
  ['ENTERTAINMENT', 'Entertainment', '#DB5461', 'ticket'],
  ['TRAVEL', 'Travel', '#2A93D5', 'suitcase'],
  ['EDUCATION', 'Education', '#8A6D3B', 'book'],
  ['CHILDREN', 'Children', '#F0A202', 'balloon'],
  ['GIFTS_AND_DONATIONS', 'Gifts and donations', '#9C3D8F', 'gift'],
  ['SAVINGS', 'Savings', '#3C8D40', 'piggy-bank'],
  ['TAXES', 'Taxes', '#6B4F3A', 'columns'],
  ['BUSINESS_EXPENSES', 'Business expenses', '#34495E', 'briefcase'],
  ['INCOME', 'Income', '#27833A', 'coins'],
  ['CASH', 'Cash', '#708238', 'banknote'],
  ['OTHER', 'Other', '#7F8C8D', 'dots'],
].map(([category, description, color, icon], i): Category => ({
  category: category!,
  type: 'SYSTEM',
  status: 'ACTIVE',
  description: description!,
  color: color!,
  icon: icon!,
  order: i + 1,
}))

const categoryShape = z.object({
  category: z.string(),
  type: z.string(),
  status: z.string(),
  description: z.string(),
  description_translated: z.string(),
  color: z.string(),
  icon: z.string(),
  order: z.int(),
})

export const operations = [
  operation({
    name: 'transactionCategories',
    rest: get(`${USER}/additional-transaction-information-category`, {
      show: showNodes,
      answer: z.array(categoryShape),
    }),
    input: { ...ofUser, ...paging },
    run: listCategories,
  }),
  operation({
    name: 'createTransactionCategory',
    rest: post(`${USER}/additional-transaction-information-category-user-defined`, {
      show: showIdWrapper,
      answer: idWrapperShape,
      headers: onceHeaders,
    }),
    input: {
      ...ofUser,
      status: z.enum(['ACTIVE', 'DEACTIVATED']),
      category: optional(text.max(64)),
      description: optional(text.min(1).max(200)),
      color: optional(text.max(7)),
      icon: optional(text.max(100)),
      ...onceInput,
    },
    run: createCategory,
  }),
]

/** A category as the interface shows it. The bank speaks English alone. */
const view = ({ category, type, status, description, color, icon, order }: Category) => ({
  category,
  type,
  status,
  description,
  description_translated: description,
  color,
  icon,
  order,
})
type CategoryView = ReturnType<typeof view>

async function listCategories(
  { userId, first = FIRST_MAX, after }: { userId: number } & Paging,
  ctx: Context,
): Promise<Connection<CategoryView>> {
  await needUser(ctx, userId)
  if (first < 1 || first > FIRST_MAX) throw Invalid(`first must be between 1 and ${FIRST_MAX}.`)
  const list = `categories of ${userId}`
  const begun = after === undefined ? 0 : Number(ctx.cursors.open(list, after))
  const all = [...SYSTEM, ...(await ownOf(ctx.store, userId))].map(view)
  const rest = all.filter(({ order }) => order > begun)
  return connection(rest.slice(0, first), rest.length > first, ({ order }) =>
    ctx.cursors.seal(list, String(order)),
  )
}

const ownOf = async (from: Records, userId: number): Promise<OwnCategory[]> =>
  (await from.list(ownCategories, { where: { user: userId }, order: 'order', limit: OWN_MAX }))
    .items

interface CreateInput {
  readonly userId: number
  readonly status: Category['status']
  readonly category?: string | undefined
  readonly description?: string | undefined
  readonly color?: string | undefined
  readonly icon?: string | undefined
}

/** Chosen: one that the user has is changed, since the interface has no other way to. */
async function createCategory(input: CreateInput, ctx: Context) {
  const { userId } = input
  const name = nameOf(input)
  if (SYSTEM.some(({ category }) => category === name)) {
    throw BadRequest(`category ${name} is one that everyone has. Give yours another name.`)
  }
  return ctx.store.transaction(async (tx) => {
    await needUser(ctx, userId, tx)
    const read = async () => (await tx.get(ownCategories, keyOf(userId, name)))!
    const made = await once(
      ctx,
      tx,
      { name: 'createTransactionCategory', input },
      { make: () => keep(ctx, tx, name, input), recall: read },
    )
    return { id: made.id, ...view(made) }
  })
}

/** What the category is called: as sent, or after its description. */
function nameOf({ category, description }: CreateInput): string {
  const said = category ?? description
  if (said === undefined) throw BadRequest('category or description is required.')
  const name =
    category ??
    said
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toUpperCase()
      .replace(/[^A-Z0-9]+/g, '_')
      .replace(/^[_0-9]+|_+$/g, '')
      .slice(0, 64)
  if (NAME.test(name)) return name
  throw BadRequest('category must be a name of capitals, digits and _, such as MODEL_TRAINS.')
}

async function keep(
  ctx: Context,
  tx: Records,
  category: string,
  sent: CreateInput,
): Promise<OwnCategory> {
  const { userId } = sent
  const now = momentOf(ctx.clock.now())
  const kept = await tx.get(ownCategories, keyOf(userId, category))
  const before = kept ?? (await begin(tx, { userId, category, now }))
  const after: OwnCategory = {
    ...before,
    status: sent.status,
    description: sent.description ?? before.description,
    color: sent.color === undefined ? before.color : readColor(sent.color),
    icon: sent.icon ?? before.icon,
    updated: now,
  }
  await tx.save(ownCategories, after)
  await ctx.events.announce(tx, {
    type: `banking.category.${kept ? 'changed' : 'created'}`,
    subject: String(after.id),
    body: { user_id: userId, category, status: after.status },
  })
  return after
}

/** A category of the user's own, before anything is said of it. */
async function begin(
  tx: Records,
  { userId, category, now }: { userId: number; category: string; now: string },
): Promise<OwnCategory> {
  const own = await ownOf(tx, userId)
  if (own.length >= OWN_MAX) throw LimitExceeded(`A user has at most ${OWN_MAX} categories.`)
  return {
    id: await nextId(tx, 'category'),
    user_id: userId,
    category,
    type: 'USER_DEFINED',
    status: 'ACTIVE',
    description: category,
    color: '#7F8C8D',
    icon: '',
    order: (own.at(-1)?.order ?? SYSTEM.length) + 1,
    created: now,
    updated: now,
  }
}
