// Braille translation as a subgraph. Specification 1, service S4.
import { makeReady } from '../resolvers/braille/cells.ts'
import * as entities from '../resolvers/braille/entities.ts'
import * as images from '../resolvers/braille/images.ts'
import * as tables from '../resolvers/braille/tables.ts'
import * as translate from '../resolvers/braille/translate.ts'
import { apiKey } from './server/auth/api-key.ts'
import { coded } from './server/dialects/coded.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'braille',
  title: 'Braille translation service',
  version: '2.3',
  basePath: '',
  scheme: apiKey('X-Vendor-Api-Secret'),
  dialect: coded,
  resources: [translate, tables, images, entities],
  makeReady,
}
