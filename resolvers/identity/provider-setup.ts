// The OpenID provider: oidc-provider, on our store, our clients and our people.
//
// What it does not have and this service documents is added in three places: response type `token` alone
// and the session state in `answered` below, test mode and hashed secrets in `ourClients`, the values of
// `display` in authorize.ts.
import { createHash, randomBytes } from 'node:crypto'
import Provider, {
  errors,
  interactionPolicy,
  type Configuration,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider'
import { claimsOf, CLIENTS_SCOPE, releasedBy, SCOPE_CLAIMS, SCOPES } from './claims.ts'
import { isRegistered } from './client-metadata.ts'
import { consentOf, type Consent } from './consents.ts'
import { watchMistakes } from './provider-call.ts'
import { adapterOf, oursOf, PROVIDER_TYPES } from './provider-adapter.ts'
import type { Ground } from './provider-records.ts'
import {
  addConsent,
  BROWSER_STATE,
  CODE_LIFE_S,
  EXTRA,
  mayReturnTo,
  RESOURCE_PREFIX,
  SESSION_LIFE_S,
  sessionCookie,
  TOKEN_LIFE_S,
} from './provider.ts'
import { hashOf, isSecretOf } from './secret-text.ts'
import { TOKEN_ALG, TOKEN_ALGS, type KeySet } from './token-keys.ts'
import { users } from './users.ts'

const INTERACTION_LIFE_S = 3600
const SALT_BYTES = 12

export function setUpProvider(ground: Ground, issuer: string, keys: KeySet): Provider {
  const provider = new Provider(issuer, configurationOf(ground, issuer, keys))
  // Whether the connection is secure is told by the address under which the service is reached.
  provider.proxy = true
  watchMistakes(provider)
  ourClients(provider)
  provider.on('authorization.success' as any, answered as any)
  provider.on('end_session.success', (koa) => setBrowserState(koa, undefined))
  return provider
}

function configurationOf(ground: Ground, issuer: string, keys: KeySet): Configuration {
  const long = sessionCookie(issuer)
  const { path: _path, ...short } = long
  return {
    adapter: (model: string) => adapterOf(ground, model),
    jwks: { keys: [...keys.signing] as JWK[] },
    clientDefaults: { id_token_signed_response_alg: TOKEN_ALG },
    enabledJWA: { idTokenSigningAlgValues: [...TOKEN_ALGS] },
    cookies: {
      keys: [keys.cookie],
      names: { session: 'pg_session', interaction: 'pg_interaction', resume: 'pg_resume' },
      long,
      short,
    },
    routes: {
      authorization: '/authorize',
      token: '/token',
      userinfo: '/userinfo',
      jwks: '/.well-known/jwks.json',
      end_session: '/sign-out',
    },
    responseTypes: PROVIDER_TYPES,
    scopes: [...SCOPES],
    claims: {
      ...Object.fromEntries(
        Object.entries(SCOPE_CLAIMS).map(([scope, claims]) => [scope, [...claims]]),
      ),
      openid: ['sub', 'azp', 'jti', 'scope'],
    },
    extraParams: Object.values(EXTRA),
    extraClientMetadata: { properties: ['ours'] },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post'],
    conformIdTokenClaims: false,
    allowOmittingSingleRegisteredRedirectUri: false,
    clientBasedCORS: () => false,
    pkce: { required: () => false },
    // What a session was given ends with its grants, which signing out ends: see sessions.ts. To look
    // for the session at every exchange as well would find nothing else.
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      rpInitiatedLogout: { enabled: true, logoutSource, postLogoutSuccessSource },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo,
        useGrantedResource: () => true,
      },
    },
    formats: { customizers: { jwt: (_koa, token, jwt) => stamp(ground, token, jwt) } },
    ttl: {
      AccessToken: TOKEN_LIFE_S,
      AuthorizationCode: CODE_LIFE_S,
      IdToken: TOKEN_LIFE_S,
      Interaction: INTERACTION_LIFE_S,
      Session: SESSION_LIFE_S,
      Grant: SESSION_LIFE_S,
    },
    interactions: {
      policy: policy(),
      url: (_koa, { prompt, uid }) =>
        `${issuer}/${prompt.name === 'login' ? 'sign-in' : 'consent'}/${uid}`,
    },
    findAccount: (koa, id) => findAccount(ground, koa, id),
    loadExistingGrant: (koa) => loadGrant(ground, koa),
    renderError: async (koa, out) => {
      koa.type = 'application/json'
      koa.body = JSON.stringify(out)
    },
  }
}

function ourClients(provider: Provider): void {
  Object.assign(provider.Client.prototype, {
    redirectUriAllowed(this: object, uri: string) {
      return mayReturnTo(oursOf(this), uri)
    },
    postLogoutRedirectUriAllowed(this: object, uri: string) {
      return isRegistered(oursOf(this), uri)
    },
    compareClientSecret(this: object, shown: string) {
      return isSecretOf(oursOf(this).secretHash, shown)
    },
  })
}

