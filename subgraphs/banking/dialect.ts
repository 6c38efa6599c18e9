// How the bank refuses: a list of errors, each described twice. Specification 2, service B.
import type { Dialect } from '../server/subgraph.ts'

const errorSchema = {
  type: 'object',
  properties: {
    error_description: { type: 'string' },
    error_description_translated: { type: 'string' },
  },
  required: ['error_description', 'error_description_translated'],
}

export const bank: Dialect = {
  spelling: 'snake',

  // The bank speaks English alone, so the translation says the same.
  refuse: ({ status, message }) => ({
    status,
    headers: {},
    body: { Error: [{ error_description: message, error_description_translated: message }] },
  }),

  refusalSchema: {
    type: 'object',
    properties: { Error: { type: 'array', items: errorSchema, minItems: 1 } },
    required: ['Error'],
  },
}
