// Composes schema/*.graphql into schema/supergraph.graphql, without starting a service.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { composeServices } from '@apollo/composition'
import { parse } from 'graphql'
import { SCHEMA_FOLDER, SUPERGRAPH } from './supergraph.ts'

/** Every service that has a schema. */
const allServices = (): string[] =>
  globSync(join(SCHEMA_FOLDER, '*.graphql'))
    .filter((file) => file !== SUPERGRAPH)
    .map((file) => basename(file, '.graphql'))

/** The composed graph, as it should stand in the file. */
export function compose(names: readonly string[] = allServices()): string {
  const services = names.toSorted().map((name) => {
    const text = readFileSync(join(SCHEMA_FOLDER, `${name}.graphql`), 'utf8')
    return { name, url: `http://${name}/graphql`, typeDefs: parse(text) }
  })
  const { errors, supergraphSdl } = composeServices(services)
  if (errors) throw new Error(errors.map((error) => error.message).join('\n'))
  return `${supergraphSdl}\n`
}

if (import.meta.main) {
  writeFileSync(SUPERGRAPH, compose())
}
