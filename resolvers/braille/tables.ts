// The tables of liblouis: which languages and codes can be written. Specification 1, service S4.
import { readdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Invalid } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { connection, paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'

const PAGE_DEFAULT = 25
const PAGE_MAX = 100

/**
 * Chosen: usable are the tables whose metadata give a language, and these, which have none but whose
 * code is in use. The rest are parts of tables, older editions, mathematics and chess.
 */
const WITHOUT_METADATA: Readonly<Record<string, Omit<Table, 'name' | 'displayName'>>> = {
  'ar-fa.utb': { language: 'fa', grade: 1, dots: 6 },
  'cy-cy-g1.utb': { language: 'cy', grade: 1, dots: 6 },
  'de-ch-g0.utb': { language: 'de-CH', grade: 0, dots: 6 },
  'de-ch-g1.ctb': { language: 'de-CH', grade: 1, dots: 6 },
  'de-de-g0.utb': { language: 'de-DE', grade: 0, dots: 6 },
  'de-de-g1.ctb': { language: 'de-DE', grade: 1, dots: 6 },
  'de-de-g2.ctb': { language: 'de-DE', grade: 2, dots: 6 },
  'en-GB-g2.ctb': { language: 'en-GB', grade: 2, dots: 6 },
  'en-gb-comp8.ctb': { language: 'en-GB', grade: 0, dots: 8 },
  'en-gb-g1.utb': { language: 'en-GB', grade: 1, dots: 6 },
  'en-ueb-g1.ctb': { language: 'en', grade: 1, dots: 6 },
  'en-ueb-g2.ctb': { language: 'en', grade: 2, dots: 6 },
  'en-us-comp6.ctb': { language: 'en-US', grade: 0, dots: 6 },
  'en-us-comp8.ctb': { language: 'en-US', grade: 0, dots: 8 },
  'en-us-g1.ctb': { language: 'en-US', grade: 1, dots: 6 },
  'en-us-g2.ctb': { language: 'en-US', grade: 2, dots: 6 },
  'fa-ir-comp8.ctb': { language: 'fa', grade: 0, dots: 8 },
  'fa-ir-g1.utb': { language: 'fa', grade: 1, dots: 6 },
  'fr-bfu-comp6.utb': { language: 'fr', grade: 0, dots: 6 },
  'fr-bfu-comp8.utb': { language: 'fr', grade: 0, dots: 8 },
  'fr-bfu-g2.ctb': { language: 'fr', grade: 2, dots: 6 },
  'fr-ca-g1.utb': { language: 'fr-CA', grade: 1, dots: 6 },
  'fr-fr-g1.utb': { language: 'fr-FR', grade: 1, dots: 6 },
  'ga-g1.utb': { language: 'ga', grade: 1, dots: 6 },
  'hu-hu-g1.ctb': { language: 'hu', grade: 1, dots: 6 },
  'hu-hu-g2.ctb': { language: 'hu', grade: 2, dots: 6 },
  'it-it-comp8.utb': { language: 'it', grade: 0, dots: 8 },
  'ko-g1.ctb': { language: 'ko', grade: 1, dots: 6 },
  'ko-g2.ctb': { language: 'ko', grade: 2, dots: 6 },
  'no-no-g0.utb': { language: 'no', grade: 0, dots: 6 },
  'no-no-g1.ctb': { language: 'no', grade: 1, dots: 6 },
  'no-no-g2.ctb': { language: 'no', grade: 2, dots: 6 },
  'pt-pt-g1.utb': { language: 'pt', grade: 1, dots: 6 },
  'vi-g1.ctb': { language: 'vi', grade: 1, dots: 6 },
}

export interface Table {
  /** The file name, by which liblouis knows it. */
  readonly name: string
  readonly displayName: string
  /** A BCP 47 language tag. */
  readonly language: string
  /** 0 is computer braille, 1 is written out, 2 and more are contracted; null when it does not say. */
  readonly grade: number | null
  /** The dots of a cell. */
  readonly dots: 6 | 8
}

export const operations = [
  operation({
    name: 'brailleTables',
    input: { language: optional(text), ...paging },
    async run({ language, first = PAGE_DEFAULT, after }, ctx) {
      if (first < 1 || first > PAGE_MAX) throw Invalid(`first must be between 1 and ${PAGE_MAX}.`)
      const list = `braille-tables ${language ?? ''}`
      const position = after === undefined ? '' : ctx.cursors.open(list, after)
      const fitting = (await listTables()).filter((table) => speaks(table, language))
      const rest = fitting.filter(({ name }) => name > position)
      const page = rest.slice(0, first)
      const shown = connection(page, rest.length > first, ({ name }) =>
        ctx.cursors.seal(list, name),
      )
      return { ...shown, totalCount: fitting.length }
    },
  }),
]

/** Refuses a name that is not a usable table's. */
export async function tableNamed(name: string): Promise<Table> {
  const table = (await listTables()).find((table) => table.name === name)
  if (table) return table
  throw Invalid(`There is no braille table named ${name}. The field brailleTables lists them.`)
}

/** `en` asks for all kinds of English, `en-US` for one. */
function speaks({ language }: Table, asked: string | undefined): boolean {
  if (asked === undefined) return true
  const [own, wanted] = [language.toLowerCase(), asked.toLowerCase()]
  return own === wanted || own.startsWith(`${wanted}-`)
}

// The package does not change while the process runs, so its tables are read once.
let tables: Promise<readonly Table[]> | undefined

const listTables = (): Promise<readonly Table[]> => (tables ??= readTables())

async function readTables(): Promise<readonly Table[]> {
  const require = createRequire(import.meta.url)
  const folder = join(dirname(require.resolve('liblouis-build/package.json')), 'tables')
  const files = (await readdir(folder)).filter((file) => /\.(ctb|utb|tbl)$/.test(file))
  const sources = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')))
  const sourceOf = new Map(files.map((file, i) => [file, sources[i]!]))
  return files
    .map((name) => describeTable(name, sourceOf))
    .filter((table) => table !== undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

function describeTable(name: string, sourceOf: Map<string, string>): Table | undefined {
  const source = sourceOf.get(name)!
  const described = WITHOUT_METADATA[name] ?? metadataOf(source)
  if (!described) return undefined
  return { name, displayName: titleOf(source, sourceOf) ?? spokenOf(described), ...described }
}

/** Metadata are comments such as `#+locale:en-US`. */
function metadataOf(source: string): Omit<Table, 'name' | 'displayName'> | undefined {
  const { locale, grade, dots, type } = Object.fromEntries(
    [...source.matchAll(/^#\+([a-z]+): *(.*?)\s*$/gm)].map(([, key, value]) => [key!, value!]),
  )
  if (!locale) return undefined
  const isOfEight = dots === '8' || (dots === undefined && type === 'computer')
  return {
    language: locale,
    grade: grade === undefined ? null : Number(grade),
    dots: isOfEight ? 8 : 6,
  }
}

/** The first comment names many tables; one that only includes another has the name of that. */
function titleOf(source: string, sourceOf: Map<string, string>): string | undefined {
  const title = /^# *liblouis(?: braille table -|:)?\s+([A-Z].*?)\.?\s*$/im.exec(source)?.[1]
  if (title && !/^(?:comes|is) /i.test(title)) return title
  if (!/^#\+locale/m.test(source)) return undefined
  for (const [, included] of source.matchAll(/^include +(\S+)/gm)) {
    const found = sourceOf.get(included!)
    const title = found && titleOf(found, sourceOf)
    if (title) return title
  }
  return undefined
}

function spokenOf({ language, grade }: Pick<Table, 'language' | 'grade'>): string {
  const spoken = new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? language
  return grade === null ? spoken : `${spoken}, grade ${grade}`
}
