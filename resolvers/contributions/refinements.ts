// Refinements: by which values a list of contributions can be narrowed further, with how many each
// leaves. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { invalidField } from './errors.ts'
import { filters, readFilter, type Filter } from './filters.ts'
import { scopeIn } from './finding.ts'
import { sourceOf } from './sources.ts'
import { EVERYTHING, scopeOf } from './lines.ts'
import { commaList } from './shapes.ts'

const SIZE_DEFAULT = 10
const SIZE_MAX = 100

/** What the options of a refinement are, of a line. */
const OPTIONS: Readonly<Record<string, string>> = {
  assignment: 'l.assignment',
  country: 'l.country',
  user: 'CASE WHEN l.is_anonymous = 0 THEN l.contributor END',
  ...Object.fromEntries(
    [1, 2, 3, 4, 5, 6].map((chars) => [
      `geohash${chars}`,
      `CASE WHEN l.geohash_chars >= ${chars} THEN substr(l.geohash, 1, ${chars}) END`,
    ]),
  ),
}
/** Those whose totals over everything are kept. */
const TOTALS = new Set(['assignment', 'country', 'user', 'mediaType'])
const TYPES = [
  'assignment',
  'country',
  'mediaType',
  'user',
  ...Object.keys(OPTIONS).filter((name) => name.startsWith('geohash')),
]

interface Refinement {
  readonly name: string
  readonly options: readonly { readonly value: string; readonly count: number }[]
}

export const operations = [
  operation({
    name: 'contributionRefinements',
    rest: get('/contribution-refinements', {
      show: (found: readonly Refinement[]) =>
        Object.fromEntries(
          found.map(({ name, options }) => [name, options.map(({ value }) => value)]),
        ),
      answer: z.record(z.string(), z.array(z.string())),
    }),
    input: {
      ...filters,
      refinements: optional(text.max(500)),
      refinementSize: optional(whole.pipe(z.int().min(1).max(SIZE_MAX))),
    },
    async run({ refinements, refinementSize = SIZE_DEFAULT, ...sent }, ctx) {
      const wanted =
        refinements === undefined ? TYPES : commaList('refinements', refinements, TYPES.length)
      const unknown = wanted.find((name) => !TYPES.includes(name))
      if (unknown !== undefined) {
        throw invalidField('refinements', `name ${unknown}; there are ${TYPES.join(', ')}`)
      }
      const filter = await readFilter(sent, ctx)
      const found: Refinement[] = []
      for (const name of wanted) found.push(await refine(name, filter, refinementSize, ctx))
      return found
    },
  }),
  operation({
    name: 'contributionRefinementTypes',
    rest: get('/contribution-refinement-types', { answer: z.array(z.string()) }),
    input: {},
    run: async () => TYPES,
  }),
]

async function refine(
  name: string,
  filter: Filter,
  size: number,
  ctx: Context,
): Promise<Refinement> {
  const rows =
    scopeIn(filter) === EVERYTHING && TOTALS.has(name)
      ? await totalsOf(name as keyof typeof scopeOf, filter, size, ctx)
      : name === 'mediaType'
        ? await countMediaTypes(filter, ctx)
        : await countOptions(OPTIONS[name]!, filter, size, ctx)
  const options = rows
    .map((row) => ({ value: String(row['value']), count: Number(row['entries']) }))
    .filter(({ count }) => count > 0)
  return { name, options }
}

/** Over everything, the totals are there already. */
function totalsOf(name: keyof typeof scopeOf, { seesAll }: Filter, size: number, ctx: Context) {
  const prefix = scopeOf[name]('')
  const entries = seesAll ? 'entries' : 'public_entries'
  return ctx.store.sql(
    `SELECT substr(scope, ?) AS value, ${entries} AS entries FROM contribution_total
     WHERE scope >= ? AND scope < ? ORDER BY ${entries} DESC, scope LIMIT ?`,
    [prefix.length + 1, prefix, `${prefix.trimEnd()}!`, size],
  )
}

async function countOptions(option: string, filter: Filter, size: number, ctx: Context) {
  const { text, values } = await sourceOf(filter, ctx)
  return ctx.store.sql(
    `SELECT ${option} AS value, count(*) AS entries FROM ${text} AND ${option} IS NOT NULL
     GROUP BY ${option} ORDER BY entries DESC, value LIMIT ?`,
    [...values, size],
  )
}

async function countMediaTypes(filter: Filter, ctx: Context) {
  const { text, values } = await sourceOf(filter, ctx)
  const [row] = await ctx.store.sql(
    `SELECT sum(CASE WHEN l.images > 0 THEN 1 ELSE 0 END) AS image,
       sum(CASE WHEN l.videos > 0 THEN 1 ELSE 0 END) AS video FROM ${text}`,
    values,
  )
  return ['image', 'video']
    .map((value) => ({ value, entries: Number(row?.[value] ?? 0) }))
    .sort((a, b) => b.entries - a.entries)
}
