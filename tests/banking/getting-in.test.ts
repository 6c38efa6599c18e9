// How a client gets in: installation, device, session, signatures, rates.
import { createSign, createVerify, generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { openBank, wordsOf, type TestBank } from './bank.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})
const SESSION_WAIT_MS = 30_000

const sign = (body: string): string => createSign('sha256').update(body).sign(privateKey, 'base64')

/** A client as they are: it shows a token, and signs what it sends. */
function client(bank: TestBank, token: string) {
  return (request: string, body?: unknown, { signed = true } = {}) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    return bank.rest(request, text, {
      credential: null,
      headers: {
        'x-vendor-client-authentication': token,
        ...(signed && { 'x-vendor-client-signature': sign(text ?? '') }),
      },
    })
  }
}

async function install(bank: TestBank) {
  const { body } = await bank.rest(
    'POST /v1/installation',
    { client_public_key: publicKey },
    { credential: null },
  )
  return {
    id: body.Id.id,
    token: body.Token.token,
    serverKey: body.ServerPublicKey.server_public_key,
  }
}

async function sandboxKey(bank: TestBank, path = 'sandbox-user-person'): Promise<string> {
  const { body } = await bank.rest(`POST /v1/${path}`, {}, { credential: null })
  return body.api_key
}

async function enter(bank: TestBank, secret: string) {
  const { token, serverKey } = await install(bank)
  const installed = client(bank, token)
  await installed('POST /v1/device-server', {
    description: 'A device',
    secret,
    permitted_ips: ['*'],
  })
  const { body } = await installed('POST /v1/session-server', { secret })
  return { body, token: body.Token.token as string, serverKey, installed }
}

test('a client installs itself, registers, opens a session and pays; what it is answered is signed', async () => {
  const bank = await openBank()
  const bob = await bank.holder('bob')
  const { body, token, serverKey } = await enter(bank, await sandboxKey(bank))
  const ask = client(bank, token)

  const userId = body.UserPerson.id
  const accounts = await ask(`GET /v1/user/${userId}/monetary-account`)
  const { id, balance } = accounts.body[0].MonetaryAccountBank
  const paid = await ask(`POST /v1/user/${userId}/monetary-account/${id}/payment`, {
    amount: { value: '20.00', currency: 'EUR' },
    counterparty_alias: { type: 'IBAN', value: bob.iban },
    description: 'From a client',
  })

  expect(token).toMatch(/^[0-9a-f]{64}$/)
  expect(balance).toEqual({ value: '500.00', currency: 'EUR' })
  expect(paid.status).toBe(200)
  expect(await bank.balance(bob)).toBe('20.00')
  expect(paid.headers['x-vendor-client-response-id']).toMatch(/^[0-9a-f-]{36}$/)
  const isSigned = createVerify('sha256')
    .update(JSON.stringify(paid.body))
    .verify(serverKey, paid.headers['x-vendor-server-signature']!, 'base64')
  expect(isSigned).toBe(true)
})

test('what moves money is signed, and a signature that does not fit is refused', async () => {
  const bank = await openBank()
  const bob = await bank.holder('bob')
  const { body, token } = await enter(bank, await sandboxKey(bank))
  const userId = body.UserPerson.id
  const ask = client(bank, token)
  const { body: accounts } = await ask(`GET /v1/user/${userId}/monetary-account-bank`)
  const path = `/v1/user/${userId}/monetary-account/${accounts[0].id}/payment`
  const order = {
    amount: { value: '1.00', currency: 'EUR' },
    counterparty_alias: { type: 'IBAN', value: bob.iban },
    description: 'x',
  }

  const unsigned = await ask(`POST ${path}`, order, { signed: false })
  const forged = await bank.rest(`POST ${path}`, order, {
    credential: null,
    headers: {
      'x-vendor-client-authentication': token,
      'x-vendor-client-signature': sign('something else'),
    },
  })

  expect(unsigned.status).toBe(466)
  expect(wordsOf(unsigned)).toContain('X-Vendor-Client-Signature')
  expect(forged.status).toBe(401)
  expect(await bank.balance(bob)).toBe('0.00')
})

test('a session needs a signed request, a known secret and a device', async () => {
  const bank = await openBank()
  const secret = await sandboxKey(bank, 'sandbox-user-company')
  const { token } = await install(bank)
  const installed = client(bank, token)
  const path = 'POST /v1/session-server'

  const withoutDevice = await installed(path, { secret })
  await bank.advance(SESSION_WAIT_MS)
  const wrong = await installed(path, { secret: 'sandbox_' + '0'.repeat(64) })
  await installed('POST /v1/device-server', { description: 'd', secret, permitted_ips: ['*'] })
  await bank.advance(SESSION_WAIT_MS)
  const unsigned = await installed(path, { secret }, { signed: false })
  await bank.advance(SESSION_WAIT_MS)
  const opened = await installed(path, { secret })

  expect(withoutDevice.status).toBe(400)
  expect(wrong.status).toBe(401)
  expect(unsigned.status).toBe(466)
  expect(opened.status).toBe(200)
  expect(opened.body.UserCompany.display_name).toBe('Company 1')
})

