// Codes exchanged for tokens, over real HTTP, against a bare fastify route that answers the same bytes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openBare, openGround } from './ground.ts'
import { compare } from './measure.ts'

const ROUNDS = 5
const CODES = 400
const CLIENT = new URL('send-each.ts', import.meta.url).pathname

export async function benchIdentity(): Promise<boolean> {
  const ground = await openGround()
  const { clientId, clientSecret, redirectUri, username, password } = ground.credentials.identity!
  const base = `${ground.url}/identity`
  const query = new URLSearchParams({
    client_id: clientId!,
    redirect_uri: redirectUri!,
    response_type: 'code',
    scope: 'openid email',
    state: 's',
  })
  const cookie = await signIn(`${base}/authorize?${query}`, {
    email: username!,
    password: password!,
  })
  const newForms = async (): Promise<string[]> => {
    const forms: string[] = []
    for (let i = 0; i < CODES; i += 1) {
      const answer = await fetch(`${base}/authorize?${query}&prompt=none`, {
        headers: { cookie },
        redirect: 'manual',
      })
      const code = new URL(answer.headers.get('location')!).searchParams.get('code')!
      const fields = { grant_type: 'authorization_code', code, redirect_uri: redirectUri! }
      const client = { client_id: clientId!, client_secret: clientSecret! }
      forms.push(new URLSearchParams({ ...fields, ...client }).toString())
    }
    return forms
  }
  const [sample] = await newForms()
  const sampled = await fetch(`${base}/token`, {
    method: 'POST',
    body: new URLSearchParams(sample!),
  })
  const answer = await sampled.json()
  const bare = await openBare((app) => {
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string' },
      (_request, body, done) => done(null, new URLSearchParams(body as string)),
    )
    app.post('/token', async () => answer)
  })
  let forms = await newForms()
  const isGood = await compare({
    title: 'codes exchanged at /token, durably, against a bare fastify route',
    atLeast: 0.1,
    rounds: ROUNDS,
    unit: 'a second of processor time',
    async ours() {
      forms = await newForms()
      return rateOfForms(`${base}/token`, forms)
    },
    theirs: () => rateOfForms(`${bare.url}/token`, forms),
  })
  await bare.close()
  await ground.close()
  return isGood
}

/** Forms answered in a second of this process's processor time. */
async function rateOfForms(url: string, forms: readonly string[]): Promise<number> {
  const before = process.cpuUsage()
  const client = spawn(process.execPath, [CLIENT, url], { stdio: ['pipe', 'inherit', 'inherit'] })
  client.stdin.end(JSON.stringify(forms))
  const [code] = await once(client, 'exit')
  if (code !== 0) throw new Error(`${url} refused a form`)
  const { user, system } = process.cpuUsage(before)
  return forms.length / ((user + system) / 1e6)
}

/** Walks the pages as a browser does, and returns the cookie of the session. */
async function signIn(url: string, person: { email: string; password: string }): Promise<string> {
  const cookies = new Map<string, string>()
  const step = async (url: string, form?: Record<string, string>) => {
    const answer = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    for (const text of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(text)!
      if (value) cookies.set(name!, value)
    }
    return answer.headers.get('location')!
  }
  let at = await step(url)
  at = await step(at, { ...person, action: 'sign-in' })
  at = await step(at)
  at = await step(at, { action: 'allow', scope: 'email' })
  await step(at)
  return ['pg_session', 'pg_session.sig'].map((name) => `${name}=${cookies.get(name)}`).join('; ')
}
