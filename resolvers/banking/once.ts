// A request that carries an id is done once: repeated, it gets the answer that it got before. What was
// answered is remembered as long as the entries are, which is for good.
import { hash } from 'node:crypto'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { RequestIdReused } from './errors.ts'
import { ENTRY_COLUMNS, marksFor, padded } from './ledger.ts'
import type { Entry, EntryRequest } from './ledger.ts'

const REQUEST_ID = 'X-Vendor-Client-Request-Id'

/** What was made, by the id that the answer shows. */
interface Made {
  readonly id: number
}

/**
 * Makes something once for each request id, in the transaction that makes it. Repeated with the same
 * input it returns what `recall` finds by the id; with another, it refuses.
 */
export async function once<R extends Made>(
  ctx: Context,
  tx: Records,
  { name, input }: { name: string; input: object },
  { make, recall }: { make: () => Promise<R>; recall: (id: number) => Promise<R> },
): Promise<R> {
  const requestId = (input as Record<string, unknown>)[REQUEST_ID] as string | undefined
  if (requestId === undefined) return make()
  const scope = scopeOf(ctx)
  const digest = digestOf(name, input)
  const [before] = await tx.sql(
    'SELECT digest, result FROM answered WHERE scope = ? AND request_id = ?',
    [scope, requestId],
  )
  if (before) {
    if (before.digest === digest) return recall(before.result)
    throw reused(requestId)
  }
  const made = await make()
  await tx.sql('INSERT INTO answered (scope, request_id, digest, result) VALUES (?, ?, ?, ?)', [
    scope,
    requestId,
    digest,
    made.id,
  ])
  return made
}

/** A request as the entry that it books remembers it; undefined without an id. */
export function requestOf(ctx: Context, name: string, input: object): EntryRequest | undefined {
  const requestId = (input as Record<string, unknown>)[REQUEST_ID]
  if (requestId === undefined) return undefined
  return { key: `${scopeOf(ctx)} ${String(requestId)}`, digest: digestOf(name, input) }
}

/** The entry that a request booked before, in the same words; other words are refused. */
export async function entryOf(tx: Records, request: EntryRequest): Promise<Entry | undefined> {
  const [row] = await tx.sql(`SELECT ${ENTRY_COLUMNS}, digest FROM entry WHERE request = ?`, [
    request.key,
  ])
  return row && checkSame(row as AnsweredEntry, request)
}

/** An entry with what was asked for it. */
export interface AnsweredEntry extends Entry {
  readonly digest: string
}

/** The entries that requests booked before, by the keys of the requests. */
export async function entriesOf(
  tx: Records,
  requests: readonly EntryRequest[],
): Promise<Map<string, AnsweredEntry>> {
  if (requests.length === 0) return new Map()
  const keys = requests.map(({ key }) => key)
  const rows = await tx.sql(
    `SELECT ${ENTRY_COLUMNS}, request, digest FROM entry WHERE request IN (${marksFor(keys)})`,
    padded(keys),
  )
  return new Map(rows.map((row) => [row.request, row as AnsweredEntry]))
}

/** Refuses the id of a request that asked for something else. */
export function checkSame(before: AnsweredEntry, request: EntryRequest): Entry {
  if (before.digest === request.digest) return before
  throw reused(request.key)
}

const digestOf = (name: string, input: object): string =>
  hash('sha256', JSON.stringify([name, input]), 'base64url')

export const reused = (requestId: string) =>
  RequestIdReused(
    `The request id ${requestId} was used for another request. Send each with an id of its own.`,
  )

/** Ids are unique per device, whichever session of it they come in. */
const scopeOf = ({ caller }: Context): string =>
  `${caller.userId} ${caller.credentialId.replace(/ session \d+$/, '')}`
