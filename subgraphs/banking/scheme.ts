// Who calls the bank: a session, an installation that is about to open one, or the holder of an API key.
import { createPublicKey, verify } from 'node:crypto'
import { BadSignature } from '../../resolvers/banking/errors.ts'
import {
  installations,
  sessions,
  type Installation,
} from '../../resolvers/banking/installations.ts'
import { sandboxKeys } from '../../resolvers/banking/registration.ts'
import { hashOf } from '../../resolvers/banking/secrets.ts'
import { SIGNED } from '../../resolvers/banking/signatures.ts'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { Forbidden, Unauthenticated } from '../../resolvers/kernel/fault.ts'
import type { Credentials, ProofGround, Scheme, Shown } from '../server/subgraph.ts'

const HEADER = 'X-Vendor-Client-Authentication'
const SIGNATURE = 'x-vendor-client-signature'
const KEY_MAX = 512
const TOKEN = /^[0-9a-f]{64}$/
const SANDBOX_KEY = /^sandbox_[0-9a-f]{64}$/
/** Where an installation shows whose API key it works for. */
const TAKES_SECRET = /\/(device-server|session-server)\/?(\?|$)/

export const bankScheme: Scheme = {
  kind: 'api-key',
  header: HEADER.toLowerCase(),
  security: { type: 'apiKey', in: 'header', name: HEADER },

  async prove(shown, credentials, own) {
    const key = shown.headers[HEADER.toLowerCase()]
    if (typeof key !== 'string' || key === '' || key.length > KEY_MAX) {
      throw Unauthenticated(`Send a session token or an API key of this service in ${HEADER}.`)
    }
    const caller = TOKEN.test(key)
      ? ((await bySession(shown, own!, key)) ??
        (await byInstallation(shown, credentials, own!, key)))
      : await byKey(shown, credentials, own!, key)
    if (!caller) throw Unauthenticated(`What ${HEADER} holds is unknown, has ended or was revoked.`)
    return caller
  },
}

const person = (userId: string, credentialId: string, permissions: readonly string[]): Caller => ({
  kind: 'user',
  userId,
  credentialId,
  accounts: [],
  permissions,
  isAdmin: false,
})

async function bySession(
  shown: Shown,
  { store, remote, wallClock }: ProofGround,
  token: string,
): Promise<Caller | undefined> {
  const session = await store.get(sessions, hashOf(token))
  if (!session || session.expiresMs <= wallClock.now().getTime()) return undefined
  const { permitted_ips, installationId, id, owner } = session
  if (!permitted_ips.includes('*') && !permitted_ips.includes(remote ?? '')) {
    throw Forbidden('The device of this session may not be used from this address.')
  }
  const { items } = await store.list(installations, { where: { id: installationId }, limit: 1 })
  const isSigned = checkSignature(shown, items[0]!)
  return person(owner, `installation ${installationId} session ${id}`, isSigned ? [SIGNED] : [])
}

async function byInstallation(
  shown: Shown,
  credentials: Credentials,
  own: ProofGround,
  token: string,
): Promise<Caller | undefined> {
  const installation = await own.store.get(installations, hashOf(token))
  if (!installation) return undefined
  const isSigned = checkSignature(shown, installation)
  let owner = `installation ${installation.id}`
  if (shown.method === 'POST' && TAKES_SECRET.test(shown.url)) {
    const secret = secretOf(shown.body)
    // A secret of the wrong form is for the operation to refuse.
    if (secret !== undefined) {
      const caller = await byKey(shown, credentials, own, secret)
      if (!caller)
        throw Unauthenticated('The secret is no API key of this service, or was revoked.')
      owner = caller.userId
    }
  }
  return person(owner, `installation ${installation.id}`, isSigned ? [SIGNED] : [])
}

async function byKey(
  { service }: Shown,
  credentials: Credentials,
  { store }: ProofGround,
  key: string,
): Promise<Caller | undefined> {
  if (!SANDBOX_KEY.test(key)) return credentials.byApiKey(service, key)
  const kept = await store.get(sandboxKeys, hashOf(key))
  return kept && person(kept.owner, `key of ${kept.owner}`, [])
}

function secretOf(body: Uint8Array): string | undefined {
  try {
    const { secret } = JSON.parse(Buffer.from(body).toString()) as { secret?: unknown }
    return typeof secret === 'string' && secret.length <= KEY_MAX ? secret : undefined
  } catch {
    // The door says what is wrong with the body.
    return undefined
  }
}

/** Whether the body was signed by the installation's key. A signature that does not fit is refused. */
function checkSignature({ headers, body }: Shown, installation: Installation): boolean {
  const signature = headers[SIGNATURE]
  if (signature === undefined) return false
  const key = createPublicKey(installation.client_public_key)
  if (
    typeof signature === 'string' &&
    verify('sha256', body, key, Buffer.from(signature, 'base64'))
  ) {
    return true
  }
  throw BadSignature('The signature in X-Vendor-Client-Signature does not fit the body.')
}
