// Backup of the resources of other services, through the joined graph.
import { expect, test } from 'vitest'
import { listResources, resourceTypes } from '../../resolvers/families/cloud-resources.ts'
import { graphFor } from '../../resolvers/kernel/graph.ts'
import { subgraph as backup } from '../../subgraphs/backup.ts'
import { subgraph as configStore } from '../../subgraphs/config-store.ts'
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { subgraph as scheduler } from '../../subgraphs/scheduler.ts'
import { subgraph as voice } from '../../subgraphs/voice.ts'
import * as stores from '../config-store/stores.ts'
import * as modules from '../hsm/modules.ts'
import { openGraphForTest } from '../open-graph.ts'
import { ACCOUNT, people, SUBSCRIPTION } from '../people.ts'
import * as schedules from '../scheduler/schedules.ts'
import { take } from '../snapshots.ts'
import {
  DAY_MS,
  HOUR_MS,
  makePlan,
  makeVault,
  pointPath,
  refusal,
  refused,
  ROLE,
  vaultArn,
} from './making.ts'

type Joined = Awaited<ReturnType<typeof openGraphForTest>>

const OWN = `arn:aws:polygraph:us-east-1:${ACCOUNT}:`
const VOICE = `arn:aws:sms-voice:us-east-1:${ACCOUNT}:configuration-set/`

const open = () => openGraphForTest([backup, configStore, hsm, scheduler, voice])

/** The four kinds: how one is made, where it is and how it is removed. */
const KINDS = [
  {
    type: 'ConfigStore',
    service: 'config-store',
    id: (n: number) => stores.idOf(`store-${n}`),
    async make(graph: Joined, n: number) {
      const service = graph.service('config-store')
      await service.rest(`PUT ${stores.one(`store-${n}`)}`, {
        ...stores.PLAIN,
        tags: { n: `${n}` },
      })
      await stores.set(service, `store-${n}`, { key: 'greeting', value: `hello ${n}` })
    },
    remove: (graph: Joined, n: number) =>
      graph.service('config-store').rest(`DELETE ${stores.one(`store-${n}`)}`),
  },
  {
    type: 'DedicatedHsm',
    service: 'hsm',
    id: (n: number) => `${modules.MANY}/hsm-${n}`,
    make: (graph: Joined, n: number) =>
      graph.service('hsm').rest(`PUT ${modules.one(`hsm-${n}`)}`, modules.FULL),
    remove: (graph: Joined, n: number) =>
      graph.service('hsm').rest(`DELETE ${modules.one(`hsm-${n}`)}`),
  },
  {
    type: 'JobCollection',
    service: 'scheduler',
    id: (n: number) => `${schedules.MANY}/jobs-${n}`,
    async make(graph: Joined, n: number) {
      const service = graph.service('scheduler')
      const path = schedules.collectionAt(`jobs-${n}`)
      await schedules.put(service, path, schedules.COLLECTION)
      const job = path.replace('?', '/jobs/job?')
      await schedules.put(service, job, schedules.every('Month'))
    },
    remove: (graph: Joined, n: number) =>
      graph.service('scheduler').rest(`DELETE ${schedules.collectionAt(`jobs-${n}`)}`),
  },
  {
    type: 'VoiceConfigurationSet',
    service: 'voice',
    id: (n: number) => `${VOICE}set-${n}`,
    async make(graph: Joined, n: number) {
      const service = graph.service('voice')
      const path = '/v1/sms-voice/configuration-sets'
      await service.rest(`POST ${path}`, { ConfigurationSetName: `set-${n}` })
      await service.rest(`POST ${path}/set-${n}/event-destinations`, {
        EventDestinationName: 'topic',
        EventDestination: {
          Enabled: true,
          MatchingEventTypes: ['BUSY'],
          SnsDestination: { TopicArn: `arn:aws:sns:us-east-1:${ACCOUNT}:t${n}` },
        },
      })
    },
    remove: (graph: Joined, n: number) =>
      graph.service('voice').rest(`DELETE /v1/sms-voice/configuration-sets/set-${n}`),
  },
] as const

