// Composes schema/*.graphql into schema/supergraph.graphql, without starting a service.
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { composeServices } from '@apollo/composition'
import { parse } from 'graphql'

const FOLDER = join(import.meta.dirname, '../schema')
export const SUPERGRAPH = join(FOLDER, 'supergraph.graphql')

/** The composed graph, as it should stand in the file. */
export function compose(): string {
  const services = globSync(join(FOLDER, '*.graphql'))
    .filter((file) => file !== SUPERGRAPH)
    .sort()
    .map((file) => {
      const name = basename(file, '.graphql')
      return { name, url: `http://${name}/graphql`, typeDefs: parse(readFileSync(file, 'utf8')) }
    })
  const { errors, supergraphSdl } = composeServices(services)
  if (errors) throw new Error(errors.map((error) => error.message).join('\n'))
  return `${supergraphSdl}\n`
}

if (import.meta.main) {
  writeFileSync(SUPERGRAPH, compose())
}
