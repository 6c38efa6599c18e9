import { expect, test } from 'vitest'
import { isAmong } from '../../resolvers/resource-groups/evaluation.ts'
import {
  isMatch,
  readQuery,
  typeNamesOf,
  unknownTypesOf,
  type ReadQuery,
} from '../../resolvers/resource-groups/queries.ts'

const resource = (tags: Record<string, string> | null) => ({
  id: '/x',
  typeName: 'DedicatedHsm',
  name: 'x',
  type: 'Vendor.HardwareSecurityModules/dedicatedHSMs',
  location: null,
  tags,
})
const asking = (TagFilters: ReadQuery['TagFilters'], types = ['AWS::AllSupported']): ReadQuery => ({
  ResourceTypeFilters: types,
  TagFilters,
})

test.each([
  [{ a: '1' }, [], true],
  [null, [], true],
  [{ a: '1' }, [{ Key: 'a', Values: ['1'] }], true],
  [{ a: '1' }, [{ Key: 'a', Values: ['2', '1'] }], true],
  [{ a: '1' }, [{ Key: 'a', Values: [] }], true],
  [{ a: '' }, [{ Key: 'a', Values: [] }], true],
  [{ a: '1' }, [{ Key: 'a', Values: ['2'] }], false],
  [{ a: '1' }, [{ Key: 'A', Values: ['1'] }], false],
  [{ a: '1' }, [{ Key: 'b', Values: [] }], false],
  [null, [{ Key: 'a', Values: [] }], false],
  [{ a: '1' }, [{ Key: 'toString', Values: [] }], false],
  [
    { a: '1', b: '2' },
    [
      { Key: 'a', Values: ['1'] },
      { Key: 'b', Values: ['2'] },
    ],
    true,
  ],
  [
    { a: '1', b: '2' },
    [
      { Key: 'a', Values: ['1'] },
      { Key: 'b', Values: ['3'] },
    ],
    false,
  ],
])('a resource with %j, asked for by %j: %s', (tags, filters, expected) => {
  expect(isMatch(asking(filters), resource(tags))).toBe(expected)
})

test('a resource is of the type that the query names', () => {
  expect(isMatch(asking([], ['AWS::Polygraph::DedicatedHsm']), resource({}))).toBe(true)
  expect(isMatch(asking([], ['AWS::Polygraph::SqlDatabase']), resource({}))).toBe(false)
})

test('a group of an account has nothing of other accounts of the signed services', () => {
  const prepared = { account: '111111111111', query: asking([]), QueryErrors: [] }
  const inAccount = (account: string) => ({
    ...resource({}),
    id: `arn:aws:sms-voice:us-east-1:${account}:configuration-set/a`,
  })

  expect(isAmong(prepared, inAccount('111111111111'))).toBe(true)
  expect(isAmong(prepared, inAccount('222222222222'))).toBe(false)
  expect(isAmong(prepared, resource({}))).toBe(true)
})

test('types that no service has are told from those that one has', () => {
  const types = [
    'AWS::AllSupported',
    'AWS::Polygraph::SqlDatabase',
    'AWS::Polygraph::Database',
    'AWS::SMSVOICE::ConfigurationSet',
    'AWS::EC2::Instance',
  ]

  expect(unknownTypesOf(asking([], types), ['SqlDatabase', 'VoiceConfigurationSet'])).toEqual([
    'AWS::Polygraph::Database',
    'AWS::EC2::Instance',
  ])
})

test('only what a query can find has to be listed', () => {
  expect(typeNamesOf(asking([], ['AWS::Polygraph::SqlDatabase']))).toEqual(['SqlDatabase'])
  expect(typeNamesOf(asking([], ['AWS::SMSVOICE::ConfigurationSet']))).toBeUndefined()
  expect(typeNamesOf(asking([]))).toBeUndefined()
})

test('a query names the place in its document that does not fit', () => {
  const Query = JSON.stringify({ ResourceTypeFilters: ['AWS::AllSupported'], TagFilters: [{}] })

  expect(() => readQuery({ Type: 'TAG_FILTERS_1_0', Query })).toThrow(
    /^ResourceQuery\.Query\.TagFilters\.0\.Key does not fit TAG_FILTERS_1_0/,
  )
})
