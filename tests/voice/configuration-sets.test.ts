import { expect, test } from 'vitest'
import { configurationSets } from '../../resolvers/voice/configuration-sets.ts'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest, type TestService } from '../open.ts'

const SETS = '/v1/sms-voice/configuration-sets'

const create = (service: TestService, ConfigurationSetName: string) =>
  service.rest(`POST ${SETS}`, { ConfigurationSetName })

test('a configuration set is created and listed', async () => {
  const service = await openForTest(subgraph)

  const created = await create(service, 'alarm-calls')

  expect(created).toMatchObject({ status: 200, body: {} })
  expect(await service.rest(`GET ${SETS}`)).toMatchObject({
    status: 200,
    body: { ConfigurationSets: ['alarm-calls'] },
  })
})

test('a configuration set is created, read and deleted in the graph', async () => {
  const service = await openForTest(subgraph)

  const created = await service.graphql(
    'mutation { createVoiceConfigurationSet(configurationSetName: "a") { id name type location } }',
  )
  const read = await service.graphql(
    '{ voiceConfigurationSet(configurationSetName: "a") { id createdTime eventDestinations { name } } }',
  )
  const deleted = await service.graphql(
    'mutation { deleteVoiceConfigurationSet(configurationSetName: "a") }',
  )

  const id = 'arn:aws:sms-voice:us-east-1:111111111111:configuration-set/a'
  expect(created.data.createVoiceConfigurationSet).toEqual({
    id,
    name: 'a',
    type: 'AWS::SMSVOICE::ConfigurationSet',
    location: 'us-east-1',
  })
  expect(read.data.voiceConfigurationSet).toEqual({
    id,
    createdTime: '2030-01-01T00:00:00.000Z',
    eventDestinations: [],
  })
  expect(deleted.data.deleteVoiceConfigurationSet).toBe(true)
  expect((await service.rest(`GET ${SETS}`)).body).toEqual({ ConfigurationSets: [] })
})

test('a second set of the same name is refused at both doors', async () => {
  const service = await openForTest(subgraph)
  await create(service, 'a')

  const again = await create(service, 'a')
  const inGraph = await service.graphql(
    'mutation { createVoiceConfigurationSet(configurationSetName: "a") { id } }',
  )

  expect(again.status).toBe(409)
  expect(again.headers['x-amzn-errortype']).toBe('AlreadyExistsException')
  expect(again.body).toEqual({
    __type: 'AlreadyExistsException',
    message: 'There is a configuration set named a already.',
    Message: 'There is a configuration set named a already.',
  })
  expect(inGraph.errors![0].extensions).toMatchObject({
    code: 'AlreadyExistsException',
    status: 409,
  })
})

test('a name is 1 to 64 letters, digits, hyphens and underscores', async () => {
  const service = await openForTest(subgraph)

  for (const name of ['', 'a b', 'a/b', 'ä', 'a'.repeat(65)]) {
    expect(await create(service, name)).toMatchObject({
      status: 400,
      body: {
        __type: 'BadRequestException',
        Message: 'ConfigurationSetName must be 1 to 64 letters, digits, hyphens or underscores.',
      },
    })
  }
  expect((await create(service, 'A_z-9'.padEnd(64, 'x'))).status).toBe(200)
})

test('a set without a name is refused', async () => {
  const service = await openForTest(subgraph)

  const answer = await service.rest(`POST ${SETS}`, {})

  expect(answer).toMatchObject({
    status: 400,
    body: {
      __type: 'BadRequestException',
      Message:
        'ConfigurationSetName must be 1 to 64 letters, digits, hyphens or underscores, and is missing.',
    },
  })
  expect((await service.rest(`GET ${SETS}`)).body).toEqual({ ConfigurationSets: [] })
})

test('an account has 10000 sets at most', async () => {
  const service = await openForTest(subgraph)
  await service.store.transaction(async (tx) => {
    for (let number = 0; number < 9_999; number++) {
      await tx.insert(configurationSets, {
        Account: '111111111111',
        ConfigurationSetName: `set-${number}`,
        CreatedTime: '2030-01-01T00:00:00.000Z',
        EventDestinations: [],
      })
    }
  })

  expect((await create(service, 'the-last')).status).toBe(200)
  expect(await create(service, 'one-too-many')).toMatchObject({
    status: 412,
    body: {
      __type: 'LimitExceededException',
      Message: 'An account has at most 10000 configuration sets.',
    },
  })
  const found = await service.store.get(configurationSets, '111111111111/one-too-many')
  expect(found).toBeUndefined()
})

