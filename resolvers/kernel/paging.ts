// Pages of lists: opaque signed cursors, and connections for the graph.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Context } from './context.ts'
import { Invalid } from './fault.ts'
import { loadBy } from './load.ts'
import { optional, text, whole } from './shape.ts'
import { positionOf, type Kind, type Query } from './store.ts'

const PAGE_DEFAULT = 25
const PAGE_MAX = 100

const SIGNATURE_BYTES = 12

/**
 * Turns the place where a page ended into a token that a caller can hand back and cannot forge.
 * `list` names the list and its filters: the token of one list does not fit another.
 */
export interface Cursors {
  seal(list: string, position: string): string
  /** Refuses a token that is damaged or of another list. */
  open(list: string, token: string): string
}

export function cursors(key: Uint8Array): Cursors {
  const sign = (list: string, position: string) =>
    createHmac('sha256', key)
      .update(JSON.stringify([list, position]))
      .digest()
      .subarray(0, SIGNATURE_BYTES)

  return {
    seal: (list, position) =>
      Buffer.concat([sign(list, position), Buffer.from(position)]).toString('base64url'),

    open(list, token) {
      const bytes = Buffer.from(token, 'base64url')
      const position = bytes.subarray(SIGNATURE_BYTES).toString()
      const signature = bytes.subarray(0, SIGNATURE_BYTES)
      if (
        signature.length === SIGNATURE_BYTES &&
        timingSafeEqual(signature, sign(list, position)) &&
        bytes.toString('base64url') === token
      ) {
        return position
      }
      throw Invalid('The page token is not one that this list gave out. Begin without it.')
    },
  }
}

export interface Connection<T> {
  readonly nodes: readonly T[]
  readonly edges: readonly { readonly cursor: string; readonly node: T }[]
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null }
}

/** A page in the form that the graph gives lists that can grow. */
export function connection<T>(
  items: readonly T[],
  hasNextPage: boolean,
  cursorOf: (item: T) => string,
): Connection<T> {
  const edges = items.map((node) => ({ node, cursor: cursorOf(node) }))
  return { nodes: items, edges, pageInfo: { hasNextPage, endCursor: edges.at(-1)?.cursor ?? null } }
}

/** The inputs of a connection. */
export const paging = { first: optional(whole), after: optional(text) }

export interface Paging {
  readonly first: number | undefined
  readonly after: string | undefined
}

/** The arguments of a connection as the graph hands them to a field: null is left out too. */
export interface PagingArguments {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
}

/** Refuses a page that is empty or too large. */
export function readPaging(sent: PagingArguments): { first: number; after: string | undefined } {
  const first = sent.first ?? PAGE_DEFAULT
  if (first < 1 || first > PAGE_MAX) throw Invalid(`first must be between 1 and ${PAGE_MAX}.`)
  return { first, after: sent.after ?? undefined }
}

type ConnectionQuery = Omit<Query, 'limit' | 'after'> & PagingArguments

/**
 * One page of a kind as a connection, read together with every other page of the kind that is asked
 * for in the same tick. A cursor fits only the list, filters included, that gave it.
 */
export async function connect<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  { first: sentFirst, after: sentAfter, ...query }: ConnectionQuery,
): Promise<Connection<T>> {
  const { first, after } = readPaging({ first: sentFirst, after: sentAfter })
  const list = JSON.stringify([kind.name, query])
  const asked: Query = {
    ...query,
    limit: first,
    after: after === undefined ? undefined : ctx.cursors.open(list, after),
  }
  const readAll = async (queries: readonly Query[]) =>
    queries.length === 1
      ? [await ctx.store.list(kind, queries[0]!)]
      : ctx.store.listMany(kind, queries)
  const { items, next } = await loadBy(ctx, `pages of ${kind.name}`, readAll, asked)
  return connection(items, next !== undefined, (item) =>
    ctx.cursors.seal(list, positionOf(kind, item, query.order)),
  )
}
