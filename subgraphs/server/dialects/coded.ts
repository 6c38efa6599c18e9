// How the braille interface refuses: an error whose code is the status as a number.
import type { Dialect } from '../subgraph.ts'

const UNAUTHORIZED = 'Unauthorized'

export const coded: Dialect = {
  spelling: 'camel',

  // A missing key and a wrong one get the same documented words.
  refuse: ({ status, message, headers }) => ({
    status,
    headers,
    body: { error: { code: status, message: status === 401 ? UNAUTHORIZED : message } },
  }),

  refusalSchema: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { code: { type: 'integer' }, message: { type: 'string' } },
        required: ['code', 'message'],
        additionalProperties: false,
      },
    },
    required: ['error'],
    additionalProperties: false,
  },
}
