// What a client may be: its redirect URLs, response types and the rest. Specification 1, service S1.
import { z } from 'zod'
import { flag, oneOf, optional, text, whole } from '../kernel/shape.ts'
import { SCOPES } from './claims.ts'
import { TOKEN_ALG, TOKEN_ALGS } from './token-keys.ts'
import { InvalidClientMetadata, InvalidRedirectUri } from './errors.ts'

const URIS_MAX = 20
const URI_LENGTH_MAX = 2000
const CONTACTS_MAX = 10
const LOOPBACKS = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The documented response types, as they are spelled in answers. */
export const RESPONSE_TYPES = [
  'code',
  'id_token',
  'token',
  'token id_token',
  'code id_token',
  'code token',
  'code token id_token',
] as const
export type ResponseType = (typeof RESPONSE_TYPES)[number]

/** The words of a response type come in any order. Undefined when there is no such type. */
export function responseTypeOf(sent: string): ResponseType | undefined {
  const words = (type: string) => type.split(' ').toSorted().join(' ')
  return RESPONSE_TYPES.find((type) => words(type) === words(sent))
}

const uri = text.max(URI_LENGTH_MAX)
const webUri = uri.refine(
  (value) => /^https?:\/\//.test(value) && URL.canParse(value),
  'must be an http or https URL',
)

/** The Client Object as a caller sends it. */
export const clientInput = {
  client_name: text.min(1).max(200),
  client_uri: webUri,
  redirect_uris: optional(z.array(uri).max(URIS_MAX)),
  response_types: optional(z.array(text.max(60)).max(RESPONSE_TYPES.length)),
  grant_types: optional(z.array(text.max(60)).max(2)),
  application_type: optional(oneOf(['web', 'native'])),
  contacts: optional(z.array(z.email()).max(CONTACTS_MAX)),
  default_max_age: optional(whole),
  default_scopes: optional(z.array(text.max(60)).max(SCOPES.length)),
  logo_uri: optional(webUri),
  policy_uri: optional(webUri),
  tos_uri: optional(webUri),
  test_mode: optional(flag),
  id_token_signed_response_alg: optional(oneOf(TOKEN_ALGS)),
}

export type ClientInput = z.output<z.ZodObject<typeof clientInput>>

/** What a client is, as it is kept and shown. */
export interface ClientMetadata {
  readonly client_name: string
  readonly client_uri: string
  readonly redirect_uris: readonly string[]
  readonly response_types: readonly ResponseType[]
  readonly grant_types: readonly string[]
  readonly application_type: 'web' | 'native'
  readonly contacts: readonly string[]
  readonly default_max_age?: number | undefined
  readonly default_scopes: readonly string[]
  readonly logo_uri?: string | undefined
  readonly policy_uri?: string | undefined
  readonly tos_uri?: string | undefined
  /** Whether a redirect URL need not be registered. */
  readonly test_mode: boolean
  readonly id_token_signed_response_alg: (typeof TOKEN_ALGS)[number]
}

/** Checks what was sent and fills in what follows from it. */
export function metadataOf(input: ClientInput): ClientMetadata {
  const { redirect_uris = [], application_type = 'web', default_scopes = [] } = input
  for (const uri of redirect_uris) checkRedirectUri(uri, application_type)
  if (new Set(redirect_uris).size < redirect_uris.length) {
    throw InvalidRedirectUri('redirect_uris names a URL twice.')
  }
  // Chosen: a client without redirect URLs is in test mode, which is how such a client begins.
  const test_mode = input.test_mode ?? redirect_uris.length === 0
  if (!test_mode && redirect_uris.length === 0) {
    throw InvalidRedirectUri('A client that is not in test mode needs at least one redirect URL.')
  }
  const unknown = default_scopes.find((scope) => !SCOPES.includes(scope))
  if (unknown) throw InvalidClientMetadata(`default_scopes names ${unknown}, which is no scope.`)
  const { default_max_age } = input
  if (default_max_age !== undefined && default_max_age < 0) {
    throw InvalidClientMetadata('default_max_age must not be negative.')
  }
  const response_types = readResponseTypes(input.response_types)
  return {
    ...input,
    redirect_uris,
    response_types,
    grant_types: readGrantTypes(response_types, input.grant_types),
    application_type,
    contacts: input.contacts ?? [],
    default_scopes,
    test_mode,
    id_token_signed_response_alg: input.id_token_signed_response_alg ?? TOKEN_ALG,
  }
}

function readResponseTypes(sent: readonly string[] = ['code']): ResponseType[] {
  const types = sent.map((type) => {
    const known = responseTypeOf(type)
    if (known) return known
    throw InvalidClientMetadata(
      `response_types names ${type}. There are: ${RESPONSE_TYPES.join(', ')}.`,
    )
  })
  if (types.length === 0) throw InvalidClientMetadata('response_types must name at least one.')
  return [...new Set(types)]
}

function readGrantTypes(types: readonly ResponseType[], sent?: readonly string[]): string[] {
  const needed = [
    ...(types.some((type) => type.includes('code')) ? ['authorization_code'] : []),
    ...(types.some((type) => type !== 'code') ? ['implicit'] : []),
  ]
  if (sent && sent.toSorted().join() !== needed.toSorted().join()) {
    throw InvalidClientMetadata(
      `grant_types must be ${needed.join(' and ')}, which is what response_types needs.`,
    )
  }
  return needed
}

/** Refuses what a browser must never be sent to with the answer of a sign-in. */
export function checkRedirectUri(uri: string, type: ClientMetadata['application_type']): void {
  const refuse = (why: string) => InvalidRedirectUri(`The redirect URL ${uri} ${why}.`)
  const url = URL.parse(uri)
  if (!url || uri.length > URI_LENGTH_MAX) throw refuse('is not a URL')
  if (uri.includes('#')) throw refuse('must not have a fragment')
  if (uri.includes('*')) throw refuse('must not have a wildcard: it is matched as it is written')
  if (url.username || url.password) throw refuse('must not carry a name or a password')
  const isLoopback = url.protocol === 'http:' && LOOPBACKS.has(url.hostname)
  if (url.protocol === 'https:' || isLoopback) return
  if (type === 'native' && /^[a-z][a-z0-9+-]*\.[a-z0-9.+-]+:$/.test(url.protocol)) return
  throw refuse(
    type === 'native'
      ? 'must be https, http on this machine, or have a scheme with a dot, such as org.example.app:/'
      : 'must be https, or http on this machine',
  )
}

/**
 * Whether the answer of a sign-in may go there. URLs match as they are written; a native application
 * may choose the port on its own machine (RFC 8252, section 7.3).
 */
export function isRegistered(
  { redirect_uris, application_type }: ClientMetadata,
  uri: string,
): boolean {
  if (redirect_uris.includes(uri)) return true
  if (application_type !== 'native') return false
  const plain = withoutPort(uri)
  return plain !== undefined && redirect_uris.some((known) => withoutPort(known) === plain)
}

function withoutPort(uri: string): string | undefined {
  const parts = /^(http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]))(?::\d{1,5})?([/?].*)?$/.exec(uri)
  return parts ? `${parts[1]}${parts[2] ?? ''}` : undefined
}

/** The origins of a client's pages, which may frame ours. */
export const originsOf = ({ redirect_uris }: ClientMetadata): string[] => [
  ...new Set(redirect_uris.filter((uri) => /^https?:/.test(uri)).map((uri) => new URL(uri).origin)),
]