/** Makes as many of each kind as said, and lets them settle. */
async function makeAll(graph: Joined, each: number) {
  for (const kind of KINDS) for (let n = 0; n < each; n += 1) await kind.make(graph, n)
  await graph.advance(10_000)
}

async function digests(graph: Joined, each: number): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const { type, service, id } of KINDS) {
    for (let n = 0; n < each; n += 1) {
      found.set(id(n), (await take(graph.service(service), type, id(n))).sha256)
    }
  }
  return found
}

async function select(graph: Joined, selection: object, rule: object = {}) {
  const service = graph.service('backup')
  await makeVault(service)
  const plan = await makePlan(service, 'plan', { ScheduleExpression: 'rate(1 day)', ...rule })
  const { status, body } = await service.rest(
    `PUT /backup/plans/${plan.BackupPlanId}/selections/`,
    {
      BackupSelection: { SelectionName: 's', IamRoleArn: ROLE, ...selection },
    },
  )
  if (status !== 200) throw new Error(JSON.stringify(body))
  return plan
}

const listAll = async (graph: Joined, path: string, name: string) => {
  const all: any[] = []
  let token = ''
  do {
    const { body } = await graph.service('backup').rest(`GET ${path}${token}`)
    all.push(...body[name])
    token = body.NextToken ? `?nextToken=${body.NextToken}` : ''
  } while (token !== '')
  return all
}

test('two hundred resources of four kinds are backed up, deleted and brought back byte by byte', async () => {
  const EACH = 50
  const graph = await open()
  const service = graph.service('backup')
  await makeAll(graph, EACH)
  const before = await digests(graph, EACH)
  await select(
    graph,
    { Resources: [`${OWN}*`, `${VOICE}*`] },
    { Lifecycle: { DeleteAfterDays: 35 } },
  )

  await graph.advance(DAY_MS)
  const jobs = await listAll(graph, '/backup-jobs', 'BackupJobs')
  const points = await listAll(graph, '/backup-vaults/vault/recovery-points', 'RecoveryPoints')
  expect(jobs.filter(({ State }) => State === 'COMPLETED')).toHaveLength(4 * EACH)
  expect(points).toHaveLength(4 * EACH)
  expect(new Set(points.map(({ ResourceType }) => ResourceType))).toEqual(
    new Set([
      'AWS::Polygraph::ConfigStore',
      'AWS::Polygraph::DedicatedHsm',
      'AWS::Polygraph::JobCollection',
      'AWS::SMSVOICE::ConfigurationSet',
    ]),
  )

  for (const { remove } of KINDS) for (let n = 0; n < EACH; n += 1) await remove(graph, n)
  await graph.advance(10_000)
  const gone = await graph.ask(
    `query ($id: String!) { cloudAccount(id: $id) { configStores(first: 1) { nodes { id } }
       dedicatedHsms(first: 1) { nodes { id } } jobCollections(first: 1) { nodes { id } } } }`,
    { id: SUBSCRIPTION },
  )
  expect(gone.data.cloudAccount).toEqual({
    configStores: { nodes: [] },
    dedicatedHsms: { nodes: [] },
    jobCollections: { nodes: [] },
  })

  // Nothing that is kept can be lost meanwhile: by a hold, by a lock, by a role.
  const path = pointPath('vault', points[0].RecoveryPointArn)
  const { body: hold } = await service.rest('POST /legal-holds/', { Title: 't', Description: 'd' })
  expect(refused(await service.rest(`DELETE ${path}`))).toEqual(
    refusal('InvalidResourceStateException'),
  )
  await service.rest(`DELETE /legal-holds/${hold.LegalHoldId}?cancelDescription=over`)
  await service.rest('PUT /backup-vaults/vault/vault-lock', { MinRetentionDays: 1 })
  expect(refused(await service.rest(`DELETE ${path}`))).toEqual(refusal('InvalidRequestException'))
  await service.rest('DELETE /backup-vaults/vault/vault-lock')
  const weak = `arn:aws:iam::${ACCOUNT}:role/weak`
  await service.graphql('mutation { putBackupRole(roleName: "weak", permissions: []) { roleArn } }')
  const refusedRestore = await service.rest('PUT /restore-jobs', {
    RecoveryPointArn: points[0].RecoveryPointArn,
    Metadata: {},
    IamRoleArn: weak,
  })
  await graph.advance(0)
  const failed = await service.rest(`GET /restore-jobs/${refusedRestore.body.RestoreJobId}`)
  expect(failed.body).toMatchObject({ Status: 'FAILED' })

  for (const { RecoveryPointArn } of points) {
    const { status } = await service.rest('PUT /restore-jobs', { RecoveryPointArn, Metadata: {} })
    expect(status).toBe(200)
  }
  await graph.advance(10_000)
  const restored = await listAll(graph, '/restore-jobs', 'RestoreJobs')
  expect(restored.filter(({ Status }) => Status === 'COMPLETED')).toHaveLength(4 * EACH)
  expect(await digests(graph, EACH)).toEqual(before)
}, 240_000)

