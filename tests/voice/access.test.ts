import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest } from '../open.ts'
import { people, signingKeyOf, testCredentials } from '../people.ts'

const SETS = '/v1/sms-voice/configuration-sets'

const openAs = (caller: Partial<Caller>) =>
  openForTest(subgraph, {
    credentials: {
      ...testCredentials,
      async signingKey(scope) {
        const found = await testCredentials.signingKey(scope)
        return found && { ...found, caller: { ...people.alice, ...caller } }
      },
    },
  })

test('a request that is not signed is refused by the name that clients know', async () => {
  const service = await openForTest(subgraph)

  const answer = await service.rest(`GET ${SETS}`, undefined, { credential: null })
  const inGraph = await service.graphql(
    '{ voiceMessages { nodes { messageId } } }',
    {},
    { credential: null },
  )

  expect(answer.status).toBe(403)
  expect(answer.headers['x-amzn-errortype']).toBe('MissingAuthenticationTokenException')
  expect(answer.headers['x-amzn-requestid']).toBe(answer.headers['x-request-id'])
  expect(answer.body).toEqual({
    __type: 'MissingAuthenticationTokenException',
    message: 'Missing Authentication Token',
    Message: 'Missing Authentication Token',
  })
  expect(inGraph.errors![0].extensions.code).toBe('Unauthenticated')
})

test('a signature that does not fit is refused before anything is read', async () => {
  const service = await openForTest(subgraph)

  const answer = await service.rest(`POST ${SETS}`, 'not even JSON', {
    headers: { 'x-amz-content-sha256': 'f'.repeat(64) },
  })

  expect(answer).toMatchObject({ status: 403, body: { __type: 'InvalidSignatureException' } })
})

test('a request that is signed in its query is answered', async () => {
  const service = await openForTest(subgraph)
  const { path } = createRequire(import.meta.url)('aws4').sign(
    {
      host: 'polygraph.test',
      path: `${SETS}?PageSize=5&X-Amz-Date=20300101T000000Z&X-Amz-Expires=60`,
      service: 'sms-voice',
      region: 'us-east-1',
      signQuery: true,
    },
    signingKeyOf('alice'),
  )

  const answer = await service.rest(`GET ${path}`, undefined, { credential: null })
  const tampered = await service.rest(
    `GET ${path.replace('PageSize=5', 'PageSize=6')}`,
    undefined,
    {
      credential: null,
    },
  )

  expect(answer).toMatchObject({ status: 200, body: { ConfigurationSets: [] } })
  expect(tampered).toMatchObject({ status: 403, body: { __type: 'InvalidSignatureException' } })
})

test('a failure of ours is answered without details, by the name that clients know', async () => {
  const service = await openForTest(subgraph, {
    wrap: (store) =>
      Object.assign(Object.create(store), { list: () => Promise.reject(new Error('disk')) }),
  })

  const answer = await service.rest(`GET ${SETS}`)

  expect(answer.status).toBe(500)
  expect(answer.headers['x-amzn-errortype']).toBe('InternalServiceErrorException')
  expect(answer.body).toEqual({
    __type: 'InternalServiceErrorException',
    message: 'The service failed to answer.',
    Message: 'The service failed to answer.',
  })
  expect(service.mistakes).toEqual([new Error('disk')])
})

const needed = [
  ['POST /configuration-sets', 'sms-voice:CreateConfigurationSet'],
  ['GET /configuration-sets', 'sms-voice:ListConfigurationSets'],
  ['DELETE /configuration-sets/a', 'sms-voice:DeleteConfigurationSet'],
  [
    'POST /configuration-sets/a/event-destinations',
    'sms-voice:CreateConfigurationSetEventDestination',
  ],
  [
    'GET /configuration-sets/a/event-destinations',
    'sms-voice:GetConfigurationSetEventDestinations',
  ],
  [
    'PUT /configuration-sets/a/event-destinations/b',
    'sms-voice:UpdateConfigurationSetEventDestination',
  ],
  [
    'DELETE /configuration-sets/a/event-destinations/b',
    'sms-voice:DeleteConfigurationSetEventDestination',
  ],
  ['POST /voice/message', 'sms-voice:SendVoiceMessage'],
]

test('every operation needs the permission of its name', async () => {
  const service = await openAs({ permissions: ['backup:*'] })

  for (const [request, permission] of needed) {
    const [method, path] = request!.split(' ')
    const answer = await service.rest(`${method} /v1/sms-voice${path}`)

    expect(answer, request).toMatchObject({
      status: 403,
      body: {
        __type: 'AccessDeniedException',
        Message: `The credential does not permit ${permission}.`,
      },
    })
  }
})

test('a permission with a wildcard opens what it matches', async () => {
  const service = await openAs({ permissions: ['sms-voice:List*'] })

  expect((await service.rest(`GET ${SETS}`)).status).toBe(200)
  expect((await service.rest(`POST ${SETS}`, { ConfigurationSetName: 'a' })).status).toBe(403)
})

test('a credential without an account is refused', async () => {
  const service = await openAs({ accounts: [{ id: 'x', kind: 'SUBSCRIPTION' }] })

  expect(await service.rest(`GET ${SETS}`)).toMatchObject({
    status: 403,
    body: {
      __type: 'AccessDeniedException',
      Message: 'The credential opens no account of this service.',
    },
  })
})

test('an unknown path, a wrong method and a broken body are refused in the same shape', async () => {
  const service = await openForTest(subgraph)

  const unknown = await service.rest('GET /v1/sms-voice/nothing')
  const method = await service.rest(`PATCH ${SETS}`)
  const broken = await service.rest(`POST ${SETS}`, '{')
  const media = await service.rest(`POST ${SETS}`, 'a=b', {
    headers: { 'content-type': 'text/plain' },
  })

  expect(unknown).toMatchObject({ status: 404, body: { __type: 'NotFoundException' } })
  expect(method).toMatchObject({ status: 405, body: { __type: 'MethodNotAllowedException' } })
  expect(method.headers.allow).toBe('GET, HEAD, POST')
  expect(broken).toMatchObject({ status: 400, body: { __type: 'BadRequestException' } })
  expect(media).toMatchObject({ status: 415, body: { __type: 'BadRequestException' } })
})
