// Writes the lines of contributions, their terms and their counts; see tables.ts.
import { wordsOf } from '../kernel/text-search.ts'
import type { Records, SqlRow, SqlValue } from '../kernel/store.ts'
import { STATES } from './moderation-states.ts'
import { pointOf } from './places.ts'
import type { Contribution, MediaFile } from './records.ts'

const BUCKET_LINES = 1_000
const WORDS_MAX = 64
const ROWS_AT_ONCE = 500

/** A line as it is stored. */
export interface Line {
  readonly id: string
  readonly created_ms: number
  readonly bucket: number
  readonly assignment: string | null
  readonly contributor: string
  readonly owner: string
  readonly state: string
  readonly is_public: number
  readonly is_anonymous: number
  readonly country: string | null
  readonly geohash: string | null
  readonly geohash_chars: number | null
  readonly x: number | null
  readonly y: number | null
  readonly z: number | null
  readonly url_words: string
  readonly images: number
  readonly videos: number
  readonly media_bytes: number
}

const COLUMNS = [
  'id',
  'created_ms',
  'bucket',
  'assignment',
  'contributor',
  'owner',
  'state',
  'is_public',
  'is_anonymous',
  'country',
  'geohash',
  'geohash_chars',
  'x',
  'y',
  'z',
  'url_words',
  'images',
  'videos',
  'media_bytes',
] as const satisfies readonly (keyof Line)[]

/** Everything, as a scope. */
export const EVERYTHING = 'all'
export const scopeOf = {
  assignment: (id: string) => `assignment ${id}`,
  user: (id: string) => `user ${id}`,
  owner: (id: string) => `owner ${id}`,
  country: (code: string) => `country ${code}`,
  mediaType: (type: string) => `mediaType ${type}`,
}

export const termOf = {
  word: (word: string) => `word ${word}`,
  tag: (id: string) => `tag ${id}`,
  country: (code: string) => `country ${code}`,
  mediaType: (type: string) => `mediaType ${type}`,
  queue: ({ assignment, state }: { assignment: string; state: string }) =>
    `queue ${state} ${assignment}`,
}

/** Whether the public may see it now. */
export const isPublic = ({ state, embargo }: Contribution, now: Date): boolean =>
  STATES[state].public && (embargo === undefined || Date.parse(embargo) <= now.getTime())

/** Gives a new contribution its place in the lists. */
export async function addLine(
  tx: Records,
  contribution: Contribution,
  { media, now }: { media: readonly MediaFile[]; now: Date },
): Promise<void> {
  const bucket = await bucketAt(tx, Date.parse(contribution.created))
  const line = await lineOf(contribution, { media, now, bucket })
  await insertLines(tx, [line])
  await addTerms(tx, line, termsOf(contribution, line))
  await count(tx, [[line, 1]])
}

/** What can be asked about a contribution. */
export async function lineOf(
  contribution: Contribution,
  { media, now, bucket }: { media: readonly MediaFile[]; now: Date; bucket: number },
): Promise<Line> {
  const { place } = contribution
  const point = place && (await pointOf(place))
  const isOf = (type: MediaFile['type']) => media.filter((file) => file.type === type).length
  return {
    id: contribution.id,
    created_ms: Date.parse(contribution.created),
    bucket,
    assignment: contribution.assignment ?? null,
    contributor: contribution.user,
    owner: contribution.owner,
    state: contribution.state,
    is_public: isPublic(contribution, now) ? 1 : 0,
    is_anonymous: contribution.isAnonymous ? 1 : 0,
    country: place?.country ?? null,
    geohash: point?.geohash ?? null,
    geohash_chars: point?.geohashChars ?? null,
    x: point?.x ?? null,
    y: point?.y ?? null,
    z: point?.z ?? null,
    url_words: contribution.urlWords,
    images: isOf('image'),
    videos: isOf('video'),
    media_bytes: media.reduce((sum, { contentLength }) => sum + contentLength, 0),
  }
}

export async function insertLines(tx: Records, lines: readonly Line[]): Promise<void> {
  const places = `(${COLUMNS.map(() => '?').join(', ')})`
  await tx.sql(
    `INSERT INTO contribution_line (${COLUMNS.join(', ')}) VALUES ${lines.map(() => places).join(', ')}`,
    lines.flatMap((line) => COLUMNS.map((name) => line[name])),
  )
}

