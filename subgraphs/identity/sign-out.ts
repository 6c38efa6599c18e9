// Signing out: the provider does it, on pages of ours.
import { isRegistered } from '../../resolvers/identity/client-metadata.ts'
import { clients } from '../../resolvers/identity/clients.ts'
import { callProvider, type ProviderAnswer } from '../../resolvers/identity/provider-call.ts'
import { endGrantsOf } from '../../resolvers/identity/sessions.ts'
import { sessionOf } from './account.ts'
import { Html, html, type Page } from '../server/html.ts'
import { errorPage, type Onward, type PageRequest } from './page-request.ts'

export async function signOut(request: PageRequest): Promise<Page | Onward> {
  const { ctx, provider, url, query } = request
  const { session } = await sessionOf(request)
  if (!session.accountId) return (await returnOf(request)) ?? signedOutPage
  const answer = await callProvider(provider, ctx, { url })
  if (answer.headers['x-page'] !== 'sign-out') return refusalOf(answer)
  const target = URL.parse(query.post_logout_redirect_uri ?? '')
  return {
    title: 'Sign out?',
    body: html`${new Html(answer.body)}
      <p>You will be signed out here, and of all applications that you came to from here.</p>
      <div class="row">
        <button form="op.logoutForm" name="logout" value="yes">Sign out</button>
        <a href="${ctx.address}/account">Stay signed in</a>
      </div>`,
    formTargets: target
      ? [target.protocol.startsWith('http') ? target.origin : target.protocol]
      : [],
  }
}

/** Where a client wanted a person back who is signed out already: a redirect URL of its own, or nowhere. */
async function returnOf({ ctx, query }: PageRequest): Promise<Onward | undefined> {
  const { post_logout_redirect_uri: uri, client_id, id_token_hint, state } = query
  if (!uri) return undefined
  const client = await ctx.store.get(clients, client_id ?? audienceOf(id_token_hint) ?? '')
  if (!client || !isRegistered(client, uri)) return undefined
  const url = new URL(uri)
  if (state !== undefined) url.searchParams.set('state', state)
  return { location: url.href }
}

function audienceOf(token: string | undefined): string | undefined {
  try {
    const { aud } = JSON.parse(Buffer.from(token!.split('.')[1]!, 'base64url').toString())
    return typeof aud === 'string' ? aud : undefined
  } catch {
    // A hint that cannot be read hints at nothing.
    return undefined
  }
}

export async function confirmSignOut(request: PageRequest): Promise<Page | Onward> {
  const { ctx, provider, form } = request
  const { session } = await sessionOf(request)
  const answer = await callProvider(provider, ctx, {
    method: 'POST',
    url: '/sign-out/confirm',
    form: Object.fromEntries(form),
  })
  const { location, 'set-cookie': cookies = [] } = answer.headers
  if (typeof location !== 'string') return refusalOf(answer)
  if (form.get('logout')) await endGrantsOf(session, ctx)
  return { location, cookies: [cookies].flat() }
}

export const showSignedOut = async (): Promise<Page> => signedOutPage

const signedOutPage: Page = {
  title: 'You are signed out',
  body: html`<p>You can close this page.</p>`,
}

function refusalOf({ status, body }: ProviderAnswer): Page {
  if (status >= 500) throw new Error(`the provider answered ${status}: ${body}`)
  const said = /"error_description":"([^"]*)"/.exec(body)?.[1]
  return errorPage(status >= 400 ? status : 400, said ?? 'This request to sign out is not valid.')
}
