// How OAuth 2.0 endpoints refuse (RFC 6749, section 5.2).
import type { Dialect } from '../subgraph.ts'

const ERRORS: Readonly<Record<string, string>> = {
  Invalid: 'invalid_request',
  Unauthenticated: 'invalid_token',
  Forbidden: 'insufficient_scope',
  NotFound: 'not_found',
  MethodNotAllowed: 'invalid_request',
  TooLarge: 'invalid_request',
  WrongMediaType: 'invalid_request',
  TooMany: 'slow_down',
  Internal: 'server_error',
  Unavailable: 'temporarily_unavailable',
}

export const oauth: Dialect = {
  spelling: 'snake',
  refuse: ({ code, status, message }) => ({
    status,
    headers: { 'cache-control': 'no-store' },
    body: { error: ERRORS[code] ?? code, error_description: message },
  }),
  refusalSchema: {
    type: 'object',
    properties: { error: { type: 'string' }, error_description: { type: 'string' } },
    required: ['error'],
  },
}
