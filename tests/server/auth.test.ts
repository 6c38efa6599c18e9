import { SignJWT } from 'jose'
import { expect, test } from 'vitest'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { basic } from '../../subgraphs/server/auth/basic.ts'
import { bearer } from '../../subgraphs/server/auth/bearer.ts'
import { openCredentials } from '../../subgraphs/server/auth/credentials.ts'
import { openNotes } from '../../subgraphs/server/auth/gateway.ts'
import { graphNameOf, serviceNameOf } from '../../subgraphs/server/spelling.ts'
import { plain } from '../../subgraphs/server/dialects/plain.ts'
import { passwordOf, people, testCredentials, tokenOf } from '../people.ts'

const KEY = Buffer.alloc(32, 3)

const shown = (authorization?: string) => ({
  service: 'things',
  method: 'GET',
  url: '/',
  headers: { authorization },
  body: Buffer.alloc(0),
  now: new Date(),
})
const encoded = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

test('a name and a password prove their owner', async () => {
  const caller = await basic().prove(
    shown(encoded(`alice:${passwordOf('alice')}`)),
    testCredentials,
  )

  expect(caller).toEqual(people.alice)
})

test.each([
  [undefined, 'Send a name and a password of this service by HTTP Basic.'],
  ['Basic', 'Send a name and a password of this service by HTTP Basic.'],
  ['Bearer abc', 'Send a name and a password of this service by HTTP Basic.'],
  [encoded('alice'), 'The name or the password is wrong.'],
  [encoded('alice:wrong'), 'The name or the password is wrong.'],
  [encoded(':'), 'The name or the password is wrong.'],
])('Basic %s is refused with a challenge', async (authorization, message) => {
  await expect(basic().prove(shown(authorization), testCredentials)).rejects.toMatchObject({
    status: 401,
    message,
    headers: { 'www-authenticate': 'Basic realm="polygraph", charset="UTF-8"' },
  })
})

test('a token proves its owner, whatever the case of the word before it', async () => {
  for (const word of ['Bearer', 'bearer']) {
    const caller = await bearer().prove(shown(`${word} ${tokenOf('bob')}`), testCredentials)
    expect(caller).toEqual(people.bob)
  }
})

test.each([
  [undefined, 'Bearer realm="polygraph"'],
  ['Bearer wrong', 'Bearer realm="polygraph", error="invalid_token"'],
  ['Bearer a b', 'Bearer realm="polygraph"'],
])('bearer %s is refused with the challenge %s', async (authorization, challenge) => {
  await expect(bearer().prove(shown(authorization), testCredentials)).rejects.toMatchObject({
    status: 401,
    headers: { 'www-authenticate': challenge },
  })
})

test('a note says who the gateway proved', async () => {
  const notes = openNotes(KEY, stillClock('2030-01-01T00:00:00Z'))

  expect(await notes.read(await notes.write(people.alice, 'voice'), 'voice')).toEqual(people.alice)
})

test('a note is refused by another subgraph, with another key, when changed and when expired', async () => {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const notes = openNotes(KEY, clock)
  const note = await notes.write(people.alice, 'voice')
  const [head, body, signature] = note.split('.') as [string, string, string]
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString())
  const changed = Buffer.from(
    JSON.stringify({ ...claims, caller: { ...claims.caller, isAdmin: true } }),
  ).toString('base64url')
  const refusal = { status: 401, message: 'The note of the gateway is missing, forged or expired.' }

  await expect(notes.read(note, 'hsm')).rejects.toMatchObject(refusal)
  await expect(openNotes(Buffer.alloc(32, 4), clock).read(note, 'voice')).rejects.toMatchObject(
    refusal,
  )
  await expect(notes.read(`${head}.${changed}.${signature}`, 'voice')).rejects.toMatchObject(
    refusal,
  )
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
  await expect(notes.read(`${unsigned}.${body}.`, 'voice')).rejects.toMatchObject(refusal)
  await expect(notes.read('', 'voice')).rejects.toMatchObject(refusal)
  clock.moveTo(new Date('2030-01-01T00:00:30Z'))
  await expect(notes.read(note, 'voice')).rejects.toMatchObject(refusal)
})

test('a note without an end is refused', async () => {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const endless = await new SignJWT({ caller: people.alice })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('polygraph-gateway')
    .setAudience('voice')
    .sign(KEY)

  await expect(openNotes(KEY, clock).read(endless, 'voice')).rejects.toMatchObject({ status: 401 })
})

test('a note is written again before it ends', async () => {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const notes = openNotes(KEY, clock)
  const first = await notes.write(people.alice, 'voice')

  expect(await notes.write(people.alice, 'voice')).toBe(first)
  clock.moveTo(new Date('2030-01-01T00:00:11Z'))
  expect(await notes.write(people.alice, 'voice')).not.toBe(first)
})

test('a credential is asked for once, and again after four seconds, so that revoking works within five', async () => {
  const clock = stillClock('2030-01-01T00:00:00Z')
  let asked = 0
  let isRevoked = false
  const credentials = openCredentials(async () => {
    asked += 1
    return { answer: isRevoked ? null : people.alice }
  }, clock)

  const many = await Promise.all([1, 2, 3].map(() => credentials.byToken('graph', 'token')))
  expect(many).toEqual([people.alice, people.alice, people.alice])
  expect(asked).toBe(1)
  isRevoked = true
  clock.moveTo(new Date('2030-01-01T00:00:04.001Z'))
  expect(await credentials.byToken('graph', 'token')).toBeUndefined()
  expect(asked).toBe(2)
})

test('a credential that was unknown works as soon as it is made', async () => {
  let answer: unknown = null
  const credentials = openCredentials(async () => ({ answer }), stillClock('2030-01-01T00:00:00Z'))

  expect(await credentials.byApiKey('braille', 'key')).toBeUndefined()
  answer = people.alice
  expect(await credentials.byApiKey('braille', 'key')).toEqual(people.alice)
})

test('secrets are not sent to identity where their hash is enough', async () => {
  const sent: unknown[] = []
  const credentials = openCredentials(async (_query, variables) => {
    sent.push(variables)
    return { answer: null }
  }, stillClock('2030-01-01T00:00:00Z'))
  await credentials.byApiKey('braille', 'key')
  await credentials.byToken('graph', 'token')

  expect(sent).toEqual([
    {
      service: 'braille',
      keyHash: '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683',
    },
    {
      service: 'graph',
      tokenHash: '3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0',
    },
  ])
})

test.each([
  ['BackupVaultName', 'backupVaultName'],
  ['backup_vault_name', 'backupVaultName'],
  ['$top', 'top'],
  ['api-version', 'apiVersion'],
  ['SSMLMessage', 'ssmlMessage'],
  ['ARN', 'arn'],
  ['id', 'id'],
  ['IamRoleArn', 'iamRoleArn'],
])('the graph spells %s as %s', (own, graph) => {
  expect(graphNameOf(own)).toBe(graph)
})

test.each([
  ['pascal', 'backupVaultName', 'BackupVaultName'],
  ['snake', 'backupVaultName', 'backup_vault_name'],
  ['camel', 'backupVaultName', 'backupVaultName'],
] as const)('a %s service spells %s as %s', (spelling, graph, own) => {
  expect(serviceNameOf(graph, { dialect: plain(spelling) })).toBe(own)
})

test('an exception is spelled as it is listed', () => {
  const exceptions = { ssmlMessage: 'SSMLMessage' }

  expect(serviceNameOf('ssmlMessage', { dialect: plain('pascal'), exceptions })).toBe('SSMLMessage')
})
