// Where the composed graph is kept. Whoever serves it need not load what composes it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const SCHEMA_FOLDER = join(import.meta.dirname, '../schema')
export const SUPERGRAPH = join(SCHEMA_FOLDER, 'supergraph.graphql')
/** What clients see of it. */
export const API_NAME = 'clients/api.graphql'
export const API = join(SCHEMA_FOLDER, API_NAME)

/** A composed graph, and what clients see of it, where that is written down. */
export interface Composed {
  readonly sdl: string
  readonly apiSdl?: string | undefined
}

export const readComposed = (): Composed => ({
  sdl: readFileSync(SUPERGRAPH, 'utf8'),
  apiSdl: readFileSync(API, 'utf8'),
})
