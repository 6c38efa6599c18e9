// What a service remembers.
//
// A store holds records of declared kinds: plain JSON under a key, with the fields that the
// specification documents and nothing mapped on the way in or out. Two engines exist, SQLite and
// PostgreSQL, and tests/kernel/store.test.ts runs the same cases against both.
//
// 1. The key includes the owner, so that no lookup crosses accounts.
// 2. Keys and text columns sort by bytes of their UTF-8 form, numbers by value.
// 3. Nothing can read everything: every list has a limit.
// 4. What a promise of a write acknowledged survives a crash of the process and of the machine.

/** What can be done with records, inside a transaction and outside. */
export interface Records {
  /** Outside a transaction the record may be handed to others too, and must not be changed. */
  get<T extends object>(kind: Kind<T>, key: string): Promise<T | undefined>

  /** Answers in the order of `keys`, with undefined for the missing, as a DataLoader needs. */
  getMany<T extends object>(kind: Kind<T>, keys: readonly string[]): Promise<(T | undefined)[]>

  /** One page. The store refuses a query that no declared index answers. */
  list<T extends object>(kind: Kind<T>, query: Query): Promise<Page<T>>

  /** A page for each query, in their order. Many pages cost hardly more round trips than one. */
  listMany<T extends object>(kind: Kind<T>, queries: readonly Query[]): Promise<Page<T>[]>

  /** How many records `list` would go through without its limit. */
  count<T extends object>(
    kind: Kind<T>,
    query?: Omit<Query, 'limit' | 'after' | 'offset'>,
  ): Promise<number>

  /** Returns false, and changes nothing, when the key is taken. */
  insert<T extends object>(kind: Kind<T>, record: T): Promise<boolean>

  /**
   * Inserts, or replaces the record that has the same key. With `expected`, a version that
   * `versionOf` gave, returns false and changes nothing unless the stored record still has it.
   */
  save<T extends object>(kind: Kind<T>, record: T, expected?: string): Promise<boolean>

  /** Returns whether there was something to remove. */
  remove<T extends object>(kind: Kind<T>, key: string): Promise<boolean>

  /** Removes at most `limit` of the records that the query names, and returns how many. */
  removeMany<T extends object>(kind: Kind<T>, query: Query): Promise<number>

  /** The records whose declared text fits best, best first. */
  search<T extends object>(kind: Kind<T>, query: TextQuery): Promise<Found<T>>

  /** Plain SQL, for tables of a service's own. `?` stands for a parameter in both engines. */
  sql(text: string, parameters?: readonly SqlValue[]): Promise<SqlRow[]>
}

export interface Store extends Records {
  readonly engine: 'sqlite' | 'postgres'

  /**
   * Runs `step` so that all of it happens or none of it, and what it read did not change under it.
   * It must do nothing but use `tx`: on PostgreSQL it runs again when it loses a race. Using the
   * store itself inside its transaction throws.
   */
  transaction<R>(step: (tx: Records) => Promise<R>): Promise<R>

  /** Counts since the store was opened, for metrics. */
  stats(): StoreStats

  /** Waits for the writes that were asked for before. */
  close(): Promise<void>
}

export interface StoreStats {
  /** Transactions of the database. On SQLite, writes that wait share one. */
  readonly commits: number
  /** Writes and transactions that callers asked for and that were committed. */
  readonly writes: number
  readonly waiting: number
  /** How often something ran again because it lost a race. */
  readonly repeats: number
}

export type SqlValue = string | number | bigint | Uint8Array | null
export type SqlRow = Record<string, any>

/** A kind of record. */
export interface Kind<T extends object> {
  /** The table's name: lower case, words joined by underscores. */
  readonly name: string
  readonly key: (record: T) => string
  /** The values that queries can name, computed from the record at every write. */
  readonly columns: Readonly<Record<string, Column<T>>>
  /** Each a list of columns: those that a query fixes come first, then the one it sorts by. */
  readonly indexes: readonly (readonly string[])[]
  /** The text that `search` looks through, by field. */
  readonly text: Readonly<Record<string, TextField<T>>>
  /** What `search` can be narrowed by without reading records: words of a-z, 0-9 and `_`. */
  readonly marks?: (record: T) => readonly string[]
  /** False where hardly anyone searches by beginnings of words: a smaller index finds them slower. */
  readonly hasQuickPrefixes?: boolean
}

export interface Column<T> {
  readonly type: 'text' | 'number'
  readonly of: (record: T) => string | number | null | undefined
}

