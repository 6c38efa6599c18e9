import { expect, test } from 'vitest'
import type { Store } from '../../resolvers/kernel/store.ts'
import { subgraph } from '../../subgraphs/voice.ts'
import { openForTest } from '../open.ts'

const ARN = 'arn:aws:sms-voice:us-east-1:111111111111:configuration-set'
const ENTITIES = `query ($representations: [_Any!]!) {
  entities: _entities(representations: $representations) {
    ... on VoiceConfigurationSet { id name }
    ... on CloudAccount { id voiceConfigurationSets { nodes { name } } }
  }
}`

const setOf = (id: string) => ({ __typename: 'VoiceConfigurationSet', id })
const accountOf = (id: string) => ({ __typename: 'CloudAccount', id })

/** Counts the batched reads. */
function counting() {
  const counted = { reads: 0 }
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        if (name === 'getMany') counted.reads += 1
        const member = target[name as keyof Store]
        return typeof member === 'function' ? (member as any).bind(target) : member
      },
    })
  return { counted, wrap }
}

test('configuration sets are resolved by ARN, many with one read', async () => {
  const { counted, wrap } = counting()
  const service = await openForTest(subgraph, { wrap })
  for (const ConfigurationSetName of ['a', 'b']) {
    await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName })
  }
  counted.reads = 0

  const { data } = await service.graphql(ENTITIES, {
    representations: [setOf(`${ARN}/b`), setOf(`${ARN}/none`), setOf(`${ARN}/a`)],
  })

  expect(data.entities).toEqual([
    { id: `${ARN}/b`, name: 'b' },
    null,
    { id: `${ARN}/a`, name: 'a' },
  ])
  expect(counted.reads).toBe(1)
})

test("a reference to another account's set, or to something else, resolves to nothing", async () => {
  const service = await openForTest(subgraph)
  await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName: 'a' })
  const ids = [`${ARN}/a`.replace('sms-voice', 'backup'), `${ARN}/a`.replace('east', 'west'), 'a']

  const foreign = await service.graphql(
    ENTITIES,
    { representations: [setOf(`${ARN}/a`)] },
    { credential: 'bob' },
  )
  const other = await service.graphql(ENTITIES, { representations: ids.map(setOf) })

  expect(foreign.data.entities).toEqual([null])
  expect(other.data.entities).toEqual([null, null, null])
})

test("an account shows its configuration sets, and another's account shows nothing", async () => {
  const service = await openForTest(subgraph)
  await service.rest('POST /v1/sms-voice/configuration-sets', { ConfigurationSetName: 'a' })

  const { data } = await service.graphql(ENTITIES, {
    representations: [accountOf('111111111111'), accountOf('222222222222')],
  })

  expect(data.entities).toEqual([
    { id: '111111111111', voiceConfigurationSets: { nodes: [{ name: 'a' }] } },
    null,
  ])
})
