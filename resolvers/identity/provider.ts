// The OpenID provider for an address. What it is made of is in provider-setup.ts, which is loaded when
// the first browser comes: the library takes a while, and most who start us sign nobody in.
import type Provider from 'oidc-provider'
import type { Context } from '../kernel/context.ts'
import { checkRedirectUri, isRegistered, type ClientMetadata } from './client-metadata.ts'
import type { Consent } from './consents.ts'
import type { Ground } from './provider-records.ts'
import type { setUpProvider } from './provider-setup.ts'
import { keysOf } from './token-keys.ts'

export const CODE_LIFE_S = 60
export const TOKEN_LIFE_S = 3600
export const SESSION_LIFE_S = 14 * 24 * 3600
/** Providers by issuer: one, where the operator says where the service is. */
const ISSUERS_MAX = 16

/** Parameters of ours that travel with a sign-in. */
export const EXTRA = { tokenOnly: 'token_only', required: 'required_scope' } as const
/** The names of our own resources, for which access tokens are JWTs: `urn:polygraph:hsm`. */
export const RESOURCE_PREFIX = 'urn:polygraph:'

const providers = new WeakMap<Ground['store'], Map<string, Promise<Provider>>>()

/** The provider for where this request came. */
export async function providerOf(ctx: Context): Promise<Provider> {
  const keys = await keysOf(ctx)
  let own = providers.get(ctx.store)
  if (!own) providers.set(ctx.store, (own = new Map()))
  const name = `${ctx.address} ${keys.version}`
  let provider = own.get(name)
  if (!provider) {
    if (own.size >= ISSUERS_MAX) own.delete(own.keys().next().value!)
    own.set(name, (provider = makeProvider(ctx, ctx.address, keys)))
  }
  return provider
}

async function makeProvider(...of: Parameters<typeof setUpProvider>): Promise<Provider> {
  const setup = await import('./provider-setup.ts')
  return setup.setUpProvider(...of)
}

/** A page of another site may frame ours only with cookies that say so, and those must be secure. */
export const sessionCookie = (issuer: string) => ({
  signed: true,
  httpOnly: true,
  path: new URL(issuer).pathname,
  sameSite: issuer.startsWith('https:') ? ('none' as const) : ('lax' as const),
})

/** Whether the answer may go to this URL: a registered one, or any in test mode. */
export function mayReturnTo(client: ClientMetadata, uri: string): boolean {
  if (isRegistered(client, uri)) return true
  if (!client.test_mode) return false
  try {
    checkRedirectUri(uri, 'native')
    return true
  } catch {
    // In test mode too, a browser is sent to nothing but a page or an application.
    return false
  }
}

export function addConsent(
  grant: InstanceType<Provider['Grant']>,
  consent: Omit<Consent, 'given'>,
) {
  if (consent.scopes.length > 0) grant.addOIDCScope(consent.scopes.join(' '))
  if (consent.refused.length > 0) grant.rejectOIDCScope(consent.refused.join(' '))
  for (const [resource, scopes] of Object.entries(consent.resources)) {
    if (scopes.length > 0) grant.addResourceScope(resource, scopes.join(' '))
  }
}

export const BROWSER_STATE = 'pg_state'