/** Tells the lists of a new state, or that an embargo has ended. */
export async function changeLine(
  tx: Records,
  contribution: Contribution,
  now: Date,
): Promise<{ wasPublic: boolean; isPublic: boolean } | undefined> {
  const before = await readLine(tx, contribution.id)
  if (!before) return undefined
  const isNowPublic = isPublic(contribution, now)
  const after = { ...before, state: contribution.state, is_public: isNowPublic ? 1 : 0 }
  await tx.sql('UPDATE contribution_line SET state = ?, is_public = ? WHERE id = ?', [
    after.state,
    after.is_public,
    after.id,
  ])
  if (before.assignment !== null && before.state !== after.state) {
    const { assignment } = before
    await dropTerms(tx, before, [termOf.queue({ assignment, state: before.state })])
    await addTerms(tx, after, [termOf.queue({ assignment, state: after.state })])
  }
  await count(tx, [
    [before, -1],
    [after, 1],
  ])
  return { wasPublic: before.is_public === 1, isPublic: isNowPublic }
}

/** Takes a contribution out of every list. Returns whether it was in any. */
export async function dropLine(tx: Records, contribution: Contribution): Promise<boolean> {
  const line = await readLine(tx, contribution.id)
  if (!line) return false
  await dropTerms(tx, line, termsOf(contribution, line))
  await tx.sql('DELETE FROM contribution_line WHERE id = ?', [line.id])
  await count(tx, [[line, -1]])
  return true
}

async function readLine(tx: Records, id: string): Promise<Line | undefined> {
  const rows = await tx.sql(`SELECT ${COLUMNS.join(', ')} FROM contribution_line WHERE id = ?`, [
    id,
  ])
  return rows[0] as (SqlRow & Line) | undefined
}

/**
 * The bucket that holds a moment. One that is full is followed by another, unless its newest line is
 * of this very moment: a bucket holds a moment whole.
 */
async function bucketAt(tx: Records, createdMs: number): Promise<number> {
  const [found] = await tx.sql(
    'SELECT bucket, start_ms FROM contribution_bucket WHERE start_ms <= ? ORDER BY start_ms DESC LIMIT 1',
    [createdMs],
  )
  const [last] = await tx.sql('SELECT max(bucket) AS bucket FROM contribution_bucket')
  const newest = last?.['bucket'] as number | null
  if (newest === null || newest === undefined) return openBucket(tx, 0, 0)
  const bucket = found!['bucket'] as number
  if (bucket < newest || !(await isFull(tx, bucket, createdMs))) return bucket
  return openBucket(tx, newest + 1, createdMs)
}

async function isFull(tx: Records, bucket: number, createdMs: number): Promise<boolean> {
  const [counted] = await tx.sql(
    'SELECT entries FROM contribution_count WHERE scope = ? AND bucket = ?',
    [EVERYTHING, bucket],
  )
  if (Number(counted?.['entries'] ?? 0) < BUCKET_LINES) return false
  const [newest] = await tx.sql('SELECT max(created_ms) AS newest FROM contribution_line')
  return createdMs > Number(newest?.['newest'])
}

async function openBucket(tx: Records, bucket: number, startMs: number): Promise<number> {
  await tx.sql('INSERT INTO contribution_bucket (bucket, start_ms) VALUES (?, ?)', [
    bucket,
    startMs,
  ])
  return bucket
}

export function termsOf({ headline, tags }: Contribution, line: Line): string[] {
  const { assignment, country, state, images, videos } = line
  const words = [...new Set(wordsOf(headline))].slice(0, WORDS_MAX)
  return [
    ...words.map(termOf.word),
    ...tags.map(termOf.tag),
    ...(country === null ? [] : [termOf.country(country)]),
    ...(images > 0 ? [termOf.mediaType('image')] : []),
    ...(videos > 0 ? [termOf.mediaType('video')] : []),
    ...(assignment === null ? [] : [termOf.queue({ assignment, state })]),
  ]
}

type Placed = Pick<Line, 'id' | 'created_ms'>

