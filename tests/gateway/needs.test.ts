// What a field needs of its caller (@needs) is asked before it is fetched, and answered as its service
// would.
import { buildASTSchema, parse } from 'graphql'
import { expect, test } from 'vitest'
import { compose } from '../../gateway/compose.ts'
import { openGateway, type Gateway } from '../../gateway/gateway.ts'
import { inProcess } from '../../gateway/in-process.ts'
import { withoutRefused } from '../../gateway/needs.ts'
import { NOBODY, type Caller } from '../../resolvers/kernel/context.ts'
import { operation } from '../../resolvers/kernel/operation.ts'
import { subgraph as backup } from '../../subgraphs/backup.ts'
import { subgraph as braille } from '../../subgraphs/braille.ts'
import { bind } from '../../subgraphs/server/graphql.ts'
import { subgraph as voice } from '../../subgraphs/voice.ts'
import { openGraphForTest } from '../open-graph.ts'
import { ACCOUNT, people } from '../people.ts'

const permitted = (...permissions: string[]): Caller => ({ ...people.alice, permissions })
const contextOf = (caller: Caller) => ({ caller, publicUrl: '', requestId: '', headers: {} })

/** Two gateways over the same services, of which one does not know what fields need. */
async function openTwo() {
  const graph = await openGraphForTest([voice, backup])
  await graph.ask('mutation { createVoiceConfigurationSet(configurationSetName: "calls") { id } }')
  await graph.ask('mutation { createBackupVault(backupVaultName: "safe") { id } }')
  const sent: string[] = []
  const knowing = compose(['identity', 'voice', 'backup'])
  const open = (supergraph: string) =>
    openGateway({
      isIntrospectable: false,
      supergraph,
      sourceOf: (name) => ({
        prepare(query, operationName) {
          const ask = inProcess(graph.service(name).opened).prepare(query, operationName)
          return (variables, context) => {
            sent.push(query)
            return ask(variables, context)
          }
        },
      }),
    })
  const ours = await open(knowing)
  const services = await open(knowing.replaceAll(/(?<!directive) @needs\([^)]*\)/g, ''))
  const answers = async (gateway: Gateway, query: string, caller: Caller, variables = {}) => {
    const asked = { query, variables }
    const answer = await gateway.answer(asked, contextOf(caller))
    const again = await gateway.answer(asked, contextOf(caller))
    expect(plain(again)).toEqual(plain(answer))
    return plain(answer)
  }
  return { ours, services, answers, sent }
}

const plain = (answer: unknown) => JSON.parse(JSON.stringify(answer))

const LISTS = 'sms-voice:ListConfigurationSets'
const READS = 'sms-voice:GetConfigurationSetEventDestinations'

test('what is refused is not fetched, and the refusal is that of the service, wherever the field is', async () => {
  const { ours, services, answers, sent } = await openTwo()
  const cases: [query: string, caller: Caller, variables?: object][] = [
    ['{ voiceConfigurationSet(configurationSetName: "calls") { name } }', permitted()],
    ['{ voiceConfigurationSets { nodes { name } } me { id } }', permitted()],
    ['{ voiceConfigurationSets { nodes { name } } me { id } }', NOBODY],
    ['{ voiceConfigurationSets { nodes { name eventDestinations { name } } } }', permitted(LISTS)],
    [
      '{ a: backupVault(backupVaultName: "safe") { recoveryPoints { nodes { recoveryPointArn } } } }',
      permitted('backup:D*'),
    ],
    [
      '{ backupVault(backupVaultName: "safe") { arn: backupVaultArn __typename } voiceMessage(messageId: "1") { state } }',
      permitted('backup:D*'),
    ],
    [
      `{ cloudAccount(id: "${ACCOUNT}") { id voiceConfigurationSets { nodes { __typename ...on VoiceConfigurationSet { ...D } } } } }
      fragment D on VoiceConfigurationSet { eventDestinations { name } }`,
      permitted(LISTS),
    ],
    [
      `{ cloudAccount(id: "${ACCOUNT}") { id backupJobs { nodes { backupJobId } } voiceConfigurationSets { nodes { name } } } }`,
      permitted(LISTS),
    ],
    [
      `query ($w: Boolean!) { voiceConfigurationSetById(id: "x") @include(if: $w) { name } me { id } }`,
      permitted(),
      { w: false },
    ],
    [
      `query ($w: Boolean!) { voiceConfigurationSetById(id: "x") @include(if: $w) { name } me { id } }`,
      permitted(),
      { w: true },
    ],
    [
      `query ($w: Boolean!) { voiceConfigurationSets { nodes { name ... on VoiceConfigurationSet @skip(if: $w) { eventDestinations { name } } } } }`,
      permitted(LISTS),
      { w: true },
    ],
    ['mutation { deleteVoiceConfigurationSet(configurationSetName: "none") }', permitted(READS)],
  ]

  for (const [query, caller, variables] of cases) {
    const own = await answers(ours, query, caller, variables)
    expect(own, query).toEqual(await answers(services, query, caller, variables))
  }

  sent.length = 0

  const { errors } = await answers(
    ours,
    '{ voiceConfigurationSets { nodes { name } } }',
    permitted(),
  )
  expect(errors).toHaveLength(1)
  expect(sent).toEqual([])

  await answers(
    ours,
    'query ($n: String!) { voiceConfigurationSet(configurationSetName: $n) { name } voiceCallRules { nodes { __typename } } }',
    permitted('sms-voice:ListCallRules'),
    { n: 'calls' },
  )
  expect(sent.length).toBeGreaterThan(0)
  expect(sent.join()).not.toContain('voiceConfigurationSet')
})