export interface TextField<T> {
  readonly of: (record: T) => string | null | undefined
  /** How much a hit here counts: A most, D least. */
  readonly weight: 'A' | 'B' | 'C' | 'D'
  /** Also found when misspelled. For short text such as names: it indexes every three letters. */
  readonly fuzzy?: boolean
}

export interface Query {
  /** Columns that must equal a value. */
  readonly where?: Readonly<Record<string, string | number>>
  /** Bounds on the column of `order`. */
  readonly from?: string | number
  readonly below?: string | number
  /** The column to sort by; ties and the default sort by key. */
  readonly order?: string
  readonly descending?: boolean
  /** Keys that start with this: the cheap way to list what one owner has. */
  readonly prefix?: string
  /** The `next` of the page before, or `positionOf` a record: the page begins after it. */
  readonly after?: string | undefined
  /** Begins after so many records, for interfaces that number their pages. Not with `after`. */
  readonly offset?: number
  readonly limit: number
}

export interface Page<T> {
  readonly items: T[]
  /** Where the next page begins; absent on the last page. */
  readonly next?: string
}

export interface TextQuery {
  /** Words in any order; "words in quotes" in that order. */
  readonly words: string
  /** `all` words must occur (the default), or `any`. */
  readonly match?: 'all' | 'any'
  /** The last word may be only the beginning of one, as while typing. */
  readonly prefix?: boolean
  /** Looks for misspelled forms in the fuzzy fields instead. */
  readonly fuzzy?: boolean
  /** The fields to look in. They must not share a weight with fields that are left out. */
  readonly fields?: readonly string[]
  /** Words that are as good as one of the query, by that word as `wordsOf` gives it. */
  readonly alike?: Readonly<Record<string, readonly string[]>>
  /** Of each list the record must carry one mark. With marks there need not be words. */
  readonly marks?: readonly (readonly string[])[]
  /** Marks that the record must not carry. */
  readonly unmarked?: readonly string[]
  readonly where?: Readonly<Record<string, string | number>>
  /** Columns of numbers that must be `from` or more, and less than `below`. */
  readonly bounds?: Readonly<Record<string, Bounds>>
  /**
   * False takes what matches in no order that means anything, and costs by what is returned; to rank
   * costs by what matches.
   */
  readonly isRanked?: boolean
  /** Where counting the total ends. */
  readonly totalMax?: number
  readonly offset?: number
  readonly limit: number
}

export interface Bounds {
  readonly from?: number
  readonly below?: number
}

export interface Found<T> {
  readonly items: { record: T; score: number }[]
  /** All that matched, before offset and limit. */
  readonly total: number
}

interface KindOptions<T> {
  readonly key: (record: T) => string
  readonly columns?: Record<string, Column<T>>
  readonly indexes?: readonly (readonly string[])[]
  readonly text?: Record<string, TextField<T>>
  readonly marks?: (record: T) => readonly string[]
  readonly hasQuickPrefixes?: boolean
}

/** Declares a kind. It must be listed with its service, which opens the store with all its kinds. */
export function kind<T extends object>(name: string, options: KindOptions<T>): Kind<T> {
  if (!/^[a-z][a-z0-9_]{0,40}$/.test(name)) throw new Error(`${name} cannot name a kind`)
  return { columns: {}, indexes: [], text: {}, ...options, name }
}

export const textOf = <T>(of: Column<T>['of']): Column<T> => ({ type: 'text', of })
export const numberOf = <T>(of: Column<T>['of']): Column<T> => ({ type: 'number', of })

/** Where a record stands in a list by `order`; `after` takes it. */
export function positionOf<T extends object>(kind: Kind<T>, record: T, order?: string): string {
  const value = order === undefined ? [] : [kind.columns[order]!.of(record) ?? null]
  return JSON.stringify([...value, kind.key(record)])
}

// A version belongs to the object that the store handed out, and not to its fields, since those are
// the specification's.
const versions = new WeakMap<object, string>()

/** The version at which a record was read or last written. Every write gives a new one. */
export function versionOf(record: object): string {
  const version = versions.get(record)
  if (version === undefined) throw new Error('this object did not come from the store')
  return version
}

/** For the engines alone. */
export const setVersion = (record: object, version: string): void => {
  versions.set(record, version)
}

/** One numbered change of what is stored. Applied once, in order, each in a transaction. */
export interface Migration {
  readonly number: number
  readonly name: string
  readonly up: (tx: Records, engine: Store['engine']) => Promise<void>
}
