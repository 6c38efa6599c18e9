// Settings of the account, and tags by ARN.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest } from '../open.ts'
import { makePlan, makeVault, refusal, refused, START_S, vaultArn } from './making.ts'

test('global settings are read and changed, and refused outside of an organization', async () => {
  const service = await openForTest(subgraph)

  const before = await service.rest('GET /global-settings')
  const changed = await service.rest('PUT /global-settings', {
    GlobalSettings: { isCrossAccountBackupEnabled: 'true' },
  })
  const after = await service.rest('GET /global-settings')
  const inGraph = await service.graphql(
    '{ backupGlobalSettings { globalSettings { isCrossAccountBackupEnabled isMpaEnabled } lastUpdateTime } }',
  )
  const inGraphChanged = await service.graphql(
    'mutation { updateBackupGlobalSettings(globalSettings: { isMpaEnabled: "true" }) }',
  )
  const afterGraph = await service.rest('GET /global-settings')
  await service.graphql('mutation { setBackupOrganization(isMember: false) { lastUpdateTime } }')
  const outside = await service.rest('GET /global-settings')
  const change = await service.graphql(
    'mutation { updateBackupGlobalSettings(globalSettings: { isMpaEnabled: "true" }) }',
  )

  expect(before.body).toEqual({ GlobalSettings: { isCrossAccountBackupEnabled: 'false' } })
  expect(changed).toMatchObject({ status: 200, body: undefined })
  expect(after.body).toEqual({
    GlobalSettings: { isCrossAccountBackupEnabled: 'true' },
    LastUpdateTime: START_S,
  })
  expect(inGraph.data.backupGlobalSettings).toEqual({
    globalSettings: { isCrossAccountBackupEnabled: 'true', isMpaEnabled: null },
    lastUpdateTime: '2030-01-01T00:00:00.000Z',
  })
  expect(inGraphChanged.data).toEqual({ updateBackupGlobalSettings: true })
  expect(afterGraph.body.GlobalSettings).toEqual({
    isCrossAccountBackupEnabled: 'true',
    isMpaEnabled: 'true',
  })
  expect(refused(outside)).toEqual(refusal('InvalidRequestException'))
  expect(change.errors![0].extensions.code).toBe('InvalidRequestException')
})

test('settings that are not known are refused', async () => {
  const service = await openForTest(subgraph)

  const unknown = await service.rest('PUT /global-settings', { GlobalSettings: { other: 'true' } })
  const value = await service.rest('PUT /global-settings', {
    GlobalSettings: { isMpaEnabled: 'maybe' },
  })
  const nothing = await service.rest('PUT /global-settings', {})

  expect(refused(unknown)).toEqual(refusal('InvalidParameterValueException'))
  expect(refused(value)).toEqual(refusal('InvalidParameterValueException'))
  expect(refused(nothing)).toEqual(refusal('MissingParameterValueException'))
})

test('what needs the whole graph says so where there is none', async () => {
  const service = await openForTest(subgraph)

  const types = await service.rest('GET /supported-resource-types')

  expect(refused(types)).toEqual(refusal('ServiceUnavailableException', 503))
})

test('everything that has an ARN is tagged and untagged by it', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const { BackupPlanArn } = await makePlan(service)
  const at = encodeURIComponent(BackupPlanArn)

  const tagged = await service.rest(`POST /tags/${at}`, { Tags: { a: '1', b: '2' } })
  const more = await service.graphql(
    'mutation ($arn: ID!) { tagBackupResource(resourceArn: $arn, tags: { b: "3", c: "4" }) }',
    { arn: BackupPlanArn },
  )
  const listed = await service.rest(`GET /tags/${at}`)
  const untagged = await service.rest(`POST /untag/${at}`, { TagKeyList: ['a'] })
  const last = await service.graphql(
    'mutation ($arn: ID!) { untagBackupResource(resourceArn: $arn, tagKeyList: ["b"]) }',
    { arn: BackupPlanArn },
  )
  const left = await service.graphql('query ($arn: ID!) { backupTags(resourceArn: $arn) }', {
    arn: BackupPlanArn,
  })

  expect(tagged).toMatchObject({ status: 200, body: undefined })
  expect(more.data.tagBackupResource).toBe(true)
  expect(listed.body).toEqual({ Tags: { a: '1', b: '3', c: '4' } })
  expect(untagged).toMatchObject({ status: 200, body: undefined })
  expect(last.data.untagBackupResource).toBe(true)
  expect(left.data.backupTags).toEqual({ c: '4' })
})

test('tags that are too many, reserved or on nothing are refused', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  const at = `/tags/${encodeURIComponent(vaultArn('vault'))}`
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v']))

  const reserved = await service.rest(`POST ${at}`, { Tags: { 'aws:x': '1' } })
  const missing = await service.rest(`POST ${at}`, {})
  await service.rest(`POST ${at}`, { Tags: many })
  const more = await service.rest(`POST ${at}`, { Tags: { more: 'v' } })
  const nothing = await service.rest(`GET /tags/${encodeURIComponent(vaultArn('none'))}`)
  const foreign = await service.rest(`GET ${at}`, undefined, { credential: 'bob' })
  const other = await service.rest(`GET /tags/${encodeURIComponent('arn:aws:s3:::bucket')}`)

  expect(refused(reserved)).toEqual(refusal('InvalidParameterValueException'))
  expect(refused(missing)).toEqual(refusal('MissingParameterValueException'))
  expect(refused(more)).toEqual(refusal('LimitExceededException'))
  for (const answer of [nothing, foreign, other]) {
    expect(refused(answer)).toEqual(refusal('ResourceNotFoundException'))
  }
})

test('a deleted vault takes its tags with it', async () => {
  const service = await openForTest(subgraph)
  await makeVault(service)
  await service.rest(`POST /tags/${encodeURIComponent(vaultArn('vault'))}`, { Tags: { a: '1' } })
  await service.rest('DELETE /backup-vaults/vault')
  await makeVault(service)

  const { body } = await service.rest(`GET /tags/${encodeURIComponent(vaultArn('vault'))}`)

  expect(body.Tags).toEqual({})
})