test('a set that is deleted twice is not found the second time', async () => {
  const service = await openForTest(subgraph)
  await create(service, 'a')

  const deleted = await service.rest(`DELETE ${SETS}/a`)
  const again = await service.rest(`DELETE ${SETS}/a`)

  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(again).toMatchObject({
    status: 404,
    body: {
      __type: 'NotFoundException',
      Message: 'There is no configuration set named a.',
    },
  })
})

test('an unknown set is not found in the graph', async () => {
  const service = await openForTest(subgraph)

  const { data, errors } = await service.graphql(
    '{ voiceConfigurationSet(configurationSetName: "a") { id } }',
  )

  expect(data).toEqual({ voiceConfigurationSet: null })
  expect(errors![0]).toMatchObject({
    message: 'There is no configuration set named a.',
    extensions: { code: 'NotFoundException', status: 404, service: 'voice' },
  })
})

test('a list goes on where NextToken says, in the order of names', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['c', 'a', 'b']) await create(service, name)

  const first = await service.rest(`GET ${SETS}?PageSize=2`)
  const token = encodeURIComponent(first.body.NextToken)
  const second = await service.rest(`GET ${SETS}?PageSize=2&NextToken=${token}`)

  expect(first.body.ConfigurationSets).toEqual(['a', 'b'])
  expect(second.body).toEqual({ ConfigurationSets: ['c'] })
})

test('the graph lists names by token as the REST interface does', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['a', 'b']) await create(service, name)
  const query = `query ($nextToken: String) {
    voiceConfigurationSetPage(pageSize: 1, nextToken: $nextToken) { configurationSets nextToken }
  }`

  const first = (await service.graphql(query)).data.voiceConfigurationSetPage
  const second = await service.graphql(query, { nextToken: first.nextToken })

  expect(first.configurationSets).toEqual(['a'])
  expect(second.data.voiceConfigurationSetPage).toEqual({
    configurationSets: ['b'],
    nextToken: null,
  })
})

test('the graph lists sets as a connection', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['a', 'b']) await create(service, name)
  const query = `query ($after: String) {
    voiceConfigurationSets(first: 1, after: $after) {
      nodes { name } edges { node { name } } pageInfo { hasNextPage endCursor }
    }
  }`

  const first = (await service.graphql(query)).data.voiceConfigurationSets
  const after = first.pageInfo.endCursor
  const second = (await service.graphql(query, { after })).data.voiceConfigurationSets

  expect(first).toMatchObject({ nodes: [{ name: 'a' }], pageInfo: { hasNextPage: true } })
  expect(second).toMatchObject({
    nodes: [{ name: 'b' }],
    edges: [{ node: { name: 'b' } }],
    pageInfo: { hasNextPage: false },
  })
})

test('a page size must be a number of 1 or more', async () => {
  const service = await openForTest(subgraph)

  for (const size of ['0', '-1', 'ten', '1.5']) {
    expect(await service.rest(`GET ${SETS}?PageSize=${size}`)).toMatchObject({
      status: 400,
      body: { __type: 'BadRequestException', fields: [{ name: 'PageSize' }] },
    })
  }
})

test('a page is never larger than 100', async () => {
  const service = await openForTest(subgraph)
  for (let number = 100; number <= 200; number++) await create(service, `set-${number}`)

  const page = await service.rest(`GET ${SETS}?PageSize=1000`)

  expect(page.body.ConfigurationSets).toHaveLength(100)
  expect(page.body.ConfigurationSets.at(-1)).toBe('set-199')
  expect(page.body.NextToken).toEqual(expect.any(String))
})

test('a token that the list did not give out is refused', async () => {
  const service = await openForTest(subgraph)
  for (const name of ['a', 'b']) await create(service, name)
  const { NextToken } = (await service.rest(`GET ${SETS}?PageSize=1`)).body

  const forged = await service.rest(`GET ${SETS}?NextToken=abc`)
  const foreign = await service.rest(`GET ${SETS}?NextToken=${NextToken}`, undefined, {
    credential: 'bob',
  })

  const body = {
    __type: 'BadRequestException',
    Message: 'The page token is not one that this list gave out. Begin without it.',
  }
  expect(forged).toMatchObject({ status: 400, body })
  expect(foreign).toMatchObject({ status: 400, body })
})

test('an account sees nothing of another', async () => {
  const service = await openForTest(subgraph)
  await create(service, 'a')

  const listed = await service.rest(`GET ${SETS}`, undefined, { credential: 'bob' })
  const deleted = await service.rest(`DELETE ${SETS}/a`, undefined, { credential: 'bob' })

  expect(listed.body).toEqual({ ConfigurationSets: [] })
  expect(deleted.status).toBe(404)
  expect((await service.rest(`GET ${SETS}`)).body).toEqual({ ConfigurationSets: ['a'] })
})
