// OAuth 2.0 bearer tokens (RFC 6750).
import { Unauthenticated } from '../../../resolvers/kernel/fault.ts'
import type { Scheme } from '../subgraph.ts'

const TOKEN_MAX = 8192

const challenge = (error?: string) => ({
  headers: { 'www-authenticate': `Bearer realm="polygraph"${error ? `, error="${error}"` : ''}` },
})

export const bearer = (): Scheme => ({
  kind: 'bearer',
  header: 'authorization',
  security: { type: 'http', scheme: 'bearer' },

  async prove({ service, headers }, credentials) {
    const token = bearerTokenOf(headers.authorization)
    if (!token) {
      throw Unauthenticated('Send an access token: Authorization: Bearer <token>.', challenge())
    }
    const caller = await credentials.byToken(service, token)
    if (!caller) {
      throw Unauthenticated(
        'The access token is unknown, expired, revoked or not for this service.',
        challenge('invalid_token'),
      )
    }
    return caller
  },
})

export function bearerTokenOf(header: string | string[] | undefined): string | undefined {
  const token = /^Bearer +([\w.~+/=-]+)$/i.exec(String(header ?? ''))?.[1]
  return token && token.length <= TOKEN_MAX ? token : undefined
}