export async function addTerms(
  tx: Records,
  { id, created_ms }: Placed,
  terms: readonly string[],
): Promise<void> {
  if (terms.length === 0) return
  await tx.sql(
    `INSERT INTO term (term, created_ms, id) VALUES ${terms.map(() => '(?, ?, ?)').join(', ')}`,
    terms.flatMap((term) => [term, created_ms, id]),
  )
}

export async function dropTerms(
  tx: Records,
  { id, created_ms }: Placed,
  terms: readonly string[],
): Promise<void> {
  if (terms.length === 0) return
  await tx.sql(
    `DELETE FROM term WHERE created_ms = ? AND id = ? AND term IN (${terms.map(() => '?').join(', ')})`,
    [created_ms, id, ...terms],
  )
}

interface Counted {
  readonly scope: string
  readonly isPublic: boolean
  /** Whether its pages are numbered; other scopes have a total alone. */
  readonly hasPages: boolean
}

function scopesOf(line: Line): Counted[] {
  const { assignment, contributor, owner, country, images, videos } = line
  const isPublic = line.is_public === 1
  const paged = (scope: string, isShown = isPublic) => ({
    scope,
    isPublic: isShown,
    hasPages: true,
  })
  const total = (scope: string) => ({ scope, isPublic, hasPages: false })
  return [
    paged(EVERYTHING),
    paged(scopeOf.owner(owner)),
    // What someone contributed without a name is not among what the public sees of that person.
    paged(scopeOf.user(contributor), isPublic && line.is_anonymous === 0),
    ...(assignment === null ? [] : [paged(scopeOf.assignment(assignment))]),
    ...(country === null ? [] : [total(scopeOf.country(country))]),
    ...(images > 0 ? [total(scopeOf.mediaType('image'))] : []),
    ...(videos > 0 ? [total(scopeOf.mediaType('video'))] : []),
  ]
}

const COUNTS = [
  'entries',
  'public_entries',
  'media',
  'public_media',
  'media_bytes',
  'public_media_bytes',
] as const

/** Counts lines that come (1) and go (-1). */
export async function count(
  tx: Records,
  changes: readonly (readonly [line: Line, sign: 1 | -1])[],
): Promise<void> {
  const totals = new Map<string, CountRow>()
  const pages = new Map<string, CountRow>()
  for (const [line, sign] of changes) {
    const { images, videos, media_bytes } = line
    const figures = [1, images + videos, media_bytes].map((figure) => figure * sign)
    for (const { scope, isPublic, hasPages } of scopesOf(line)) {
      add(totals, [scope], figures, isPublic)
      if (hasPages) add(pages, [scope, line.bucket], figures, isPublic)
    }
  }
  await addUp(tx, 'contribution_total', totals)
  await addUp(tx, 'contribution_count', pages)
}

interface CountRow {
  readonly key: readonly SqlValue[]
  readonly by: number[]
}

function add(
  rows: Map<string, CountRow>,
  key: readonly SqlValue[],
  figures: readonly number[],
  isPublic: boolean,
): void {
  const name = key.join(' ')
  const row = rows.get(name) ?? { key, by: COUNTS.map(() => 0) }
  figures.forEach((figure, at) => {
    row.by[at * 2]! += figure
    row.by[at * 2 + 1]! += isPublic ? figure : 0
  })
  rows.set(name, row)
}

async function addUp(tx: Records, table: string, all: Map<string, CountRow>): Promise<void> {
  // In one order, so that two who count do not wait for each other.
  const names = [...all.keys()].sort()
  const rows = names.map((name) => all.get(name)!).filter(({ by }) => by.some((n) => n !== 0))
  const key = table === 'contribution_total' ? ['scope'] : ['scope', 'bucket']
  const places = `(${[...key, ...COUNTS].map(() => '?').join(', ')})`
  const sums = COUNTS.map((name) => `${name} = ${table}.${name} + excluded.${name}`)
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    const some = rows.slice(from, from + ROWS_AT_ONCE)
    await tx.sql(
      `INSERT INTO ${table} (${[...key, ...COUNTS].join(', ')})
       VALUES ${some.map(() => places).join(', ')}
       ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${sums.join(', ')}`,
      some.flatMap(({ key, by }) => [...key, ...by]),
    )
  }
}
