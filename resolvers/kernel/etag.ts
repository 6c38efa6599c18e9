// Entity tags, made from the version that the store gives each write of a record.
import { PreconditionFailed } from './fault.ts'
import { versionOf } from './store.ts'

export const etagOf = (record: object): string => `"${versionOf(record)}"`

/**
 * Refuses a write whose If-Match names another version than the record has, or a record that is
 * not there. Without a condition everything passes.
 */
export function checkIfMatch(condition: string | undefined, record: object | undefined): void {
  if (condition === undefined) return
  if (record && condition.trim() === '*') return
  const named = condition.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (record && named.includes(etagOf(record))) return
  throw PreconditionFailed(
    record
      ? `If-Match names ${condition}, but the resource is at ${etagOf(record)}. Read it again and repeat the change.`
      : `If-Match names ${condition}, but there is no such resource.`,
  )
}

/** Refuses a write that asked, by If-None-Match, to happen only if the record is not there. */
export function checkIfNoneMatch(condition: string | undefined, record: object | undefined): void {
  if (condition?.trim() === '*' && record) {
    throw PreconditionFailed('If-None-Match is *, but the resource exists already.')
  }
}
