// Patterns of keys and labels.
import { expect, test } from 'vitest'
import { readPatterns } from '../../resolvers/config-store/key-value-filters.ts'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest, type TestService } from '../open.ts'
import { idOf, keysNamed, putReady, set, setMany } from './stores.ts'

test.each([
  [undefined, [['', true]]],
  ['*', [['', true]]],
  ['app/*', [['app/', true]]],
  [
    'a,b',
    [
      ['a', false],
      ['b', false],
    ],
  ],
  ['a\\,b', [['a,b', false]]],
  ['a\\*', [['a*', false]]],
  ['a\\*\\\\*', [['a*\\', true]]],
])('the filter %j means %j', (filter, meant) => {
  const patterns = readPatterns('key', filter)

  expect(patterns.map(({ text, isOpen }) => [text, isOpen])).toEqual(meant)
})

test('an absent label is named by the null character or by nothing', () => {
  expect(readPatterns('label', '\0')).toEqual([{ text: '', isOpen: false }])
  expect(readPatterns('label', '\0,uk')).toEqual([
    { text: '', isOpen: false },
    { text: 'uk', isOpen: false },
  ])
  expect(readPatterns('label', '')).toEqual([{ text: '', isOpen: false }])
})

test.each(['a*b', '*a', '**', 'a*,b', 'a,b*', '', 'a,,b', 'a\\', 'a,b,c,d,e,f'])(
  'the key filter %j is refused',
  (filter) => {
    expect(() => readPatterns('key', filter)).toThrow(/^key must/)
  },
)

const SETTINGS: [key: string, label?: string][] = [
  ['app/colour'],
  ['app/colour', 'uk'],
  ['app/colour', 'us'],
  ['app/size', 'uk-north'],
  ['app*'],
  ['apply'],
  ['zoo', 'uk'],
]

async function openFilled() {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await putReady(service, 'shop-2')
  for (const [key, label] of SETTINGS) await set(service, 'shop-1', { key, label, value: 'v' })
  await set(service, 'shop-2', { key: 'app/colour', value: 'of another store' })
  return service
}

async function found(service: TestService, filter: object): Promise<string[]> {
  const { data, errors } = await service.graphql(
    `query ($id: ID!, $key: String, $label: String, $first: Int) {
      configKeyValues(configStoreId: $id, key: $key, label: $label, first: $first) {
        nodes { key label } } }`,
    { id: idOf('shop-1'), ...filter },
  )
  if (errors) throw new Error(errors[0].message)
  return data.configKeyValues.nodes.map(({ key, label }: any) => (label ? `${key} ${label}` : key))
}

test.each([
  [
    {},
    [
      'app*',
      'app/colour',
      'app/colour uk',
      'app/colour us',
      'app/size uk-north',
      'apply',
      'zoo uk',
    ],
  ],
  [{ key: 'app/*' }, ['app/colour', 'app/colour uk', 'app/colour us', 'app/size uk-north']],
  [{ key: 'app\\*' }, ['app*']],
  [{ key: 'app/colour' }, ['app/colour', 'app/colour uk', 'app/colour us']],
  [{ key: 'zoo,app/colour' }, ['app/colour', 'app/colour uk', 'app/colour us', 'zoo uk']],
  [{ label: '\0' }, ['app*', 'app/colour', 'apply']],
  [{ label: 'uk' }, ['app/colour uk', 'zoo uk']],
  [{ label: 'uk*' }, ['app/colour uk', 'app/size uk-north', 'zoo uk']],
  [{ label: 'us,\0' }, ['app*', 'app/colour', 'app/colour us', 'apply']],
  [{ key: 'app/*', label: 'uk' }, ['app/colour uk']],
  [{ key: 'zoo,app/colour', label: 'u*' }, ['app/colour uk', 'app/colour us', 'zoo uk']],
  [{ key: 'nothing*' }, []],
  [{ key: 'App/*' }, []],
])('%j finds %j', async (filter, names) => {
  const service = await openFilled()

  expect(await found(service, filter)).toEqual(names)
})

test.each([{ first: 0 }, { first: 101 }, { key: '*x' }])('%j is refused', async (filter) => {
  const service = await openFilled()

  await expect(found(service, filter)).rejects.toThrow(/must/)
})

test('a page that looks at a thousand without finding enough is short, and the next goes on', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await setMany(
    service,
    'shop-1',
    keysNamed('k', 1_150).map(({ key }, n) => ({
      key,
      label: n === 3 || n === 1_120 ? 'rare-1' : 'usual',
    })),
  )
  const page = async (after?: string) => {
    const { data } = await service.graphql(
      `query ($after: String) { configKeyValues(configStoreId: "${idOf('shop-1')}", label: "rare*",
        after: $after) { nodes { key } pageInfo { hasNextPage endCursor } } }`,
      { after },
    )
    return data.configKeyValues
  }

  const first = await page()
  const last = await page(first.pageInfo.endCursor)

  expect([first.nodes, first.pageInfo.hasNextPage]).toEqual([[{ key: 'k0003' }], true])
  expect([last.nodes, last.pageInfo.hasNextPage]).toEqual([[{ key: 'k1120' }], false])
})