test('selections by tag, condition and exclusion find resources of all services', async () => {
  const graph = await open()
  const service = graph.service('backup')
  await makeAll(graph, 3)
  const daily = (ConditionValue: string) => [
    { ConditionType: 'STRINGEQUALS', ConditionKey: 'n', ConditionValue },
  ]
  await select(graph, {
    Resources: [`${VOICE}*`],
    NotResources: [`${VOICE}set-1`],
    ListOfTags: daily('2'),
  })

  await graph.advance(DAY_MS)

  const jobs = await listAll(graph, '/backup-jobs', 'BackupJobs')
  expect(jobs.map(({ ResourceArn }) => ResourceArn).toSorted()).toEqual(
    [`${OWN}${stores.idOf('store-2')}`, `${VOICE}set-0`, `${VOICE}set-2`].toSorted(),
  )
  expect(service.mistakes).toEqual([])
})

test('types that the account opted out of are backed up only by their full ARN', async () => {
  const graph = await open()
  const service = graph.service('backup')
  await makeAll(graph, 2)
  const type = 'AWS::Polygraph::VoiceConfigurationSet'

  const types = await service.rest('GET /supported-resource-types')
  const unknown = await service.rest('PUT /account-settings', {
    ResourceTypeOptInPreference: { EBS: false },
  })
  const changed = await service.rest('PUT /account-settings', {
    ResourceTypeOptInPreference: { [type]: false },
  })
  const settings = await service.rest('GET /account-settings')
  await select(graph, { Resources: [`${OWN}${stores.idOf('*')}`, `${VOICE}*`, `${VOICE}set-1`] })
  await graph.advance(DAY_MS)
  const jobs = await listAll(graph, '/backup-jobs', 'BackupJobs')
  const inGraph = await service.graphql(
    `mutation { updateBackupRegionSettings(resourceTypeManagementPreference: {}) }`,
  )
  const read = await service.graphql(
    '{ backupSupportedResourceTypes backupRegionSettings { resourceTypeOptInPreference } }',
  )

  expect(types.body.ResourceTypes).toEqual(
    expect.arrayContaining(['AWS::Backup::BackupPlan', 'AWS::Polygraph::ConfigStore', type]),
  )
  expect(refused(unknown)).toEqual(refusal('InvalidParameterValueException'))
  expect(changed).toMatchObject({ status: 200, body: undefined })
  expect(settings.body.ResourceTypeOptInPreference).toMatchObject({
    [type]: false,
    'AWS::Polygraph::ConfigStore': true,
  })
  expect(jobs.map(({ ResourceName }) => ResourceName).toSorted()).toEqual([
    'set-1',
    'store-0',
    'store-1',
  ])
  expect(inGraph.data.updateBackupRegionSettings).toBe(true)
  expect(read.data.backupRegionSettings.resourceTypeOptInPreference).toEqual(
    settings.body.ResourceTypeOptInPreference,
  )
})

