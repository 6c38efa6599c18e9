// How the management interfaces refuse: an error with a code, a message and what it is about.
import { fault, type Fault } from '../../../resolvers/kernel/fault.ts'
import type { Dialect } from '../subgraph.ts'

export const MissingApiVersionParameter = fault('MissingApiVersionParameter', 400)
export const InvalidApiVersionParameter = fault('InvalidApiVersionParameter', 400)

/** What any service can refuse, by the codes that clients of these interfaces know. */
const CODES: Readonly<Record<string, string>> = {
  Forbidden: 'AuthorizationFailed',
  NotFound: 'InvalidResourceType',
  MethodNotAllowed: 'MethodNotAllowed',
  PreconditionFailed: 'PreconditionFailed',
  TooLarge: 'RequestContentTooLarge',
  WrongMediaType: 'UnsupportedMediaType',
  TooMany: 'TooManyRequests',
  Internal: 'InternalServerError',
  Unavailable: 'ServiceUnavailable',
}

export const arm: Dialect = {
  spelling: 'camel',
  ignoreCase: true,

  // Links that are handed out carry the version, so that every path can insist on it.
  admit(query, { version }) {
    if (query['api-version'] === version) return
    const sent = Object.entries(query)
      .filter(([name]) => name.toLowerCase() === 'api-version')
      .flatMap(([, value]) => value)
    if (sent.length === 0 || sent.includes('')) {
      throw MissingApiVersionParameter(
        `The api-version query parameter (?api-version=) is required for all requests. The supported version is '${version}'.`,
      )
    }
    const unsupported = sent.find((value) => String(value).toLowerCase() !== version)
    if (unsupported !== undefined) {
      throw InvalidApiVersionParameter(
        `The api-version '${String(unsupported)}' is invalid. The supported version is '${version}'.`,
      )
    }
  },

  requestIdHeader: 'X-Vendor-Request-Id',
  parameters: ({ version }) => [
    { name: 'api-version', in: 'query', required: true, schema: { const: version } },
  ],

  refuse: (fault) => ({
    status: fault.status,
    headers: {},
    body: { error: { code: codeOf(fault), message: fault.message, ...placesOf(fault) } },
  }),

  refusalSchema: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: { type: 'string' },
          message: { type: 'string' },
          target: { type: 'string' },
          details: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                code: { type: 'string' },
                message: { type: 'string' },
                target: { type: 'string' },
              },
              required: ['code', 'message'],
            },
          },
        },
        required: ['code', 'message'],
      },
    },
    required: ['error'],
  },
}

function codeOf({ code, details, headers }: Fault): string {
  if (code === 'Invalid') return details.fields ? 'InvalidParameter' : 'InvalidRequestContent'
  if (code === 'Unauthenticated') {
    // The challenge names an error only when a token was shown.
    const isShown = headers['www-authenticate']?.includes('error=')
    return isShown ? 'InvalidAuthenticationToken' : 'AuthenticationFailed'
  }
  return CODES[code] ?? code
}

/** The inputs that the refusal is about: the first as its target, each in its details. */
function placesOf({ details }: Fault): { target?: string; details?: object[] } {
  const { target, fields } = details as { target?: string; fields?: Field[] }
  if (!fields) return target === undefined ? {} : { target }
  const places = fields.map(({ name, message }) => ({
    code: 'InvalidParameter',
    message: `${name} ${message}.`,
    target: name,
  }))
  return { target: fields[0]!.name, details: places }
}

interface Field {
  readonly name: string
  readonly message: string
}
