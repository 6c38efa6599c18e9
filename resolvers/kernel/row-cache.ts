// Records as they were read last, until anything is committed.
//
// 1. They are handed to many, so they are frozen to the last field.
// 2. They are of one state of the database. Whoever looks at another state forgets them all.
import { setVersion, versionOf } from './store.ts'

const RECORDS_MAX = 5_000
const CHARACTERS_MAX = 4_000_000
/** A larger record is rare, and would push many small ones out. */
const RECORD_CHARACTERS_MAX = 64_000

const bodies = new WeakMap<object, string>()

/** The JSON of a record that was kept, as it is stored. */
export const bodyOf = (record: object): string | undefined => bodies.get(record)

/** The record, or a copy of one that was kept, which may be given more properties. */
export function thawed<T>(record: T): T {
  if (typeof record !== 'object' || record === null || !bodies.has(record)) return record
  const copy = { ...record }
  setVersion(copy, versionOf(record))
  return copy
}

export interface RowCache {
  get(kind: object, key: string): object | undefined
  /** Freezes the record and keeps it; `body` is what it was read from. */
  keep(kind: object, key: string, record: object, body: string): void
  clear(): void
}

export function rowCache(): RowCache {
  const kinds = new Map<object, Map<string, object>>()
  let records = 0
  let characters = 0

  function clear(): void {
    if (records === 0) return
    kinds.clear()
    records = 0
    characters = 0
  }

  return {
    clear,
    get: (kind, key) => kinds.get(kind)?.get(key),

    keep(kind, key, record, body) {
      freeze(record)
      if (body.length > RECORD_CHARACTERS_MAX) return
      if (records >= RECORDS_MAX || characters + body.length > CHARACTERS_MAX) clear()
      let ofKind = kinds.get(kind)
      if (!ofKind) kinds.set(kind, (ofKind = new Map()))
      ofKind.set(key, record)
      bodies.set(record, body)
      records += 1
      characters += body.length
    },
  }
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const member of Object.values(value)) freeze(member)
  Object.freeze(value)
}
