import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest } from '../open.ts'
import { people } from '../people.ts'

test('the demo is a set with a destination and a call that it followed to its end', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const { configurationSetName, messageId } = await subgraph.demo!(ctx)
  await service.advance(60_000)

  const { data } = await service.graphql(
    `query ($name: String!, $id: ID!) {
      voiceConfigurationSet(configurationSetName: $name) { name eventDestinations { name enabled } }
      voiceMessage(messageId: $id) { state configurationSetName }
      voiceEvents(messageId: $id) { nodes { eventType } }
    }`,
    { name: configurationSetName, id: messageId },
  )
  expect(data).toEqual({
    voiceConfigurationSet: {
      name: 'alarm-calls',
      eventDestinations: [{ name: 'on-call-topic', enabled: true }],
    },
    voiceMessage: { state: 'COMPLETED_CALL', configurationSetName: 'alarm-calls' },
    voiceEvents: {
      nodes: [
        { eventType: 'COMPLETED_CALL' },
        { eventType: 'ANSWERED' },
        { eventType: 'RINGING' },
        { eventType: 'INITIATED_CALL' },
      ],
    },
  })
})
