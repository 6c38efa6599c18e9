// What a search can be narrowed by. Specification 1, service S5.
import { z } from 'zod'
import { oneOf, optional, text, whole } from '../kernel/shape.ts'
import type { Bounds } from '../kernel/store.ts'
import { regionAsked } from './best-podcasts.ts'
import { TOTAL_MAX, type Narrowing } from './candidates.ts'
import { BadRequest } from './errors.ts'
import { askedLanguage, genreOf } from './genres.ts'
import type { Field } from './ranking.ts'
import {
  EXPLICIT_MARK,
  genreMark,
  INTERVIEWS_MARK,
  languageMark,
  podcastMark,
  regionMark,
  SPONSORS_MARK,
} from './records.ts'
import { bit, count, listOf, numbersOf, searched } from './shapes.ts'

const PAGE_SIZE_MAX = 10
const IDS_MAX = 5
const GENRES_MAX = 20
const FIELDS: readonly Field[] = ['title', 'description', 'author', 'audio']
const MINUTE_SEC = 60

export const searchInput = {
  q: searched,
  sort_by_date: optional(bit),
  type: optional(oneOf(['episode', 'podcast', 'curated'])),
  offset: optional(count.refine((value) => value < TOTAL_MAX, `must be less than ${TOTAL_MAX}`)),
  len_min: optional(count),
  len_max: optional(count),
  episode_count_min: optional(count),
  episode_count_max: optional(count),
  update_freq_min: optional(count),
  update_freq_max: optional(count),
  genre_ids: optional(text),
  published_before: optional(count),
  published_after: optional(count),
  only_in: optional(text),
  language: optional(text),
  region: optional(text),
  ocid: optional(text),
  ncid: optional(text),
  safe_mode: optional(bit),
  unique_podcasts: optional(bit),
  interviews_only: optional(bit),
  sponsored_only: optional(bit),
  page_size: optional(
    whole.refine(
      (value) => value >= 1 && value <= PAGE_SIZE_MAX,
      `must be between 1 and ${PAGE_SIZE_MAX}`,
    ),
  ),
}
export type SearchInput = z.output<z.ZodObject<typeof searchInput>>

/** The fields to look in. */
export function fieldsAsked({ only_in }: SearchInput): readonly Field[] {
  const asked = listOf('only_in', only_in)
  const unknown = asked.find((name) => !FIELDS.includes(name as Field))
  if (unknown !== undefined) {
    throw BadRequest(`only_in must name some of ${FIELDS.join(', ')}, and not ${unknown}.`)
  }
  return asked.length > 0 ? (asked as Field[]) : FIELDS
}

/** Chosen: what does not apply to a type of result is ignored there, as existing clients expect. */
export function narrowingAsked(sent: SearchInput): Narrowing {
  const { type = 'episode' } = sent
  checkRanges(sent)
  if (type === 'curated') {
    const published = boundsOf(sent.published_after, sent.published_before)
    return published ? { bounds: { published } } : {}
  }
  const isEpisode = type === 'episode'
  const dates = boundsOf(sent.published_after, sent.published_before)
  const length = boundsOf(minutes(sent.len_min), upTo(minutes(sent.len_max)))
  const count = boundsOf(sent.episode_count_min, upTo(sent.episode_count_max))
  const frequency = boundsOf(sent.update_freq_min, upTo(sent.update_freq_max))
  return {
    marks: marksAsked(sent, isEpisode),
    unmarked: [
      ...(sent.safe_mode === 1 ? [EXPLICIT_MARK] : []),
      ...(isEpisode ? podcastsNamed('ncid', sent.ncid) : []),
    ],
    bounds: {
      ...(dates && { [isEpisode ? 'published' : 'latest']: dates }),
      ...(length && { length }),
      ...(!isEpisode && count && { episodes: count }),
      ...(!isEpisode && frequency && { frequency }),
    },
  }
}

function marksAsked(sent: SearchInput, isEpisode: boolean): string[][] {
  const genres = numbersOf('genre_ids', sent.genre_ids, GENRES_MAX)
  const unknown = genres.find((id) => !genreOf(id))
  if (unknown !== undefined) throw BadRequest(`There is no genre ${unknown}.`)
  const language = sent.language === undefined ? 'any' : askedLanguage(sent.language)
  if (language === undefined) throw BadRequest(`${sent.language} is no language of GET /languages.`)
  const only = isEpisode ? podcastsNamed('ocid', sent.ocid) : []
  return [
    ...(genres.length > 0 ? [genres.map(genreMark)] : []),
    ...(language === 'any' ? [] : [[languageMark(language)]]),
    ...(sent.region === undefined ? [] : [[regionMark(regionAsked('region', sent.region))]]),
    ...(only.length > 0 ? [only] : []),
    ...(!isEpisode && sent.interviews_only === 1 ? [[INTERVIEWS_MARK]] : []),
    ...(!isEpisode && sent.sponsored_only === 1 ? [[SPONSORS_MARK]] : []),
  ]
}

function podcastsNamed(name: string, sent: string | undefined): string[] {
  return listOf(name, sent, IDS_MAX).map((id) => {
    if (/^[0-9a-f]{32}$/.test(id)) return podcastMark(id)
    throw BadRequest(`${name} must be ids of podcasts with commas between them, and not ${id}.`)
  })
}

const minutes = (value: number | undefined) => value && value * MINUTE_SEC
const upTo = (value: number | undefined) => (value === undefined ? undefined : value + 1)

function boundsOf(from: number | undefined, below: number | undefined): Bounds | undefined {
  if (!from && below === undefined) return undefined
  return { ...(from && { from }), ...(below !== undefined && { below }) }
}

function checkRanges(sent: SearchInput): void {
  for (const [low, high] of [
    ['len_min', 'len_max'],
    ['episode_count_min', 'episode_count_max'],
    ['update_freq_min', 'update_freq_max'],
    ['published_after', 'published_before'],
  ] as const) {
    const [from, to] = [sent[low], sent[high]]
    if (from === undefined || to === undefined) continue
    const isEmpty = low === 'published_after' ? from >= to : from > to
    if (isEmpty) throw BadRequest(`${high} must exceed ${low}.`)
  }
}
