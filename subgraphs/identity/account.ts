// The account page: where a person is signed in, which clients they let in, their password.
import { createHash } from 'node:crypto'
import * as passwords from '../../resolvers/identity/passwords.ts'
import { exchangeOf } from '../../resolvers/identity/provider-call.ts'
import { noteBrowser } from '../../resolvers/identity/provider-records.ts'
import { SESSION_LIFE_S, sessionCookie } from '../../resolvers/identity/provider.ts'
import * as sessions from '../../resolvers/identity/sessions.ts'
import * as signIns from '../../resolvers/identity/sign-ins.ts'
import { users } from '../../resolvers/identity/users.ts'
import type { Context } from '../../resolvers/kernel/context.ts'
import { Fault, Forbidden, Invalid } from '../../resolvers/kernel/fault.ts'
import { perform, type Operation } from '../../resolvers/kernel/operation.ts'
import { alertOf, html, type Html, type Page } from '../server/html.ts'
import { member, type Onward, type PageRequest } from './page-request.ts'
import { signInForm, tryPassword } from './sign-in.ts'

const SHOWN_MAX = 20

const operations: readonly Operation[] = [
  ...sessions.operations,
  ...signIns.operations,
  ...passwords.operations,
]

/** The same operations as at the doors, as the person who is signed in. */
const ask = (ctx: Context, name: string, sent: object): Promise<any> =>
  perform(
    operations.find((operation) => operation.name === name)!,
    sent,
    ctx,
  )

const fieldOf = (type: keyof typeof sessions.fields, name: string, of: object, ctx: Context) =>
  (sessions.fields[type] as Record<string, (...args: any[]) => any>)[name]!(of, {}, ctx)

/** The session of this browser, and a way to tell the browser of it. */
export async function sessionOf({ ctx, provider, url }: PageRequest) {
  const { req, res, answered } = exchangeOf(ctx, { url })
  const koa = provider.createContext(req, res)
  const session = (await provider.Session.get(koa as any)) as any
  return { koa, session, cookies: () => [answered().headers['set-cookie'] ?? []].flat() }
}

export async function showAccountSignIn(request: PageRequest): Promise<Page | Onward> {
  const { session } = await sessionOf(request)
  if (session.accountId) return { location: `${request.ctx.address}/account` }
  return accountSignInPage({ email: '' })
}

const accountSignInPage = (now: { email: string; message?: string; status?: number }): Page => ({
  title: 'Sign in',
  status: now.status ?? 200,
  body: html`<p>to your account page</p>
    ${alertOf(now.message)}${signInForm(now.email)}`,
})

export async function accountSignIn(request: PageRequest): Promise<Page | Onward> {
  const { ctx, provider, form } = request
  if (form.get('action') === 'cancel') return { location: `${ctx.address}/sign-in` }
  const tried = await tryPassword(ctx, form)
  if ('message' in tried) return accountSignInPage({ ...tried, email: member(form, 'email') })
  const { koa, session: before, cookies } = await sessionOf(request)
  if (before.exp) {
    await sessions.endGrantsOf(before, ctx)
    await before.destroy()
  }
  const session = new (provider.Session as any)()
  const isRemembered = form.get('remember') === 'yes'
  session.loginAccount({ accountId: tried.user.id, amr: ['pwd'], transient: !isRemembered })
  await session.save(SESSION_LIFE_S)
  await noteBrowser(ctx, session.uid, ctx.headers['user-agent'] ?? '')
  koa.cookies.set(provider.cookieName('session'), session.id, {
    ...sessionCookie(ctx.address),
    ...(isRemembered && { maxAge: SESSION_LIFE_S * 1000 }),
  })
  return { location: `${ctx.address}/account`, cookies: cookies() }
}

/** What a form must carry to be this session's. */
const markOf = (session: { uid: string }): string =>
  createHash('sha256').update(`account form ${session.uid}`).digest('base64url')

/** A time to the minute, as people read it; browsers and machines find the rest. */
const momentOf = (time: string): Html =>
  html`<time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>`

export async function showAccount(request: PageRequest): Promise<Page | Onward> {
  const { session } = await sessionOf(request)
  if (!session.accountId) return { location: `${request.ctx.address}/sign-in` }
  return accountPage(request, session)
}

