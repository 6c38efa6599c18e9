// Where the composed graph is kept. Whoever serves it need not load what composes it.
import { join } from 'node:path'

export const SCHEMA_FOLDER = join(import.meta.dirname, '../schema')
export const SUPERGRAPH = join(SCHEMA_FOLDER, 'supergraph.graphql')