/** Signs in, then asks for consent: also, always, before the answer goes to an unregistered URL. */
function policy() {
  const { Check, base } = interactionPolicy
  const prompts = base()
  const isUnregistered = ({ oidc }: KoaContextWithOIDC) =>
    !oidc.result?.consent &&
    !isRegistered(oursOf(oidc.client!), String(oidc.params!.redirect_uri ?? ''))
  prompts
    .get('consent')!
    .checks.add(
      new Check(
        'test_mode',
        'the redirect URL is not registered',
        'consent_required',
        isUnregistered,
      ),
    )
  return prompts
}

async function findAccount(ground: Ground, { oidc }: KoaContextWithOIDC, accountId: string) {
  const user = await ground.store.get(users, accountId)
  if (!user) return undefined
  return {
    accountId,
    // Asked for ID tokens alone: /userinfo is an operation of ours.
    claims: async (_use: string, scope: string) => ({
      ...releasedBy(scope.split(' '), claimsOf(user)),
      azp: oidc.client?.clientId,
      jti: ground.newId(),
      scope,
    }),
  }
}

/** The grant of this session, or a new one for what the person allowed before. */
async function loadGrant(ground: Ground, { oidc }: KoaContextWithOIDC) {
  const clientId = oidc.client!.clientId
  const accountId = oidc.account!.accountId
  const kept = oidc.result?.consent?.grantId ?? oidc.session!.grantIdFor(clientId)
  const grant = kept ? await oidc.provider.Grant.find(kept) : undefined
  if (grant && grant.accountId === accountId && grant.clientId === clientId) return grant
  const consent = await consentOf(ground, accountId, clientId)
  return consent && newGrant(oidc.provider, consent)
}

async function newGrant(provider: Provider, consent: Consent) {
  const { userId: accountId, clientId } = consent
  const grant = new provider.Grant({ accountId, clientId })
  addConsent(grant, consent)
  await grant.save()
  return grant
}

/** Access tokens for our own services are JWTs, each for one service, with the scope of its name. */
async function getResourceServerInfo(_koa: unknown, resource: string) {
  const name = resource.startsWith(RESOURCE_PREFIX) ? resource.slice(RESOURCE_PREFIX.length) : ''
  if (!/^[a-z][a-z0-9-]{1,40}$/.test(name)) throw new errors.InvalidTarget()
  return {
    audience: resource,
    scope: name === 'identity' || name === 'graph' ? `${name} ${CLIENTS_SCOPE}` : name,
    accessTokenFormat: 'jwt' as const,
    accessTokenTTL: TOKEN_LIFE_S,
    jwt: { sign: { alg: TOKEN_ALG } as const },
  }
}

/** Names the grant, by which the token is found to have ended; and dates it by the time given to us. */
function stamp({ wallClock }: Ground, token: any, jwt: any): void {
  const iat = Math.floor(wallClock.now().getTime() / 1000)
  Object.assign(jwt.payload, { grant_id: token.grantId, iat, exp: iat + TOKEN_LIFE_S })
}

/** Completes an answer before it is sent: who answers, the session state, `token` without the rest. */
function answered(koa: KoaContextWithOIDC, out: Record<string, unknown>): void {
  const { oidc } = koa
  if (oidc.params![EXTRA.tokenOnly]) delete out.id_token
  out.iss = oidc.issuer
  const state = browserStateOf(oidc.session!)
  const redirect = String(oidc.params!.redirect_uri)
  if (/^https?:/.test(redirect)) {
    const salt = randomBytes(SALT_BYTES).toString('base64url')
    const { origin } = new URL(redirect)
    const hash = createHash('sha256').update(`${oidc.client!.clientId} ${origin} ${state} ${salt}`)
    out.session_state = `${hash.digest('base64url')}.${salt}`
  }
  setBrowserState(koa, state)
}

/** What the session iframe reads: it changes when someone else signs in, or nobody is signed in. */
const browserStateOf = ({ uid, accountId }: { uid: string; accountId?: string | undefined }) =>
  hashOf(`browser state ${uid} ${accountId ?? ''}`).slice(0, 32)

function setBrowserState(koa: KoaContextWithOIDC, state: string | undefined): void {
  const { pathname, protocol } = new URL(koa.oidc.issuer)
  koa.cookies.set(BROWSER_STATE, state ?? null, {
    httpOnly: false,
    signed: false,
    path: pathname,
    sameSite: protocol === 'https:' ? 'none' : 'lax',
    overwrite: true,
  })
}

// The pages of signing out are drawn where all pages are: they get the form as it is.
async function logoutSource(koa: KoaContextWithOIDC, form: string): Promise<void> {
  koa.set('x-page', 'sign-out')
  koa.body = form
}

async function postLogoutSuccessSource(koa: KoaContextWithOIDC): Promise<void> {
  koa.set('x-page', 'signed-out')
  koa.body = ''
}
