// The pages on the way to an authorization: signing in, and consent.
import { SCOPES, SCOPE_WORDS } from '../../resolvers/identity/claims.ts'
import { isRegistered, originsOf } from '../../resolvers/identity/client-metadata.ts'
import { clients, type Client } from '../../resolvers/identity/clients.ts'
import { keepConsent } from '../../resolvers/identity/consents.ts'
import { personBy } from '../../resolvers/identity/passwords.ts'
import { exchangeOf } from '../../resolvers/identity/provider-call.ts'
import { addConsent, EXTRA, RESOURCE_PREFIX } from '../../resolvers/identity/provider.ts'
import { endGrantsOf } from '../../resolvers/identity/sessions.ts'
import { recordSignIn } from '../../resolvers/identity/sign-ins.ts'
import { userByEmail, users, type User } from '../../resolvers/identity/users.ts'
import type { Context } from '../../resolvers/kernel/context.ts'
import { Fault, Invalid, NotFound } from '../../resolvers/kernel/fault.ts'
import { alertOf, html, type Display, type Html, type Page } from '../server/html.ts'
import { member, type Onward, type PageRequest } from './page-request.ts'

/** A sign-in under way, as the provider keeps it, and the client that asked for it. */
interface UnderWay {
  readonly interaction: any
  readonly client: Client
  readonly redirectUri: string
  /** Ends our part, and returns where to go on. */
  finish(result: object): Promise<Onward>
}

async function underWay(request: PageRequest, prompt: 'login' | 'consent'): Promise<UnderWay> {
  const { ctx, provider, params } = request
  const { req, res } = exchangeOf(ctx, { url: request.url })
  const interaction = (await provider.interactionDetails(req, res)) as any
  if (interaction.uid !== params.uid || interaction.prompt.name !== prompt) {
    throw Invalid('This sign-in has ended. Go back to the application and begin again.')
  }
  const client = await ctx.store.get(clients, interaction.params.client_id)
  if (!client) throw NotFound('The application is gone.')
  return {
    interaction,
    client,
    redirectUri: interaction.params.redirect_uri,
    finish: async (result) => ({
      location: await provider.interactionResult(req, res, result as any, {
        mergeWithLastSubmission: prompt === 'consent',
      }),
    }),
  }
}

/** The frame of all pages of one sign-in. */
function pageOf(
  { interaction, client, redirectUri }: UnderWay,
  page: Pick<Page, 'title' | 'body' | 'status'>,
): Page {
  const display = (interaction.params.display ?? 'page') as Display
  const target = /^https?:/.test(redirectUri)
    ? new URL(redirectUri).origin
    : new URL(redirectUri).protocol
  const origins =
    client.test_mode && /^https?:/.test(target) ? [...originsOf(client), target] : originsOf(client)
  return {
    ...page,
    body: html`${testMode(client, redirectUri)}${page.body}`,
    display,
    formTargets: [target],
    ...(display === 'modal' && { framedBy: origins }),
  }
}

const testMode = (client: Client, redirectUri: string): Html =>
  client.test_mode
    ? html`<p class="loud" role="alert">
        TEST MODE. ${client.client_name} is being tested: nobody has checked where it sends
        you${isRegistered(client, redirectUri) ? '' : html`, which is <code>${redirectUri}</code>`}.
        Go on only if you are testing it yourself.
      </p>`
    : html``

export async function showSignIn(request: PageRequest): Promise<Page> {
  const now = await underWay(request, 'login')
  const { login_hint = '' } = now.interaction.params
  return signInPage(now, { email: login_hint })
}

function signInPage(
  now: UnderWay,
  { email, message, status = 200 }: { email: string; message?: string; status?: number },
): Page {
  const { client_name, client_uri } = now.client
  const body = html`<p>to go on to <a href="${client_uri}" rel="noreferrer">${client_name}</a></p>
    ${alertOf(message)} ${signInForm(email)}`
  return pageOf(now, { title: 'Sign in', status, body })
}

export const signInForm = (email: string): Html =>
  html`<form method="post">
    <label for="email">E-mail address</label>
    <input
      id="email"
      name="email"
      type="email"
      autocomplete="username"
      required
      maxlength="320"
      value="${email}"
    />
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="current-password"
      required
      maxlength="200"
    />
    <label class="check"
      ><input type="checkbox" name="remember" value="yes" /> Stay signed in on this device</label
    >
    <div class="row">
      <button name="action" value="sign-in">Sign in</button>
      <button name="action" value="cancel" class="quiet" formnovalidate>Cancel</button>
    </div>
  </form>`

export async function signIn(request: PageRequest): Promise<Page | Onward> {
  const now = await underWay(request, 'login')
  const { ctx, provider, form } = request
  if (form.get('action') === 'cancel') return now.finish(cancelled)
  const tried = await tryPassword(ctx, form, now.client.client_id)
  if ('message' in tried) return signInPage(now, { ...tried, email: member(form, 'email') })
  const { session } = now.interaction
  if (session?.accountId && session.accountId !== tried.user.id) {
    // Someone else was signed in here: their session ends, and this sign-in begins a new one.
    const before = (await provider.Session.findByUid(session.uid)) as any
    if (before) await endGrantsOf(before, ctx)
    await before?.destroy()
    now.interaction.session = undefined
    await now.interaction.persist()
  }
  return now.finish({
    login: { accountId: tried.user.id, amr: ['pwd'], remember: form.get('remember') === 'yes' },
  })
}

