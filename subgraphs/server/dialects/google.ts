// How the functions interface refuses: a status in words beside the number.
import type { Dialect } from '../subgraph.ts'

const WORDS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  409: 'ALREADY_EXISTS',
  412: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

export const google: Dialect = {
  spelling: 'camel',
  refuse({ code, status, message, details }) {
    // A fault that names one of the interface's own words keeps it.
    const word = /^[A-Z_]+$/.test(code) ? code : (WORDS[status] ?? 'UNKNOWN')
    return {
      status,
      headers: {},
      body: { error: { code: status, message, status: word, ...details } },
    }
  },
  refusalSchema: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'integer' },
          message: { type: 'string' },
          status: { type: 'string' },
        },
        required: ['code', 'message', 'status'],
      },
    },
    required: ['error'],
  },
}
