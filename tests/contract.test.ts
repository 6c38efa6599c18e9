// What holds for the project as a whole: documented paths, descriptions, imports, sizes.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, relative } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Kind, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { apiText, compose } from '../gateway/compose.ts'
import { API, SUPERGRAPH } from '../gateway/supergraph.ts'
import { loadServices, SERVICES } from '../gateway/services.ts'
import { graphqlDoor, operationsOf } from '../subgraphs/server/graphql.ts'
import { openApi } from '../subgraphs/server/openapi.ts'

const ROOT = join(import.meta.dirname, '..')
const LINES_MAX = 400
const sources = globSync('{gateway,resolvers,subgraphs,bench}/**/*.ts', {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
})
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')

/** Which folder may import what; the first row that fits a file holds for it. */
const MAY_IMPORT: readonly [folder: RegExp, allowed: RegExp][] = [
  [/^resolvers\/kernel\//, /^(node:|zod$|dataloader$|pg$|resolvers\/kernel\/)/],
  [/^resolvers\/families\//, /^(node:|zod$|resolvers\/(kernel|families)\/)/],
  [
    /^resolvers\/([\w-]+)\//,
    /^(?!@?apollo|fastify|graphql)(?!resolvers\/|subgraphs\/|gateway\/|tests\/)|^resolvers\/(kernel|families|SERVICE)\//,
  ],
  [
    /^subgraphs\/server\//,
    /^(node:|zod$|graphql|@apollo\/|fastify$|jose$|lru-cache$|pino$|prom-client$|resolvers\/kernel\/|subgraphs\/server\/)/,
  ],
  [/^subgraphs\/([\w-]+)\.ts$/, /^(resolvers\/SERVICE\/|subgraphs\/(server|SERVICE)\/)/],
  // The pages of a service, which are neither operations nor rules.
  [
    /^subgraphs\/([\w-]+)\//,
    /^(node:|fastify$|resolvers\/(kernel|SERVICE)\/|subgraphs\/(server|SERVICE)\/)/,
  ],
  [/^gateway\/services\.ts$/, /^subgraphs\//],
  [/^gateway\//, /^(?!resolvers\/(?!kernel\/))(?!subgraphs\/(?!server\/))(?!tests\/)/],
  [/^bench\//, /./],
]

test.each(sources)('%s imports only what its folder may', (file) => {
  const [folder, allowed] = MAY_IMPORT.find(([folder]) => folder.test(file))!
  const rule = new RegExp(allowed.source.replaceAll('SERVICE', folder.exec(file)?.[1] ?? 'none'))
  const imported = [...read(file).matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(
    ([, from]) => from!,
  )

  for (const from of imported) {
    const target = from.startsWith('.') ? relative('.', normalize(join(dirname(file), from))) : from
    expect(target, `${file} may not import ${target}`).toMatch(rule)
  }
})

test('no source file is longer than anyone reads', () => {
  const long = sources.filter((file) => read(file).split('\n').length > LINES_MAX)

  expect(long).toEqual([])
})

test('a source file says on its first line what it is about', () => {
  const silent = sources.filter((file) => !/^(\/\/ |\/\*\*)/.test(read(file)))

  expect(silent).toEqual([])
})

test('rules read no clock, no chance, no environment and no network but those they are given', () => {
  const resolvers = sources.filter((file) => /^resolvers\/(?!kernel\/)/.test(file))
  const reading = resolvers.filter((file) =>
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|\bprocess\.env\b|\bfetch\(/.test(read(file)),
  )

  expect(reading).toEqual([])
})

test('the composed supergraph is up to date: npm run compose', () => {
  const composed = compose()

  expect(readFileSync(SUPERGRAPH, 'utf8')).toBe(composed)
  expect(readFileSync(API, 'utf8')).toBe(apiText(composed))
})

const subgraphs = await loadServices(Object.keys(SERVICES))

describe.each(subgraphs.map((subgraph) => ({ name: subgraph.name, subgraph })))(
  '$name',
  ({ name, subgraph }) => {
    const documentedFile = join(ROOT, `tests/documented/${name}.json`)

    test('serves the documented methods, paths and statuses, and no others that are not marked', () => {
      const served = operationsOf(subgraph).flatMap(({ rest }) =>
        rest && !rest.isBeyond
          ? [{ method: rest.method, path: subgraph.basePath + rest.path, status: rest.status }]
          : [],
      )
      const line = ({ method, path, status }: (typeof served)[number]) =>
        `${method} ${path} ${status.toSorted().join(' ')}`
      const documented = JSON.parse(readFileSync(documentedFile, 'utf8')) as typeof served

      expect(served.map(line).toSorted()).toEqual(documented.map(line).toSorted())
    })

    test('has a schema that equals its code', () => {
      expect(() => graphqlDoor(subgraph, { performed: () => {}, mistake: () => {} })).not.toThrow()
    })

    test('describes every root field and every type of its schema', () => {
      const missing: string[] = []
      for (const node of parse(read(`schema/${name}.graphql`)).definitions) {
        if (!('name' in node) || !node.name || node.kind === Kind.DIRECTIVE_DEFINITION) continue
        const isRoot = ['Query', 'Mutation'].includes(node.name.value)
        if (!isRoot && 'description' in node && !node.description) missing.push(node.name.value)
        if (isRoot && 'fields' in node) {
          for (const field of node.fields ?? []) {
            if (!field.description) missing.push(field.name.value)
          }
        }
      }

      expect(missing).toEqual([])
    })

    test('has an OpenAPI document that a validator accepts', async () => {
      const result = await new Validator().validate(openApi(subgraph) as any)

      expect(result).toMatchObject({ valid: true })
    })
  },
)
