// The page on which the first person of an installation registers.
import { isInvited, registerFirst } from '../../resolvers/identity/first-user.ts'
import { PASSWORD_LENGTH_MIN } from '../../resolvers/identity/passwords.ts'
import { Fault, NotFound } from '../../resolvers/kernel/fault.ts'
import { alertOf, html, type Page } from '../server/html.ts'
import { member, type Onward, type PageRequest } from './page-request.ts'

export async function showWelcome({ ctx, params }: PageRequest): Promise<Page> {
  if (!(await isInvited(ctx, params.secret!))) throw NotFound('This link was used or has ended.')
  return welcomePage({ name: '', email: '' })
}

export async function welcome({ ctx, params, form }: PageRequest): Promise<Page | Onward> {
  const name = member(form, 'name')
  const email = member(form, 'email')
  try {
    await registerFirst(ctx, {
      secret: params.secret!,
      name,
      email,
      password: member(form, 'password'),
    })
  } catch (error) {
    if (!(error instanceof Fault) || error.status !== 400) throw error
    return welcomePage({ name, email, message: error.message })
  }
  return { location: `${ctx.address}/sign-in` }
}

const welcomePage = ({
  name,
  email,
  message,
}: {
  name: string
  email: string
  message?: string
}): Page => ({
  title: 'Welcome',
  status: message === undefined ? 200 : 400,
  body: html`<p>
      You are the first person here, and will be its administrator. This page works once.
    </p>
    ${alertOf(message)}
    <form method="post">
      <label for="name">Your name</label>
      <input id="name" name="name" autocomplete="name" required maxlength="200" value="${name}" />
      <label for="email">E-mail address</label>
      <input
        id="email"
        name="email"
        type="email"
        autocomplete="username"
        required
        value="${email}"
      />
      <label for="password">Password, at least ${PASSWORD_LENGTH_MIN} characters</label>
      <input
        id="password"
        name="password"
        type="password"
        autocomplete="new-password"
        required
        minlength="${PASSWORD_LENGTH_MIN}"
      />
      <div class="row"><button>Register</button></div>
    </form>`,
})
