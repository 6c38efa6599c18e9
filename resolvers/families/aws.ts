// What the four signed services share: accounts, ARNs, pages by NextToken, times.
import { mayUse, type Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { connect } from '../kernel/paging.ts'
import { optional, tags, text, whole } from '../kernel/shape.ts'
import type { Kind, Query } from '../kernel/store.ts'

// Chosen: whatever region a request is signed for, its resources are in this one. A caller who
// comes through the graph names no region, and must find the same resources.
export const REGION = 'us-east-1'

const PAGE_MAX = 100
export const TAGS_MAX = 50
const TAG_KEY_MAX = 128
const TAG_VALUE_MAX = 256

export interface Arn {
  readonly service: string
  readonly region: string
  readonly account: string
  readonly resource: string
}

export const arnOf = ({ service, account, resource }: Omit<Arn, 'region'>): string =>
  `arn:aws:${service}:${REGION}:${account}:${resource}`

/** Reads an ARN of any partition, such as `aws` or `aws-cn`. Undefined for any other text. */
export function readArn(arn: string): Arn | undefined {
  const parts =
    /^arn:aws[a-z-]{0,20}:([a-z0-9-]{1,60}):([a-z0-9-]{0,40}):(\d{12}|):([^\s\0]{1,1800})$/.exec(
      arn,
    )
  if (!parts) return undefined
  const [, service = '', region = '', account = '', resource = ''] = parts
  return { service, region, account, resource }
}

/**
 * The account that the caller acts in.
 * Chosen: the first, where a caller has several: a signing key belongs to one account only.
 */
export function accountOf({ caller }: Pick<Context, 'caller'>): string {
  const account = caller.accounts.find(({ kind }) => kind === 'ACCOUNT')
  if (!account) throw Forbidden('The credential opens no account of this service.')
  return account.id
}

/** Whether an ARN is of this service and of an account that the caller may use. */
export function isOwnArn({ caller }: Pick<Context, 'caller'>, arn: Arn, service: string): boolean {
  return arn.service === service && arn.region === REGION && mayUse(caller, 'ACCOUNT', arn.account)
}

/** Chosen: the limits that the vendor publishes for tags of any resource. */
export const resourceTags = tags
  .refine((all) => Object.keys(all).length <= TAGS_MAX, `must be at most ${TAGS_MAX} tags`)
  .refine(
    (all) => Object.entries(all).every(([key, value]) => isTag(key, value)),
    `must have keys of 1 to ${TAG_KEY_MAX} characters that do not begin with aws: and values of at most ${TAG_VALUE_MAX}`,
  )

const isTag = (key: string, value: string) =>
  key.length >= 1 &&
  key.length <= TAG_KEY_MAX &&
  !/^aws:/i.test(key) &&
  value.length <= TAG_VALUE_MAX

/** The inputs of a list that is paged by token; `PageSize` is decimal text where it is in a query. */
export const pageInput = {
  PageSize: optional(whole.refine((size) => size >= 1, 'must be 1 or more')),
  NextToken: optional(text),
}

interface TokenQuery extends Omit<Query, 'limit' | 'after'> {
  readonly PageSize: number | undefined
  readonly NextToken: string | undefined
}

/**
 * One page of a kind. NextToken is absent on the last page.
 * Chosen: a page larger than the largest becomes the largest, since clients follow the token.
 */
export async function tokenPage<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  { PageSize = PAGE_MAX, NextToken, ...query }: TokenQuery,
): Promise<{ items: readonly T[]; NextToken?: string }> {
  const first = Math.min(PageSize, PAGE_MAX)
  const { nodes, pageInfo } = await connect(ctx, kind, { ...query, first, after: NextToken })
  const { hasNextPage, endCursor } = pageInfo
  return { items: nodes, ...(hasNextPage && endCursor !== null && { NextToken: endCursor }) }
}

/** A time as the signed services write it: seconds since 1970. */
export const epochSecondsOf = (time: string): number => Date.parse(time) / 1000