test('every cloud resource tells in the graph how it is backed up, many in one read', async () => {
  const graph = await open()
  const service = graph.service('backup')
  await makeAll(graph, 3)
  await select(graph, { Resources: [`${OWN}*`, `${VOICE}set-0`] })
  await graph.advance(DAY_MS)

  const { data, errors } = await graph.ask(
    `query ($id: String!, $account: String!) {
       subscription: cloudAccount(id: $id) { configStores { nodes { name protection { lastBackupTime
         lastBackupVault { name } lastRecoveryPoint { status backupSizeInBytes } } recoveryPoints { nodes { resourceName } }
         backupJobs { nodes { state } } } } backupVaults { nodes { name } } }
       account: cloudAccount(id: $account) { backupVaults { nodes { name numberOfRecoveryPoints } }
         backupPlans { nodes { name } } backupJobs(first: 2) { nodes { state } pageInfo { hasNextPage } }
         voiceConfigurationSets { nodes { name protection { lastBackupTime } } } } }`,
    { id: SUBSCRIPTION, account: ACCOUNT },
  )
  const bob = await graph.ask(
    `query ($id: ID!) { configStoreById(id: $id) { name } }`,
    { id: stores.idOf('store-0') },
    'bob',
  )

  expect(errors).toBeUndefined()
  expect(data.subscription.backupVaults.nodes).toEqual([])
  expect(data.subscription.configStores.nodes).toEqual(
    ['store-0', 'store-1', 'store-2'].map((name) => ({
      name,
      protection: {
        lastBackupTime: '2030-01-02T00:00:10.000Z',
        lastBackupVault: { name: 'vault' },
        lastRecoveryPoint: { status: 'COMPLETED', backupSizeInBytes: expect.any(Number) },
      },
      recoveryPoints: { nodes: [{ resourceName: name }] },
      backupJobs: { nodes: [{ state: 'COMPLETED' }] },
    })),
  )
  expect(data.account).toEqual({
    backupVaults: { nodes: [{ name: 'vault', numberOfRecoveryPoints: 10 }] },
    backupPlans: { nodes: [{ name: 'plan' }] },
    backupJobs: {
      nodes: [{ state: 'COMPLETED' }, { state: 'COMPLETED' }],
      pageInfo: { hasNextPage: true },
    },
    voiceConfigurationSets: {
      nodes: [
        { name: 'set-0', protection: { lastBackupTime: '2030-01-02T00:00:10.000Z' } },
        { name: 'set-1', protection: null },
        { name: 'set-2', protection: null },
      ],
    },
  })
  expect(bob.data.configStoreById).toBeNull()
  expect(service.mistakes).toEqual([])
})

test('vaults and plans are found among the resources of the graph, with those of other services', async () => {
  const graph = await open()
  await makeAll(graph, 1)
  await select(graph, { Resources: ['*'] })
  const asked = graphFor(graph.port, people.alice)

  const types = resourceTypes(asked)
  const found: [string, string][] = []
  for await (const page of listResources(asked)) {
    for (const { typeName, name } of page) found.push([typeName, name])
  }
  await graph.advance(DAY_MS)
  const jobs = await listAll(graph, '/backup-jobs', 'BackupJobs')

  expect(types.filter(({ name }) => name.startsWith('Backup'))).toEqual([
    { name: 'BackupPlan', listed: 'backupPlans', canFind: true, canTag: true, canSnapshot: true },
    {
      name: 'BackupVault',
      listed: 'backupVaults',
      canFind: true,
      canTag: true,
      canSnapshot: false,
    },
  ])
  expect(found).toEqual(
    expect.arrayContaining([
      ['BackupVault', 'vault'],
      ['BackupPlan', 'plan'],
      ['DedicatedHsm', 'hsm-0'],
    ]),
  )
  // The vault cannot be backed up, and the plan is backed up once.
  expect(jobs.map(({ ResourceName, State }) => [ResourceName, State]).toSorted()).toEqual(
    ['hsm-0', 'jobs-0', 'plan', 'set-0', 'store-0'].map((name) => [name, 'COMPLETED']),
  )
})

