// The filter set CF: which contributions are meant, as a caller says it.
import type { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { flag, optional, text } from '../kernel/shape.ts'
import { wordsOf } from '../kernel/text-search.ts'
import { isInJurisdiction } from './access.ts'
import { invalidField } from './errors.ts'
import { isState } from './moderation-states.ts'
import { readGeohashes, readLatLong, type Circle } from './places.ts'
import { assignments } from './records.ts'
import { commaList, decimal, id, moment } from './shapes.ts'

const GEOHASHES_MAX = 32
const IDS_MAX = 100
const WORDS_MAX = 10
const RADIUS_KM_DEFAULT = 10
const RADIUS_KM_MAX = 20_100
const MEDIA_TYPES = ['image', 'video']

/** The documented filters of contributions. */
export const filters = {
  assignment: optional(id),
  country: optional(text.regex(/^[A-Za-z]{2}$/, 'must be a code of two letters')),
  createdBefore: optional(moment),
  createdAfter: optional(moment),
  geohash: optional(text.max(1_000)),
  hasLocation: optional(flag),
  latLong: optional(text.max(100)),
  radius: optional(
    decimal.refine((km) => km > 0 && km <= RADIUS_KM_MAX, 'must be kilometres on Earth'),
  ),
  mediaType: optional(text.max(100)),
  ownedBy: optional(id),
  q: optional(text.max(1_000)),
  urlWords: optional(text.max(200)),
  user: optional(id),
}

/** The filters of lists alone. */
export const listFilters = {
  ...filters,
  createdDay: optional(text.regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a day such as 2030-01-31')),
  createdMonth: optional(text.regex(/^\d{4}-\d{2}$/, 'must be a month such as 2030-01')),
  ids: optional(text.max(10_000)),
  tag: optional(id),
  state: optional(text.max(50)),
}

type Sent = Partial<z.output<z.ZodObject<typeof listFilters>>>

/** What is meant. Plain data, so that an export can keep it. */
export interface Filter {
  /** The public sees what is public; who asks for what is theirs sees all of it. */
  readonly seesAll: boolean
  readonly assignment?: string
  readonly user?: string
  readonly ownedBy?: string
  /** Whether the person asked for is someone else, whose unnamed contributions stay unnamed. */
  readonly isOther?: boolean
  readonly country?: string
  readonly fromMs?: number
  readonly belowMs?: number
  readonly geohashes?: readonly string[]
  readonly hasLocation?: boolean
  readonly near?: Circle
  readonly mediaTypes?: readonly string[]
  readonly words?: readonly string[]
  readonly urlWords?: string
  readonly ids?: readonly string[]
  readonly tag?: string
  readonly state?: string
}

/** Reads the filters, and decides how much the caller sees with them. */
export async function readFilter(sent: Sent, ctx: Context): Promise<Filter> {
  const { assignment, user, ownedBy, country, hasLocation, urlWords, tag, state } = sent
  const { caller } = ctx
  if (state !== undefined && !isState(state)) {
    throw invalidField('state', 'must be pending, approved or rejected')
  }
  const isOwn = (id: string | undefined) => id !== undefined && id === caller.userId
  const named = assignment === undefined ? undefined : await load(ctx, assignments, assignment)
  const seesAll =
    caller.isAdmin ||
    isOwn(user) ||
    isOwn(ownedBy) ||
    (named !== undefined && isInJurisdiction(named, caller))
  return {
    seesAll,
    ...(assignment !== undefined && { assignment }),
    ...(user !== undefined && { user, isOther: !isOwn(user) && !seesAll }),
    ...(ownedBy !== undefined && { ownedBy }),
    ...(country !== undefined && { country: country.toUpperCase() }),
    ...readSpan(sent),
    ...readPlaces(sent),
    ...(hasLocation !== undefined && { hasLocation }),
    ...readMediaTypes(sent),
    ...(sent.q !== undefined && { words: [...new Set(wordsOf(sent.q))].slice(0, WORDS_MAX) }),
    ...(urlWords !== undefined && { urlWords }),
    ...(sent.ids !== undefined && { ids: commaList('ids', sent.ids, IDS_MAX) }),
    ...(tag !== undefined && { tag }),
    ...(state !== undefined && { state }),
  }
}

/** Everything that bounds the moment of creation, taken together. Days are of UTC. */
function readSpan({ createdAfter, createdBefore, createdDay, createdMonth }: Sent) {
  const spans = [
    {
      fromMs: createdAfter && Date.parse(createdAfter),
      belowMs: createdBefore && Date.parse(createdBefore),
    },
    createdDay === undefined ? {} : readDays('createdDay', createdDay, 'day'),
    createdMonth === undefined ? {} : readDays('createdMonth', `${createdMonth}-01`, 'month'),
  ]
  const froms = spans.flatMap(({ fromMs }) => (typeof fromMs === 'number' ? [fromMs] : []))
  const belows = spans.flatMap(({ belowMs }) => (typeof belowMs === 'number' ? [belowMs] : []))
  return {
    ...(froms.length > 0 && { fromMs: Math.max(...froms) }),
    ...(belows.length > 0 && { belowMs: Math.min(...belows) }),
  }
}

function readDays(name: string, first: string, unit: 'day' | 'month') {
  const start = new Date(`${first}T00:00:00.000Z`)
  // 30 February is read as 2 March, and is no day.
  if (Number.isNaN(start.getTime()) || start.toISOString().slice(0, 10) !== first) {
    throw invalidField(name, `is no ${unit}`)
  }
  const end = new Date(start)
  if (unit === 'day') end.setUTCDate(end.getUTCDate() + 1)
  else end.setUTCMonth(end.getUTCMonth() + 1)
  return { fromMs: start.getTime(), belowMs: end.getTime() }
}

function readPlaces({ geohash, latLong, radius }: Sent): Pick<Filter, 'geohashes' | 'near'> {
  if (radius !== undefined && latLong === undefined) {
    throw invalidField('radius', 'needs latLong, the point that it goes around')
  }
  return {
    ...(geohash !== undefined && {
      geohashes: readGeohashes(commaList('geohash', geohash, GEOHASHES_MAX)),
    }),
    // Chosen: a point without a radius means its surroundings.
    ...(latLong !== undefined && {
      near: { ...readLatLong(latLong), radiusKm: radius ?? RADIUS_KM_DEFAULT },
    }),
  }
}

function readMediaTypes({ mediaType }: Sent): Pick<Filter, 'mediaTypes'> {
  if (mediaType === undefined) return {}
  const mediaTypes = commaList('mediaType', mediaType, MEDIA_TYPES.length)
  if (mediaTypes.every((type) => MEDIA_TYPES.includes(type))) return { mediaTypes }
  throw invalidField('mediaType', 'must be image, video or both, joined by a comma')
}
