// Genres, regions and languages: the words by which the directory is divided. Specification 1, S5.
import { z } from 'zod'
import { get, operation } from '../kernel/operation.ts'
import { optional } from '../kernel/shape.ts'
import genreList from './data/genres.json' with { type: 'json' }
import languageNames from './data/languages.json' with { type: 'json' }
import regionNames from './data/regions.json' with { type: 'json' }
import { metered } from './quotas.ts'
import { bit } from './shapes.ts'

export interface Genre {
  readonly id: number
  readonly name: string
  readonly parent_id: number | null
}

/** The genre that holds all others, and is in no list itself. */
export const ROOT_GENRE = 67

const ANY_LANGUAGE = 'Any language'

const genres: readonly Genre[] = genreList
const byId = new Map(genres.map((genre) => [genre.id, genre]))
const languages: Readonly<Record<string, string>> = languageNames
export const regions: Readonly<Record<string, string>> = regionNames

const genreAnswer = z.object({ id: z.int(), name: z.string(), parent_id: z.int().nullable() })

export const operations = [
  operation({
    name: 'podcastGenres',
    rest: get('/genres', {
      show: (shown: readonly Genre[]) => ({ genres: shown }),
      answer: z.object({ genres: z.array(genreAnswer) }),
    }),
    input: { top_level_only: optional(bit) },
    run: metered(async ({ top_level_only }) =>
      genres.filter(
        ({ id, parent_id }) =>
          id !== ROOT_GENRE && (top_level_only !== 1 || parent_id === ROOT_GENRE),
      ),
    ),
  }),
  operation({
    name: 'podcastRegions',
    rest: get('/regions', {
      show: () => ({ regions }),
      answer: z.object({ regions: z.record(z.string(), z.string()) }),
    }),
    input: {},
    run: metered(async () => Object.entries(regions).map(([code, name]) => ({ code, name }))),
  }),
  operation({
    name: 'podcastLanguages',
    rest: get('/languages', {
      show: (shown: readonly string[]) => ({ languages: shown }),
      answer: z.object({ languages: z.array(z.string()) }),
    }),
    input: {},
    run: metered(async () => [ANY_LANGUAGE, ...Object.values(languages)]),
  }),
]

export const fields = {
  PodcastGenre: {
    parent: ({ parent_id }: Genre) => (parent_id === null ? null : genreOf(parent_id)),
    children: ({ id }: Genre) => genres.filter(({ parent_id }) => parent_id === id),
  },
}

export const genreOf = (id: number): Genre | undefined => byId.get(id)

export const genresNamed = (isNamed: (name: string) => boolean): Genre[] =>
  genres.filter(({ id, name }) => id !== ROOT_GENRE && isNamed(name))

/** A genre and all that hold it, without the root. */
export function withAncestors(ids: readonly number[]): number[] {
  const found = new Set<number>()
  for (const id of ids) {
    for (let at = byId.get(id); at && at.id !== ROOT_GENRE; at = byId.get(at.parent_id!)) {
      found.add(at.id)
    }
  }
  return [...found]
}

/** The English name of a language tag such as `pt-br`; empty when the directory does not list it. */
export const languageNamed = (tag: string): string =>
  languages[tag.toLowerCase().split(/[-_]/, 1)[0]!] ?? ''

/** A language that can be asked for: its name as listed, or undefined for any or for none such. */
export function askedLanguage(name: string): string | 'any' | undefined {
  if (name === ANY_LANGUAGE) return 'any'
  return Object.values(languages).find((known) => known.toLowerCase() === name.toLowerCase())
}

export const regionNamed = (code: string): string => regions[code.toLowerCase()] ?? ''
