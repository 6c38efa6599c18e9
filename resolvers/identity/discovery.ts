// What clients read to find their way: OpenID Connect Discovery 1.0, RFC 8414.
import { SCOPE_CLAIMS, SCOPES } from './claims.ts'
import { RESPONSE_TYPES } from './client-metadata.ts'
import { TOKEN_ALGS } from './token-keys.ts'

export const discoveryOf = (issuer: string): object => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  userinfo_endpoint: `${issuer}/userinfo`,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  registration_endpoint: `${issuer}/client`,
  end_session_endpoint: `${issuer}/sign-out`,
  check_session_iframe: `${issuer}/session/iframe`,
  scopes_supported: SCOPES,
  response_types_supported: RESPONSE_TYPES.map((type) => type.split(' ').toSorted().join(' ')),
  response_modes_supported: ['query', 'fragment'],
  grant_types_supported: ['authorization_code', 'implicit'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: TOKEN_ALGS,
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  code_challenge_methods_supported: ['S256'],
  display_values_supported: ['page', 'popup', 'modal'],
  prompt_values_supported: ['none', 'login', 'consent'],
  claims_supported: [
    ...new Set(['iss', 'aud', 'exp', 'iat', 'auth_time', ...Object.values(SCOPE_CLAIMS).flat()]),
  ],
  claims_parameter_supported: false,
  request_parameter_supported: false,
  request_uri_parameter_supported: false,
  authorization_response_iss_parameter_supported: true,
})