async function accountPage(request: PageRequest, session: any, message?: string): Promise<Page> {
  const ctx = request.contextAs(session.accountId)
  const user = await ctx.store.get(users, session.accountId)
  if (!user) throw Forbidden('This account is gone.')
  const first = SHOWN_MAX
  const [here, letIn, history] = await Promise.all([
    ask(ctx, 'sessions', { first }),
    ask(ctx, 'consents', { first }),
    ask(ctx, 'signIns', { first }),
  ])
  const names = await Promise.all(
    letIn.nodes.map((consent: object) => fieldOf('Consent', 'clientName', consent, ctx)),
  )
  const mark = html`<input type="hidden" name="mark" value="${markOf(session)}" />`
  const base = ctx.address
  const body = html`<div class="wide">
    <p>${user.name}, ${user.email}</p>
    ${alertOf(message)}
    <p><a href="${base}/sign-out">Sign out</a></p>
    <h2>Where you are signed in</h2>
    <table>
      <thead>
        <tr>
          <th>Browser</th>
          <th>Since</th>
          <th></th>
        </tr>
      </thead>
      <tbody>
        ${here.nodes.map(
          (node: any) =>
            html`<tr>
              <td>
                ${node.userAgent ?? 'unknown'}${node.uid === session.uid ? ' (this one)' : ''}
              </td>
              <td>${momentOf(fieldOf('Session', 'signedIn', node, ctx))}</td>
              <td>
                <form method="post" action="${base}/account/end-session">
                  ${mark}<input type="hidden" name="id" value="${node.uid}" />
                  <button class="quiet">Sign out there</button>
                </form>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    <h2>Applications that you let in</h2>
    <table>
      <thead>
        <tr>
          <th>Application</th>
          <th>May see</th>
          <th></th>
        </tr>
      </thead>
      <tbody>
        ${letIn.nodes.map(
          (node: any, i: number) =>
            html`<tr>
              <td>${names[i] ?? node.clientId}</td>
              <td>${node.scopes.join(', ')}</td>
              <td>
                <form method="post" action="${base}/account/withdraw">
                  ${mark}<input type="hidden" name="client_id" value="${node.clientId}" />
                  <button class="quiet">Take back</button>
                </form>
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
    <h2>Latest sign-ins</h2>
    <table>
      <thead>
        <tr>
          <th>When</th>
          <th>From</th>
          <th>Outcome</th>
        </tr>
      </thead>
      <tbody>
        ${history.nodes.map(
          (node: any) =>
            html`<tr>
              <td>${momentOf(node.time)}</td>
              <td>${node.remoteAddress} ${node.userAgent}</td>
              <td>${node.outcome === 'SUCCEEDED' ? 'signed in' : 'wrong password'}</td>
            </tr>`,
        )}
      </tbody>
    </table>
    <h2>Password</h2>
    <form method="post" action="${base}/account/password">
      ${mark}
      <label for="current">Password that you have now</label>
      <input id="current" name="current" type="password" autocomplete="current-password" required />
      <label for="password"
        >New password, at least ${passwords.PASSWORD_LENGTH_MIN} characters</label
      >
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        required
        minlength="${passwords.PASSWORD_LENGTH_MIN}"
      />
      <div class="row"><button>Change</button></div>
    </form>
  </div>`
  return { title: 'Your account', body, status: message === undefined ? 200 : 400 }
}

const ACTIONS: Readonly<Record<string, (form: URLSearchParams) => [string, object]>> = {
  'end-session': (form) => ['endSession', { id: member(form, 'id') }],
  withdraw: (form) => ['withdrawConsent', { client_id: member(form, 'client_id') }],
  password: (form) => [
    'setPassword',
    { password: member(form, 'password'), current: member(form, 'current') },
  ],
}

export async function changeAccount(request: PageRequest): Promise<Page | Onward> {
  const { form, params, ctx } = request
  const { session } = await sessionOf(request)
  if (!session.accountId) return { location: `${ctx.address}/sign-in` }
  if (form.get('mark') !== markOf(session)) throw Forbidden('This form is not of this session.')
  const action = ACTIONS[params.action ?? '']
  if (!action) throw Invalid('There is no such form.')
  try {
    await ask(request.contextAs(session.accountId), ...action(form))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return accountPage(request, session, error.message)
  }
  return { location: `${ctx.address}/account` }
}