const cancelled = { error: 'access_denied', error_description: 'The person cancelled.' }

/** The person, or what to tell them. Both are kept in the history. */
export async function tryPassword(
  ctx: Context,
  form: URLSearchParams,
  clientId?: string,
): Promise<{ user: User } | { message: string; status: number }> {
  const email = member(form, 'email')
  const attempt = { email, password: member(form, 'password'), remote: ctx.remote ?? '' }
  let user: User | undefined
  try {
    user = await personBy(ctx, attempt)
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { message: error.message, status: error.status }
  }
  const named = user ?? (await userByEmail(ctx.store, email))
  if (named) {
    await recordSignIn(ctx, {
      userId: named.id,
      outcome: user ? 'SUCCEEDED' : 'WRONG_PASSWORD',
      clientId,
      remoteAddress: attempt.remote,
      userAgent: ctx.headers['user-agent'] ?? '',
    })
  }
  if (user) return { user }
  return { message: 'The e-mail address or the password is wrong.', status: 400 }
}

interface Asked {
  readonly scopes: readonly string[]
  /** Those that the person cannot leave out. */
  readonly required: ReadonlySet<string>
  readonly resources: Readonly<Record<string, readonly string[]>>
}

function askedOf({ interaction }: UnderWay): Asked {
  const { scope = '', resource } = interaction.params
  const words = String(scope).split(' ')
  const required = String(interaction.params[EXTRA.required] ?? '').split(' ')
  const resources: Record<string, readonly string[]> = {}
  if (typeof resource === 'string') {
    const name = resource.slice(RESOURCE_PREFIX.length)
    resources[resource] = words.filter((word) => word === name || word === 'clients')
  }
  return {
    scopes: words.filter((word) => SCOPES.includes(word)),
    required: new Set(['openid', ...required]),
    resources,
  }
}

export async function showConsent(request: PageRequest): Promise<Page> {
  const now = await underWay(request, 'consent')
  const user = await request.ctx.store.get(users, now.interaction.session.accountId)
  return consentPage(now, user!)
}

function consentPage(now: UnderWay, user: User): Page {
  const { client } = now
  const { scopes, required, resources } = askedOf(now)
  const services = Object.entries(resources).flatMap(([resource, words]) =>
    words.includes(resource.slice(RESOURCE_PREFIX.length))
      ? [resource.slice(RESOURCE_PREFIX.length)]
      : [],
  )
  const body = html`<p>
      <a href="${client.client_uri}" rel="noreferrer">${client.client_name}</a> asks to be let in as
      <strong>${user.name}</strong> (${user.email}).
    </p>
    <form method="post">
      <fieldset>
        <legend>It may</legend>
        ${scopes.map((scope) =>
          required.has(scope)
            ? html`<label class="check"
                ><input type="checkbox" checked disabled /> ${SCOPE_WORDS[scope] ?? scope}
                (required)</label
              >`
            : html`<label class="check"
                ><input type="checkbox" name="scope" value="${scope}" checked />
                ${SCOPE_WORDS[scope] ?? scope}</label
              >`,
        )}
        ${services.map((name) => html`<label class="check"><input type="checkbox" checked disabled /> Use ${name} as you</label>`)}
      </fieldset>
      <p class="soft">
        You can take this back at any time on your account page.
        ${client.policy_uri && html`<a href="${client.policy_uri}" rel="noreferrer">Its privacy policy</a>`}
        ${client.tos_uri && html`<a href="${client.tos_uri}" rel="noreferrer">Its terms</a>`}
      </p>
      <div class="row">
        <button name="action" value="allow">Allow</button>
        <button name="action" value="cancel" class="quiet">Cancel</button>
      </div>
    </form>`
  return pageOf(now, { title: `Let ${client.client_name} in?`, body })
}

export async function consent(request: PageRequest): Promise<Page | Onward> {
  const now = await underWay(request, 'consent')
  const { ctx, provider, form } = request
  if (form.get('action') !== 'allow') return now.finish(cancelled)
  const userId = now.interaction.session.accountId as string
  const clientId = now.client.client_id
  const { scopes, required, resources } = askedOf(now)
  const chosen = new Set([...form.getAll('scope'), ...required])
  const kept = await keepConsent(ctx, {
    userId,
    clientId,
    scopes: scopes.filter((scope) => chosen.has(scope)),
    refused: scopes.filter((scope) => !chosen.has(scope)),
    resources,
  })
  const { grantId } = now.interaction
  const grant =
    (grantId && (await provider.Grant.find(grantId))) ??
    new provider.Grant({ accountId: userId, clientId })
  // The last answer counts, also where it takes back what an earlier one allowed.
  Object.assign(grant, { openid: undefined, rejected: undefined, resources: undefined })
  addConsent(grant, kept)
  return now.finish({ consent: { grantId: await grant.save() } })
}
