// The filter set CF as the database is asked: conditions on lines, and the indexes that find few.
import type { SqlValue } from '../kernel/store.ts'
import type { Filter } from './filters.ts'
import { termOf } from './lines.ts'
import {
  chordSquaredOf,
  rangesOf,
  rangesOver,
  vectorOf,
  type Circle,
  type GeohashRange,
} from './places.ts'

/** A piece of SQL and its parameters. */
export interface Sql {
  readonly text: string
  readonly values: readonly SqlValue[]
}

export const sql = (text: string, ...values: SqlValue[]): Sql => ({ text, values })

/** One way to find few candidates: a query for ids that an index answers. */
export type Driver = Sql

/** What selects few of many, each as an index finds it. */
export async function driversOf(filter: Filter): Promise<Driver[]> {
  const { ids, urlWords, words, tag, near, geohashes, country, mediaTypes, assignment, state } =
    filter
  const lines = 'SELECT id FROM contribution_line WHERE'
  const byTerm = (term: string) => sql('SELECT id FROM term WHERE term = ?', term)
  return [
    ...(ids?.length ? [sql(`${lines} id IN (${marks(ids)})`, ...ids)] : []),
    ...(urlWords === undefined ? [] : [sql(`${lines} url_words = ?`, urlWords)]),
    ...(near ? [within(await rangesOver(near), nearness(near))] : []),
    ...(geohashes?.length ? [within(rangesOf(geohashes))] : []),
    ...(words ?? []).map((word) => byTerm(termOf.word(word))),
    ...(tag === undefined ? [] : [byTerm(termOf.tag(tag))]),
    ...(assignment !== undefined && state !== undefined
      ? [byTerm(termOf.queue({ assignment, state }))]
      : []),
    ...(country === undefined ? [] : [byTerm(termOf.country(country))]),
    ...(mediaTypes?.length === 1 ? [byTerm(termOf.mediaType(mediaTypes[0]!))] : []),
  ]
}

/** Each range is a stretch of the index, and the index holds all that is asked. */
function within(ranges: readonly GeohashRange[], also?: Sql): Driver {
  const one = `SELECT id FROM contribution_line WHERE geohash IS NOT NULL AND geohash >= ?
    AND geohash < ?${also ? ` AND ${also.text}` : ''}`
  return {
    text: ranges.map(() => one).join(' UNION ALL '),
    values: ranges.flatMap(({ from, below }) => [from, below, ...(also?.values ?? [])]),
  }
}

function nearness(near: Circle): Sql {
  const { x, y, z } = vectorOf(near)
  const chord = '(x - ?) * (x - ?) + (y - ?) * (y - ?) + (z - ?) * (z - ?) <= ?'
  return sql(chord, x, x, y, y, z, z, chordSquaredOf(near.radiusKm))
}

const marks = (values: readonly unknown[]) => values.map(() => '?').join(', ')

/** Every condition on a line. */
export function conditionsOf(filter: Filter): Sql[] {
  return [...boundsOf(filter), ...othersOf(filter)]
}

/**
 * The conditions that an index of the order answers: one column, and the span of creation. Other
 * columns that begin an index are written so that no index tempts the planner.
 */
export function boundsOf({ seesAll, fromMs, belowMs, ...filter }: Filter): Sql[] {
  const [scope] = scopesIn({ ...filter, seesAll })
  return [
    ...(scope ? [sql(`l.${scope.column} = ?`, scope.value)] : []),
    ...(fromMs === undefined ? [] : [sql('l.created_ms >= ?', fromMs)]),
    ...(belowMs === undefined ? [] : [sql('l.created_ms < ?', belowMs)]),
  ]
}

function scopesIn({ user, assignment, ownedBy, seesAll }: Filter) {
  const scopes = [
    { column: 'contributor', value: user },
    { column: 'assignment', value: assignment },
    { column: 'owner', value: ownedBy },
    { column: 'is_public', value: seesAll ? undefined : 1 },
  ]
  return scopes.flatMap(({ column, value }) => (value === undefined ? [] : [{ column, value }]))
}

/** What is checked on each line. */
export function othersOf(filter: Filter): Sql[] {
  return [
    ...scopesIn(filter)
      .slice(1)
      .map(({ column, value }) =>
        sql(column === 'is_public' ? 'l.is_public + 0 = ?' : `l.${column} || '' = ?`, value),
      ),
    ...(filter.isOther ? [sql('l.is_anonymous = 0')] : []),
    ...contentConditionsOf(filter),
  ]
}

function contentConditionsOf(filter: Filter): Sql[] {
  const { country, hasLocation, geohashes, near, mediaTypes } = filter
  const { words, urlWords, ids, tag, state } = filter
  const hasTerm = (term: string) =>
    sql(
      'EXISTS (SELECT 1 FROM term AS t WHERE t.term = ? AND t.created_ms = l.created_ms AND t.id = l.id)',
      term,
    )
  return [
    ...(country === undefined ? [] : [sql('l.country = ?', country)]),
    ...(state === undefined ? [] : [sql('l.state = ?', state)]),
    ...(hasLocation === undefined
      ? []
      : [sql(`l.geohash_chars IS ${hasLocation ? 'NOT ' : ''}NULL`)]),
    ...(near ? [nearness(near)] : []),
    ...(geohashes ? [inCells(geohashes)] : []),
    ...(mediaTypes
      ? [sql(mediaTypes.map((type) => `l.${type}s > 0`).join(' OR ') || '1 = 0')]
      : []),
    ...(urlWords === undefined ? [] : [sql(`l.url_words || '' = ?`, urlWords)]),
    ...(ids
      ? [ids.length === 0 ? sql('1 = 0') : sql(`l.id || '' IN (${marks(ids)})`, ...ids)]
      : []),
    ...(tag === undefined ? [] : [hasTerm(termOf.tag(tag))]),
    // A search for nothing but signs finds nothing.
    ...(words
      ? words.length === 0
        ? [sql('1 = 0')]
        : words.map((word) => hasTerm(termOf.word(word)))
      : []),
  ]
}

function inCells(geohashes: readonly string[]): Sql {
  const one = '(l.geohash_chars >= ? AND substr(l.geohash, 1, ?) = ?)'
  return sql(
    geohashes.map(() => one).join(' OR ') || '1 = 0',
    ...geohashes.flatMap((geohash) => [geohash.length, geohash.length, geohash]),
  )
}
