// The published client, unmodified, against a listening service.
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as sdk from '@aws-sdk/client-pinpoint-sms-voice'
import { expect, onTestFinished, test } from 'vitest'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest, type TestService } from '../open.ts'
import { signingKeyOf } from '../people.ts'

const DEFINITION = {
  Enabled: true,
  MatchingEventTypes: [sdk.EventType.ANSWERED],
  SnsDestination: { TopicArn: 'arn:aws:sns:us-east-1:123456789012:calls' },
}

interface Listening {
  readonly service: TestService
  readonly client: sdk.PinpointSMSVoiceClient
  readonly endpoint: string
}

/** The service's clock is in every answer, as the wall clock is in a real one. */
async function listen(config: sdk.PinpointSMSVoiceClientConfig = {}): Promise<Listening> {
  const service = await openForTest(subgraph)
  await service.opened.rest.ready()
  const server = createServer((request, answer) => {
    answer.setHeader('date', service.clock.now().toUTCString())
    service.opened.rest.routing(request, answer)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const endpoint = `http://127.0.0.1:${port}`
  const client = new sdk.PinpointSMSVoiceClient({
    endpoint,
    region: 'eu-west-1',
    credentials: signingKeyOf('alice'),
    ...config,
  })
  onTestFinished(async () => {
    client.destroy()
    await new Promise((done) => server.close(done))
  })
  return { service, client, endpoint }
}

test('all eight operations work, on a clock that the client first has to set', async () => {
  const { service, client } = await listen()
  const ConfigurationSetName = 'a'
  const EventDestinationName = 'd'

  const created = await client.send(new sdk.CreateConfigurationSetCommand({ ConfigurationSetName }))
  await client.send(
    new sdk.CreateConfigurationSetEventDestinationCommand({
      ConfigurationSetName,
      EventDestinationName,
      EventDestination: DEFINITION,
    }),
  )
  await client.send(
    new sdk.UpdateConfigurationSetEventDestinationCommand({
      ConfigurationSetName,
      EventDestinationName,
      EventDestination: { ...DEFINITION, MatchingEventTypes: ['BUSY', 'ANSWERED'] },
    }),
  )
  const destinations = await client.send(
    new sdk.GetConfigurationSetEventDestinationsCommand({ ConfigurationSetName }),
  )
  const listed = await client.send(new sdk.ListConfigurationSetsCommand({}))
  const sent = await client.send(
    new sdk.SendVoiceMessageCommand({
      ConfigurationSetName,
      DestinationPhoneNumber: '+12065550142',
      OriginationPhoneNumber: '+12065550100',
      CallerId: '+12065550100',
      Content: {
        SSMLMessage: { LanguageCode: 'en-US', Text: '<speak>Hé</speak>', VoiceId: 'Joanna' },
      },
    }),
  )
  await service.advance(60_000)
  await client.send(
    new sdk.DeleteConfigurationSetEventDestinationCommand({
      ConfigurationSetName,
      EventDestinationName,
    }),
  )
  const emptied = await client.send(
    new sdk.GetConfigurationSetEventDestinationsCommand({ ConfigurationSetName }),
  )
  await client.send(new sdk.DeleteConfigurationSetCommand({ ConfigurationSetName }))
  const left = await client.send(new sdk.ListConfigurationSetsCommand({}))

  expect(created.$metadata).toMatchObject({ httpStatusCode: 200, attempts: 2 })
  expect(destinations.EventDestinations).toEqual([
    { Name: 'd', ...DEFINITION, MatchingEventTypes: ['BUSY', 'ANSWERED'] },
  ])
  expect(listed).toMatchObject({ ConfigurationSets: ['a'], $metadata: { attempts: 1 } })
  expect(sent.MessageId).toEqual(expect.any(String))
  expect(emptied.EventDestinations).toEqual([])
  expect(left.ConfigurationSets).toEqual([])
  const { data } = await service.graphql(
    `{ voiceMessage(messageId: "${sent.MessageId}") { state spokenText }
       voiceEvents { nodes { eventType } } }`,
  )
  expect(data).toEqual({
    voiceMessage: { state: 'COMPLETED_CALL', spokenText: 'Hé' },
    voiceEvents: { nodes: [{ eventType: 'ANSWERED' }] },
  })
})

test('250 configuration sets are paged through, each once', async () => {
  const { client, service } = await listen()
  const names = Array.from({ length: 250 }, (_, n) => `set-${String(n).padStart(3, '0')}`)
  for (const name of names) {
    await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName: name })
  }

  const pages: string[][] = []
  let NextToken: string | undefined
  do {
    const page = await client.send(
      new sdk.ListConfigurationSetsCommand({ PageSize: '40', ...(NextToken && { NextToken }) }),
    )
    pages.push(page.ConfigurationSets!)
    NextToken = page.NextToken
  } while (NextToken)

  expect(pages.map(({ length }) => length)).toEqual([40, 40, 40, 40, 40, 40, 10])
  expect(pages.flat()).toEqual(names)
})