test('a protected resource is read by its ARN, encoded and raw', async () => {
  const graph = await open()
  const service = graph.service('backup')
  await makeAll(graph, 1)
  await makeVault(service)
  const ResourceArn = `${OWN}${stores.idOf('store-0')}`
  await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn,
    IamRoleArn: ROLE,
  })
  await graph.advance(0)

  const encoded = await service.rest(`GET /resources/${encodeURIComponent(ResourceArn)}`)
  const raw = await service.rest(`GET /resources/${ResourceArn}`)
  const missing = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn: `${ResourceArn}x`,
    IamRoleArn: ROLE,
  })

  expect(encoded.body).toMatchObject({
    ResourceArn,
    ResourceType: 'AWS::Polygraph::ConfigStore',
    ResourceName: 'store-0',
    LastBackupVaultArn: vaultArn('vault'),
  })
  expect(raw.body).toEqual(encoded.body)
  expect(refused(missing)).toEqual(refusal('ResourceNotFoundException'))
})

test('a role that permits nothing elsewhere backs nothing up elsewhere', async () => {
  const graph = await open()
  const service = graph.service('backup')
  await makeAll(graph, 1)
  await makeVault(service)
  await service.graphql(
    'mutation { putBackupRole(roleName: "own", permissions: ["backup:*"]) { roleArn } }',
  )

  const answer = await service.rest('PUT /backup-jobs', {
    BackupVaultName: 'vault',
    ResourceArn: `${VOICE}set-0`,
    IamRoleArn: `arn:aws:iam::${ACCOUNT}:role/own`,
  })

  // What the role does not permit to read is not there for it.
  expect(refused(answer)).toEqual(refusal('ResourceNotFoundException'))
})

test('controls about resources see those of all services', async () => {
  const graph = await open()
  const service = graph.service('backup')
  await makeAll(graph, 1)
  await select(graph, { Resources: [`${VOICE}*`] })
  await graph.advance(DAY_MS)
  await service.rest('POST /audit/frameworks', {
    FrameworkName: 'f',
    FrameworkControls: [
      'BACKUP_RESOURCES_PROTECTED_BY_BACKUP_PLAN',
      'BACKUP_LAST_RECOVERY_POINT_CREATED',
      'BACKUP_RESOURCES_PROTECTED_BY_BACKUP_VAULT_LOCK',
      'BACKUP_RESOURCES_IN_LOGICALLY_AIR_GAPPED_VAULT',
      'RESTORE_TIME_FOR_RESOURCES_MEET_TARGET',
    ].map((ControlName) => ({ ControlName })),
  })
  const evaluate = async () => {
    const { data } = await service.graphql(
      '{ backupFramework(frameworkName: "f") { evaluations { controlName resources { resourceArn isCompliant } } } }',
    )
    return data.backupFramework.evaluations.map(({ resources }: any) =>
      resources.filter((one: any) => one.isCompliant).map((one: any) => one.resourceArn),
    )
  }

  const now = await evaluate()
  await service.rest('PUT /backup-vaults/vault/vault-lock', {
    MinRetentionDays: 1,
    MaxRetentionDays: 9,
  })
  await graph.advance(HOUR_MS)
  const locked = await evaluate()

  const set = [`${VOICE}set-0`]
  expect(now).toEqual([set, set, [], [], []])
  expect(locked[2]).toEqual(set)
})
