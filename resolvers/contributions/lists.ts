// Lists as this interface gives them: bare arrays, numbered pages, the total in a header.
import type { Context } from '../kernel/context.ts'
import { reply, type Reply } from '../kernel/operation.ts'
import type { Kind, Query } from '../kernel/store.ts'
import { sliceOf, totalHeader, type Listed, type Pages } from './shapes.ts'

/** A page of records that an index of their kind answers. */
export async function listPage<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  query: Omit<Query, 'limit' | 'after' | 'offset'>,
  pages: Pages,
): Promise<Listed<T>> {
  const [{ items }, total] = await Promise.all([
    ctx.store.list(kind, { ...query, ...sliceOf(pages) }),
    ctx.store.count(kind, query),
  ])
  return { items, total }
}

/** The answer with a list. */
export const listed = (list: Listed<unknown>): Reply => reply(200, list, totalHeader(list))

/** Shows a list as an array of what `show` makes of each. */
export const showEach =
  <T>(show: (item: T, ctx: Context) => unknown) =>
  ({ items }: Listed<T>, ctx: Context): Promise<unknown[]> =>
    Promise.all(items.map((item) => show(item, ctx)))