test('a fetch is answered as by its service, null in the nearest parent that can be null', async () => {
  const graph = await openGraphForTest([voice])
  await graph.ask('mutation { createVoiceConfigurationSet(configurationSetName: "calls") { id } }')
  const source = inProcess(graph.service('voice').opened)
  const schema = buildASTSchema(parse(compose(['identity', 'voice'])), { assumeValid: true })
  const guarded = withoutRefused(source, 'voice', { supergraphSchema: schema })
  const sets = 'voiceConfigurationSets { nodes { name eventDestinations { name } } }'
  const accounts = `query ($representations: [_Any!]!) {
    _entities(representations: $representations) { ...on CloudAccount { ${sets} } } }`
  const representations = [ACCOUNT, 'none'].map((id) => ({ __typename: 'CloudAccount', id }))
  const set = (name: string) => `voiceConfigurationSet(configurationSetName: "${name}")`
  const fetches: [query: string, permission: string, variables?: object][] = [
    [`{ ${sets} }`, LISTS],
    [`{ ${sets} }`, 'none'],
    [
      `{ ${set('calls')} { name } voiceCallRules { nodes { pattern } } }`,
      'sms-voice:ListCallRules',
    ],
    [`{ a: ${set('calls')} { name } b: ${set('none')} { name } }`, 'none'],
    [accounts, 'none', { representations }],
  ]

  for (const [query, permission, variables = {}] of fetches) {
    const answers = [guarded, source].map(async ({ prepare }) =>
      plain(await prepare(query, undefined)(variables as {}, contextOf(permitted(permission)))),
    )
    const [own, services] = await Promise.all(answers)
    for (const error of services.errors) delete error.locations
    expect(own, query).toEqual(services)
  }
})

test('of several permissions the one is named that the caller lacks', async () => {
  const schema = buildASTSchema(
    parse(`directive @needs(permissions: [String!]! = [], administrator: Boolean! = false) on FIELD_DEFINITION
      type Query { a: Int @needs(permissions: ["a:Read", "b:Read"]) }`),
  )
  const source = { prepare: () => () => ({ data: { a: 1 } }) }
  const ask = withoutRefused(source, 'one', { supergraphSchema: schema }).prepare(
    '{ a }',
    undefined,
  )
  const answerTo = async (...permissions: string[]) =>
    (await ask({}, contextOf(permitted(...permissions)))).errors?.[0]?.message

  expect(await answerTo('a:Read')).toBe('The credential does not permit b:Read.')
  expect(await answerTo('b:Read')).toBe('The credential does not permit a:Read.')
  expect(await answerTo('a:Read', 'b:*')).toBeUndefined()
})

test('a mutation that is refused ends those after it, and not those before', async () => {
  const graph = await openGraphForTest([voice])
  const may = permitted('sms-voice:CreateConfigurationSet')
  const create = (name: string) =>
    `${name}: createVoiceConfigurationSet(configurationSetName: "${name}") { id }`
  const refused = 'deleteVoiceConfigurationSet(configurationSetName: "calls")'

  const all = `mutation { ${create('before')} ${refused} ${create('after')} }`
  const { errors } = await graph.askAs(may, all)

  expect(errors).toMatchObject([{ path: ['deleteVoiceConfigurationSet'] }])
  const { data } = await graph.ask('{ voiceConfigurationSets { nodes { name } } }')
  expect(data.voiceConfigurationSets.nodes).toEqual([{ name: 'before' }])
})

test('a service whose operation needs other than its field declares does not start', () => {
  const subgraph = {
    ...braille,
    resources: [
      { operations: [operation({ name: 'a', needs: 'a:Read', input: {}, run: async () => 1 })] },
    ],
  }
  const schema = (declared: string) =>
    parse(`directive @needs(permissions: [String!]! = [], administrator: Boolean! = false) on FIELD_DEFINITION
      type Query { a: Int ${declared} }`)
  const start = (declared: string) =>
    bind(schema(declared), subgraph, { performed: () => {}, mistake: () => {} })

  expect(() => start('@needs(permissions: "a:Read")')).not.toThrow()
  expect(() => start('')).toThrow('a needs (a:Read) but its field declares ()')
  expect(() => start('@needs(permissions: ["a:Read"], administrator: true)')).toThrow(
    'a needs (a:Read) but its field declares (a:Read, administrator)',
  )
})