test('a session ends when it is deleted, and after its time', async () => {
  const bank = await openBank()
  const { token } = await enter(bank, await sandboxKey(bank))
  const ask = client(bank, token)

  const deleted = await ask('DELETE /v1/session/0')
  const after = await ask('GET /v1/user')
  await bank.advance(SESSION_WAIT_MS)
  const { token: other } = await enter(bank, await sandboxKey(bank))
  await bank.advance(8 * 24 * 3600_000)
  const expired = await client(bank, other)('GET /v1/user')

  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(after.status).toBe(401)
  expect(expired.status).toBe(401)
})

test('a key of identity opens the bank directly, and as the secret of a session', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')

  const direct = await bank.rest('GET /v1/user')
  const { body } = await enter(bank, 'key-of-alice')

  expect(direct.body).toHaveLength(1)
  expect(direct.body[0].UserPerson.id).toBe(userId)
  expect(body.UserPerson.id).toBe(userId)
})

test('a session of a device is bound to the addresses that it was registered with', async () => {
  const bank = await openBank()
  const secret = await sandboxKey(bank)
  const { token } = await install(bank)
  const installed = client(bank, token)
  await installed('POST /v1/device-server', {
    description: 'd',
    secret,
    permitted_ips: ['10.9.8.7'],
  })
  const { body } = await installed('POST /v1/session-server', { secret })

  const answer = await client(bank, body.Token.token)('GET /v1/user')

  expect(answer.status).toBe(403)
})

test('an installation reads itself, its devices and the key of the bank', async () => {
  const bank = await openBank()
  const { id, token, serverKey } = await install(bank)
  const ask = client(bank, token)
  const secret = await sandboxKey(bank)
  const made = await ask('POST /v1/device-server', { description: 'A device', secret })

  expect((await ask('GET /v1/installation')).body).toEqual([{ id }])
  expect((await ask(`GET /v1/installation/${id}`)).body).toEqual({ id })
  expect((await ask('GET /v1/installation/99')).status).toBe(404)
  expect((await ask(`GET /v1/installation/${id}/server-public-key`)).body).toEqual({
    server_public_key: serverKey,
  })
  expect((await ask(`GET /v1/device-server/${made.body.id}`)).body).toMatchObject({
    description: 'A device',
    status: 'ACTIVE',
  })
  expect((await ask('GET /v1/device-server')).body).toHaveLength(1)
  const byKey = await bank.rest('GET /v1/installation')
  expect(byKey.status).toBe(403)
})

test('a key that is no RSA key of 2048 bits is refused', async () => {
  const bank = await openBank()
  const { publicKey: short } = generateKeyPairSync('rsa', {
    modulusLength: 1024,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })

  for (const client_public_key of ['no key', short]) {
    const answer = await bank.rest('POST /v1/installation', { client_public_key })
    expect(answer.status).toBe(400)
  }
})

test('who comes by a session may ask three times in three seconds, and is told when to try again', async () => {
  const bank = await openBank()
  const { token } = await enter(bank, await sandboxKey(bank))
  const ask = client(bank, token)
  const statuses = []
  for (let i = 0; i < 4; i += 1) statuses.push((await ask('GET /v1/user')).status)

  const refused = await ask('GET /v1/user')
  const elsewhere = await ask('GET /v1/device-server')
  await bank.advance(3_000)
  const later = await ask('GET /v1/user')

  expect(statuses).toEqual([200, 200, 200, 429])
  expect(refused.headers['retry-after']).toBe('3')
  expect(wordsOf(refused)).toContain('at most 3 in 3 seconds')
  expect(elsewhere.status).toBe(200)
  expect(later.status).toBe(200)
})

test('in the graph the same is made, and only clients ask for sessions', async () => {
  const bank = await openBank()

  const made = await bank.graphql(
    `mutation ($key: String!) {
       createBankInstallation(clientPublicKey: $key) { id token { token } serverPublicKey }
       createSandboxUserPerson(firstName: "Ada") { apiKey userId monetaryAccountId } }`,
    { key: publicKey },
  )
  const session = await bank.graphql('mutation { createSessionServer(secret: "x") { id } }')

  expect(made.data.createBankInstallation.token.token).toMatch(/^[0-9a-f]{64}$/)
  expect(made.data.createSandboxUserPerson.apiKey).toMatch(/^sandbox_[0-9a-f]{64}$/)
  expect(session.errors![0].extensions.status).toBe(403)
})

test('nobody is let in by a token or a key that is not known', async () => {
  const bank = await openBank()

  for (const shown of ['f'.repeat(64), `sandbox_${'f'.repeat(64)}`, 'nonsense']) {
    const answer = await client(bank, shown)('GET /v1/user')
    expect(answer.status).toBe(401)
    expect(answer.headers['x-vendor-server-signature']).toBeUndefined()
  }
})
