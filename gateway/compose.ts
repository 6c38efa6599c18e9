// Composes schema/*.graphql into schema/supergraph.graphql, without starting a service; and writes beside
// it what clients see of it.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { composeServices } from '@apollo/composition'
import { Supergraph } from '@apollo/federation-internals'
import { parse, printSchema } from 'graphql'
import { apiOf } from './executor/graph.ts'
import { schemaChanges } from './schema-changes.ts'
import { brokenRules } from './schema-rules.ts'
import { API_NAME, SCHEMA_FOLDER, SUPERGRAPH } from './supergraph.ts'

/** Every service that has a schema. */
const allServices = (folder: string): string[] =>
  globSync(join(folder, '*.graphql'))
    .map((file) => basename(file, '.graphql'))
    .filter((name) => name !== basename(SUPERGRAPH, '.graphql'))

/**
 * The composed graph, as it should stand in the file. Throws, naming each place, for what the gateway
 * cannot serve and for what does not fit together, also where it could be composed all the same.
 */
export function compose(names?: readonly string[], folder: string = SCHEMA_FOLDER): string {
  const services = (names ?? allServices(folder)).toSorted().map((name) => {
    const text = readFileSync(join(folder, `${name}.graphql`), 'utf8')
    return { name, url: `http://${name}/graphql`, typeDefs: parse(text) }
  })
  const problems = services.flatMap(({ name, typeDefs }) =>
    brokenRules(typeDefs).map((problem) => `schema/${name}.graphql: ${problem}`),
  )
  const { errors = [], hints = [], supergraphSdl } = composeServices(services)
  problems.push(...errors.map(({ message }) => message), ...hints.map((hint) => `${hint}`))
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return `${supergraphSdl}\n`
}

/**
 * Composes into the folder, unless that would break what clients ask. They know what was committed last;
 * without git, what stands in the folder. Returns the exit code.
 */
export function composeFile(
  args: readonly string[],
  folder: string,
  say: (line: string) => void,
): number {
  const { values } = parseArgs({
    args: [...args],
    options: { 'accept-breaking': { type: 'boolean', default: false } },
  })
  const file = join(folder, basename(SUPERGRAPH))
  const after = compose(undefined, folder)
  const before = committed(file) ?? (existsSync(file) ? readFileSync(file, 'utf8') : after)
  const { breaking, dangerous } = schemaChanges(before, after)
  for (const change of dangerous) say(`may surprise clients: ${change}`)
  for (const change of breaking) say(`breaks clients: ${change}`)
  if (breaking.length > 0 && !values['accept-breaking']) {
    say('Nothing was written. If clients can bear it: npm run compose -- --accept-breaking')
    return 1
  }
  writeFileSync(file, after)
  const api = join(folder, API_NAME)
  mkdirSync(dirname(api), { recursive: true })
  writeFileSync(api, apiText(after))
  return 0
}

/** What clients see of a composed graph. */
export const apiText = (supergraph: string): string =>
  `${printSchema(apiOf(Supergraph.build(supergraph)).schema)}\n`

/** Undefined where there is no git, or where the file was never committed. */
function committed(file: string): string | undefined {
  try {
    return execFileSync('git', ['show', `HEAD:./${basename(file)}`], {
      cwd: join(file, '..'),
      encoding: 'utf8',
      maxBuffer: SUPERGRAPH_MAX,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return undefined
  }
}

const SUPERGRAPH_MAX = 64 * 1024 * 1024

if (import.meta.main) {
  try {
    process.exitCode = composeFile(process.argv.slice(2), SCHEMA_FOLDER, console.log)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 1
  }
}