test('refusals are the classes that the client has for them', async () => {
  const { client } = await listen()
  const create = (ConfigurationSetName: string) =>
    client.send(new sdk.CreateConfigurationSetCommand({ ConfigurationSetName }))
  await create('a')
  for (const EventDestinationName of ['1', '2', '3', '4', '5']) {
    await client.send(
      new sdk.CreateConfigurationSetEventDestinationCommand({
        ConfigurationSetName: 'a',
        EventDestinationName,
        EventDestination: DEFINITION,
      }),
    )
  }

  const exists = await create('a').catch((error: unknown) => error)
  const bad = await create('a b').catch((error: unknown) => error)
  const missing = await client
    .send(new sdk.DeleteConfigurationSetCommand({ ConfigurationSetName: 'x:y/z' }))
    .catch((error: unknown) => error)
  const limit = await client
    .send(
      new sdk.CreateConfigurationSetEventDestinationCommand({
        ConfigurationSetName: 'a',
        EventDestinationName: '6',
        EventDestination: DEFINITION,
      }),
    )
    .catch((error: unknown) => error)

  expect(exists).toBeInstanceOf(sdk.AlreadyExistsException)
  expect(exists).toMatchObject({
    message: 'There is a configuration set named a already.',
    $metadata: { httpStatusCode: 409, requestId: expect.any(String) },
  })
  expect(bad).toBeInstanceOf(sdk.BadRequestException)
  expect(bad).toMatchObject({ $metadata: { httpStatusCode: 400 } })
  expect(missing).toBeInstanceOf(sdk.NotFoundException)
  expect(missing).toMatchObject({ message: 'There is no configuration set named x:y/z.' })
  expect(limit).toBeInstanceOf(sdk.LimitExceededException)
  expect(limit).toMatchObject({ $metadata: { httpStatusCode: 412 } })
})

test('too many messages are the class that the client has for them', async () => {
  const { client } = await listen({ maxAttempts: 1 })
  const send = () =>
    client.send(
      new sdk.SendVoiceMessageCommand({
        DestinationPhoneNumber: '+12065550142',
        Content: { PlainTextMessage: { Text: 'one' } },
      }),
    )
  // The first attempt sets the clock.
  await send().catch((error: unknown) => error)
  await Promise.all(Array.from({ length: 100 }, send))

  const error = await send().catch((thrown: unknown) => thrown)

  expect(error).toBeInstanceOf(sdk.TooManyRequestsException)
  expect(error).toMatchObject({ $metadata: { httpStatusCode: 429 } })
})

test('a wrong secret is refused by name', async () => {
  const { client } = await listen({
    credentials: { ...signingKeyOf('alice'), secretAccessKey: 'wrong' },
  })

  await expect(client.send(new sdk.ListConfigurationSetsCommand({}))).rejects.toMatchObject({
    name: 'InvalidSignatureException',
    $metadata: { httpStatusCode: 403 },
  })
})

test('the same request with one byte changed is refused', async () => {
  const { service, client, endpoint } = await listen({
    systemClockOffset: Date.parse('2030-01-01T00:00:00Z') - Date.now(),
  })
  const caught = await catchRequest(client)
  const send = (changed: Partial<typeof caught>) => sendRaw(endpoint, { ...caught, ...changed })

  const untouched = await send({})
  const body = await send({ body: caught.body.replace('"a"', '"b"') })
  const path = await send({ path: caught.path.replace('configuration-sets', 'configuration-setz') })
  const query = await send({ path: `${caught.path}?x=` })
  const method = await send({ method: 'GET' })
  const header = await send({ headers: { ...caught.headers, 'content-type': 'application/jsom' } })

  expect(untouched).toBe(200)
  expect([body, query, method, header]).toEqual([403, 403, 403, 403])
  expect(path).toBe(404)
  const { data } = await service.graphql('{ voiceConfigurationSets { nodes { name } } }')
  expect(data.voiceConfigurationSets.nodes).toEqual([{ name: 'a' }])
})

interface Raw {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** The request that the client would send to create the set `a`. */
async function catchRequest(client: sdk.PinpointSMSVoiceClient): Promise<Raw> {
  let caught: Raw | undefined
  client.middlewareStack.add(
    () => (args) => {
      const { method, path, headers, body } = args.request as Raw
      caught = { method, path, headers, body }
      return Promise.reject(new Error('caught'))
    },
    { step: 'finalizeRequest', priority: 'low', name: 'catch' },
  )
  const command = new sdk.CreateConfigurationSetCommand({ ConfigurationSetName: 'a' })
  await expect(client.send(command)).rejects.toThrow('caught')
  return caught!
}

const sendRaw = (endpoint: string, { method, path, headers, body }: Raw): Promise<number> =>
  new Promise((done, fail) => {
    const sent = httpRequest(`${endpoint}${path}`, { method, headers }, (answer) => {
      answer.resume()
      done(answer.statusCode!)
    })
    sent.on('error', fail)
    sent.end(body)
  })
