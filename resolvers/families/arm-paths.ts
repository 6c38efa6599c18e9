// Where management resources live: subscriptions, groups, ids and links. Specification 3, PFX, SUB.
import { mayUse, type Context } from '../kernel/context.ts'
import { optional, tags, text, whole } from '../kernel/shape.ts'
import { SubscriptionNotFound } from './arm-errors.ts'

const GROUP_NAME = /^[-\w.()]{0,89}[-\w()]$/
const TAGS_MAX = 50
const TAG_NAME_MAX = 512
const TAG_VALUE_MAX = 256

// The inputs that recur.
export const subscription = { subscriptionId: text }
export const group = {
  ...subscription,
  resourceGroupName: text.regex(
    GROUP_NAME,
    'must be 1 to 90 letters, digits, underscores, hyphens, periods or parentheses, and must not end in a period',
  ),
}
export const paging = {
  $top: optional(whole.refine((top) => top >= 1, 'must be at least 1')),
  $skipToken: optional(text),
}

/** Where a resource stands, such as `westus` or `West US`. */
export const resourceLocation = text.regex(
  /^[a-zA-Z][a-zA-Z0-9 ]{0,59}$/,
  'must be a letter, then at most 59 letters, digits and spaces',
)

// Chosen: the limits that the vendor publishes for tags of any resource.
export const resourceTags = tags
  .refine((all) => Object.keys(all).length <= TAGS_MAX, `must be at most ${TAGS_MAX} tags`)
  .refine(
    (all) => Object.entries(all).every(([name, value]) => isTag(name, value)),
    `must have names of 1 to ${TAG_NAME_MAX} characters without < > % & \\ ? / and values of at most ${TAG_VALUE_MAX}`,
  )

const isTag = (name: string, value: string) =>
  name.length >= 1 &&
  name.length <= TAG_NAME_MAX &&
  !/[<>%&\\?/]/.test(name) &&
  value.length <= TAG_VALUE_MAX

export type Input = Record<string, any>

/** The path of the resources of one type in a group, and in a whole subscription. */
export const inGroup = (type: string) =>
  `/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/${type}`
export const inSubscription = (type: string) => `/subscriptions/{subscriptionId}/providers/${type}`

/** The subscription as identity spells it, or undefined when it is not the caller's. */
export function ownSubscription(ctx: Context, subscriptionId: string): string | undefined {
  // Nearly everyone spells it as it was given to them.
  if (mayUse(ctx.caller, 'SUBSCRIPTION', subscriptionId)) return subscriptionId
  const asked = subscriptionId.toLowerCase()
  return ctx.caller.accounts.find(
    ({ id }) => id.toLowerCase() === asked && mayUse(ctx.caller, 'SUBSCRIPTION', id),
  )?.id
}

/**
 * The input with its subscription spelled as identity spells it.
 *
 * Chosen: another's subscription is as unknown as one that does not exist, so that nobody learns
 * which subscriptions there are.
 */
export function checkSubscription<T extends Input>(input: T, ctx: Context): T {
  const subscriptionId = ownSubscription(ctx, input.subscriptionId)
  if (subscriptionId === undefined) {
    throw SubscriptionNotFound(`The subscription '${input.subscriptionId}' could not be found.`)
  }
  return { ...input, subscriptionId }
}

/** Fills a documented path, which is also the form of an id. */
export function idAt(path: string, input: Input): string {
  let parts = templates.get(path)
  // Text and names in turn, since the names stand in brackets.
  if (!parts) templates.set(path, (parts = path.split(/\{(\w+)\}/)))
  let id = ''
  for (let i = 0; i < parts.length; i += 1) id += i % 2 === 0 ? parts[i] : input[parts[i]!]
  return id
}

// Paths are constants of the services, so that there are as many as there are operations.
const templates = new Map<string, string[]>()

/** The parts of an id, in any case, or undefined when it is not of this path. */
export function partsOf(path: string, id: string): Record<string, string> | undefined {
  const pattern = path.replaceAll('.', '\\.').replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')
  return new RegExp(`^${pattern}$`, 'i').exec(id)?.groups
}

/** An absolute link that a client can follow unchanged. */
export function linkTo(
  ctx: Context,
  { path, input, query }: { path: string; input: Input; query: Record<string, unknown> },
): string {
  const encoded = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(input[name]))
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
  return `${ctx.address}${encoded}?${search.join('&')}`
}

/** Two spellings of one location, such as `East US` and `eastus`, are the same. */
export const plainLocation = (location: string): string =>
  location.toLowerCase().replaceAll(' ', '')
