// What a new database can be made from, and that it really holds what that held.
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  add,
  ask,
  CHANGE_MS,
  DAY_MS,
  fill,
  follow,
  graphRefusal,
  MANY,
  one,
  openShop,
  PLAIN,
  POOL,
  putReady,
  putServer,
  refusal,
  rowsOf,
  SERVER,
  SERVERS,
  WAREHOUSE,
  wordsOf,
} from './shop.ts'

const SHOP = `${MANY}/shop`
const from = (createMode: string, more: object = {}, sourceDatabaseId = SHOP) => ({
  ...PLAIN,
  properties: { createMode, sourceDatabaseId, ...more },
})

/** A database that got a word each minute: first at 00:01, second at 00:02, third at 00:03. */
async function openHistory() {
  const service = await openShop()
  await putReady(service, 'shop', {
    ...PLAIN,
    sku: { name: 'S3' },
    properties: { collation: 'French_CI_AS' },
  })
  await service.advance(59_000)
  await fill(service, 'shop', 'first')
  for (const word of ['second', 'third']) {
    await service.advance(60_000)
    await add(service, 'shop', word)
  }
  await service.advance(60_000)
  return service
}

test('a copy holds what its source held when it was made, and is like it', async () => {
  const service = await openHistory()

  const { status, body } = await service.rest(`PUT ${one('copy')}`, from('Copy'))
  await service.advance(CHANGE_MS)
  await add(service, 'shop', 'later')
  await add(service, 'copy', 'own')

  expect([status, body.properties.status]).toEqual([202, 'Copying'])
  expect(await wordsOf(service, 'copy')).toEqual(['first', 'second', 'third', 'own'])
  expect(await wordsOf(service, 'shop')).toEqual(['first', 'second', 'third', 'later'])
  const { body: copy } = await service.rest(`GET ${one('copy')}`)
  expect(copy.sku.name).toBe('S3')
  expect(copy.properties).toMatchObject({ status: 'Online', collation: 'French_CI_AS' })
})

test('a copy goes to another server and has another objective where that is asked for', async () => {
  const service = await openHistory()
  await putServer(service, 'other', 'eastus')

  await putReady(
    service,
    'copy',
    { ...from('Copy'), location: 'eastus', sku: { name: 'P1' } },
    'other',
  )

  expect(await wordsOf(service, 'copy', 'other')).toEqual(['first', 'second', 'third'])
})

test('a copy of a pooled database stays in the pool, and leaves it on another server', async () => {
  const service = await openShop()
  await putServer(service, 'other')
  await putReady(service, 'shop', { ...PLAIN, properties: { elasticPoolId: POOL } })

  const near = await putReady(service, 'copy', from('Copy'))
  const far = await putReady(service, 'copy', from('Copy'), 'other')

  expect(near.properties.elasticPoolId).toBe(POOL)
  expect(far.properties.elasticPoolId).toBeUndefined()
  expect(far.sku).toEqual({ name: 'S0', tier: 'Standard', capacity: 10 })
})

test('a copy of a database in which nothing was written is empty', async () => {
  const service = await openShop()
  await putReady(service, 'shop')
  await putReady(service, 'copy', from('Copy'))

  expect(await rowsOf(service, 'copy', 'SELECT count(*) FROM sqlite_master')).toEqual([[0]])
})

test('a copy whose source goes meanwhile fails, says why, and leaves no database behind', async () => {
  const service = await openHistory()
  const { headers } = await service.rest(`PUT ${one('copy')}`, from('Copy'))
  await service.rest(`DELETE ${one('shop')}`)
  await service.store.sql('DELETE FROM dropped_databases')
  await service.store.sql('DELETE FROM sql_databases WHERE key LIKE ?', ['%/shop'])

  await service.advance(CHANGE_MS)

  const status = await follow(service, headers['vendor-asyncoperation'])
  expect(status.body).toMatchObject({
    status: 'Failed',
    error: { code: 'SourceDatabaseNotFound' },
  })
  expect(refusal(await follow(service, headers.location))).toEqual([409, 'SourceDatabaseNotFound'])
  expect((await service.rest(`GET ${one('copy')}`)).status).toBe(404)
})

test.each([
  ['2030-01-01T00:01:00.000Z', ['first']],
  ['2030-01-01T00:01:59.999Z', ['first']],
  ['2030-01-01T00:02:00Z', ['first', 'second']],
  ['2030-01-01T01:03:30+01:00', ['first', 'second', 'third']],
])('a restore to %s holds what the database held then', async (restorePointInTime, words) => {
  const service = await openHistory()

  const { status, body } = await service.rest(
    `PUT ${one('then')}`,
    from('PointInTimeRestore', { restorePointInTime }),
  )
  await service.advance(CHANGE_MS)

  expect([status, body.properties.status]).toEqual([202, 'Restoring'])
  expect(await wordsOf(service, 'then')).toEqual(words)
  expect(await wordsOf(service, 'shop')).toEqual(['first', 'second', 'third'])
})

test('a restore to a moment before the first change is empty', async () => {
  const service = await openHistory()

  await putReady(
    service,
    'then',
    from('PointInTimeRestore', { restorePointInTime: '2030-01-01T00:00:30Z' }),
  )

  expect(await rowsOf(service, 'then', 'SELECT count(*) FROM sqlite_master')).toEqual([[0]])
})

test.each([
  ['before the database was there', '2029-12-31T23:59:59Z'],
  ['in the future', '2030-01-01T00:04:00.001Z'],
])('a restore to a moment %s is refused', async (_why, restorePointInTime) => {
  const service = await openHistory()

  const answer = await service.rest(
    `PUT ${one('then')}`,
    from('PointInTimeRestore', { restorePointInTime }),
  )

  expect(refusal(answer)).toEqual([400, 'InvalidRestorePointInTime'])
  expect(answer.body.error.message).toBe(
    'restorePointInTime must be from 2030-01-01T00:00:01.000Z to 2030-01-01T00:04:00.000Z.',
  )
})

test('what a database held is kept for the retention of its tier, and no longer', async () => {
  const service = await openShop()
  await putReady(service, 'shop', { ...PLAIN, sku: { name: 'Basic' } })
  await fill(service, 'shop')
  await service.advance(4 * DAY_MS)
  await add(service, 'shop', 'second')
  const early = from('PointInTimeRestore', { restorePointInTime: '2030-01-02T00:00:00Z' })

  await putReady(service, 'in-time', { ...early, sku: { name: 'Basic' } })
  await service.advance(4 * DAY_MS)
  const late = await service.rest(`PUT ${one('late')}`, early)
  await add(service, 'shop', 'third')
  const { body } = await service.rest(`GET ${one('shop')}`)
  const kept = await service.store.sql(
    `SELECT version FROM blob_version WHERE key = ? ORDER BY version`,
    [body.properties.databaseId],
  )

  expect(await wordsOf(service, 'in-time')).toEqual(['first'])
  expect(refusal(late)).toEqual([400, 'InvalidRestorePointInTime'])
  expect(body.properties.earliestRestoreDate).toBe('2030-01-02T00:00:02.000Z')
  // The first is what the database held when the time that is kept began.
  expect(kept).toEqual([{ version: 1 }, { version: 2 }, { version: 3 }])
})

test('what nobody can restore any longer is forgotten with the next change', async () => {
  const service = await openShop()
  const { properties } = await putReady(service, 'shop', { ...PLAIN, sku: { name: 'Basic' } })
  await fill(service, 'shop')
  await add(service, 'shop', 'second')
  await service.advance(8 * DAY_MS)

  await add(service, 'shop', 'third')

  const kept = await service.store.sql(
    'SELECT version FROM blob_version WHERE key = ? ORDER BY version',
    [properties.databaseId],
  )
  expect(kept).toEqual([{ version: 2 }, { version: 3 }])
})

test('a deleted database is restored by the id that the graph lists, and by its name and deletion date', async () => {
  const service = await openHistory()
  await service.rest(`DELETE ${one('shop')}`)
  await service.advance(CHANGE_MS)
  const listed = await service.graphql(
    `{ sqlServer(subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop", serverName: "main") {
      droppedDatabases { nodes { id name databaseName deletionDate } } } }`,
  )
  const [dropped] = listed.data.sqlServer.droppedDatabases.nodes

  await putReady(service, 'by-id', {
    ...PLAIN,
    properties: { createMode: 'Restore', restorableDroppedDatabaseId: dropped.id },
  })
  await putReady(service, 'by-source-id', from('Restore', {}, dropped.id))
  await putReady(
    service,
    'by-date',
    from('Restore', { sourceDatabaseDeletionDate: dropped.deletionDate }),
  )
  await putReady(
    service,
    'earlier',
    from('Restore', { restorePointInTime: '2030-01-01T00:02:00Z' }, dropped.id),
  )

  expect(dropped).toEqual({
    id: `${SERVER}/restorableDroppedDatabases/shop,135379298410000000`,
    name: 'shop,135379298410000000',
    databaseName: 'shop',
    deletionDate: '2030-01-01T00:04:01.000Z',
  })
  for (const name of ['by-id', 'by-source-id', 'by-date']) {
    expect(await wordsOf(service, name)).toEqual(['first', 'second', 'third'])
  }
  expect(await wordsOf(service, 'earlier')).toEqual(['first', 'second'])
})

test('a deleted database is gone for good, with its bytes, when its retention ends', async () => {
  const service = await openHistory()
  await service.rest(`DELETE ${one('shop')}`)
  await service.advance(CHANGE_MS)
  const deletionDate = '2030-01-01T00:04:01.000Z'

  await service.advance(35 * DAY_MS)

  const answer = await service.rest(
    `PUT ${one('back')}`,
    from('Restore', { sourceDatabaseDeletionDate: deletionDate }),
  )
  expect(refusal(answer)).toEqual([404, 'SourceDatabaseNotFound'])
  expect(await service.store.sql('SELECT count(*) AS left_over FROM blob_part')).toEqual([
    { left_over: 0 },
  ])
  expect(await service.store.sql('SELECT count(*) AS left_over FROM blob_version')).toEqual([
    { left_over: 0 },
  ])
})

test('a recovery holds the newest content, on any server', async () => {
  const service = await openHistory()
  await putServer(service, 'other')

  await putReady(service, 'back', from('Recovery'), 'other')
  await putReady(service, 'again', {
    ...PLAIN,
    properties: {
      createMode: 'Recovery',
      recoverableDatabaseId: `${SERVER}/recoverableDatabases/shop`,
    },
  })

  expect(await wordsOf(service, 'back', 'other')).toEqual(['first', 'second', 'third'])
  expect(await wordsOf(service, 'again')).toEqual(['first', 'second', 'third'])
})

async function openReplicated(mode = 'Secondary'): Promise<TestService> {
  const service = await openHistory()
  await putServer(service, 'far', 'eastus')
  await putReady(service, 'shop', { ...from(mode), location: 'eastus' }, 'far')
  return service
}

test.each(['Secondary', 'OnlineSecondary'])(
  'a %s holds what its primary holds and follows it',
  async (mode) => {
    const service = await openReplicated(mode)
    const seeded = await wordsOf(service, 'shop', 'far')

    await add(service, 'shop', 'fourth')
    const before = await wordsOf(service, 'shop', 'far')
    await service.advance(1_000)

    expect(seeded).toEqual(['first', 'second', 'third'])
    expect(before).toEqual(['first', 'second', 'third'])
    expect(await wordsOf(service, 'shop', 'far')).toEqual(['first', 'second', 'third', 'fourth'])
  },
)

test('a secondary is read only, has no history of its own, and is deleted at once', async () => {
  const service = await openReplicated()
  const far = `${SERVERS}/far/databases/shop`

  const written = await ask(service, 'shop', 'DELETE FROM word', { server: 'far' })
  const restored = await service.rest(`PUT ${one('then', '', 'far')}`, {
    ...from('PointInTimeRestore', { restorePointInTime: '2030-01-01T00:04:00Z' }, far),
    location: 'eastus',
  })
  const { body } = await service.rest(`GET ${one('shop', '', 'far')}`)
  const deleted = await service.rest(`DELETE ${one('shop', '', 'far')}`)

  expect(graphRefusal(written)).toEqual([409, 'DatabaseReadOnly'])
  expect(refusal(restored)).toEqual([400, 'UnsupportedCreateMode'])
  expect(body.properties.earliestRestoreDate).toBeUndefined()
  expect(deleted.status).toBe(200)
  expect(await wordsOf(service, 'shop')).toEqual(['first', 'second', 'third'])
})

test('a secondary whose primary is deleted is on its own, and can be written', async () => {
  const service = await openReplicated()

  await service.rest(`DELETE ${one('shop')}`)
  await service.advance(CHANGE_MS)
  await rowsOf(service, 'shop', `INSERT INTO word VALUES ('own')`, 'far')

  expect(await wordsOf(service, 'shop', 'far')).toEqual(['first', 'second', 'third', 'own'])
  const { body } = await service.rest(`GET ${one('shop', '', 'far')}`)
  expect(body.properties.earliestRestoreDate).toBe('2030-01-01T00:04:02.000Z')
})

test('a database has at most four secondaries, each on a server of its own', async () => {
  const service = await openHistory()
  const answers = []
  for (let n = 1; n <= 5; n++) {
    await putServer(service, `far-${n}`)
    answers.push(await service.rest(`PUT ${one('shop', '', `far-${n}`)}`, from('Secondary')))
  }

  expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202, 409])
  expect(refusal(answers[4]!)).toEqual([409, 'QuotaExceeded'])
})

test.each([
  ['on the server of its primary', 'shop-2', 'main', SHOP],
  ['with another name', 'other', 'far-2', SHOP],
  ['of a secondary', 'shop', 'far-2', `${SERVERS}/far/databases/shop`],
])('a secondary %s is refused', async (_why, name, server, source) => {
  const service = await openReplicated()
  await putServer(service, 'far-2')

  const answer = await service.rest(`PUT ${one(name, '', server)}`, from('Secondary', {}, source))

  expect(refusal(answer)).toEqual([400, 'UnsupportedCreateMode'])
})

test('a secondary of another tier than its primary is refused', async () => {
  const service = await openHistory()
  await putServer(service, 'far')

  const answer = await service.rest(`PUT ${one('shop', '', 'far')}`, {
    ...from('Secondary'),
    sku: { name: 'P1' },
  })

  expect(refusal(answer)).toEqual([400, 'FeatureNotSupportedForTier'])
})

test.each(['Copy', 'Secondary', 'OnlineSecondary'])(
  '%s of a data warehouse is refused',
  async (mode) => {
    const service = await openShop()
    await putServer(service, 'far')
    await putReady(service, 'shop', WAREHOUSE)

    const answer = await service.rest(`PUT ${one('shop', '', 'far')}`, from(mode))

    expect(refusal(answer)).toEqual([400, 'FeatureNotSupportedForTier'])
  },
)

test('a data warehouse is restored to a moment, also while it is paused', async () => {
  const service = await openShop()
  await putReady(service, 'shop', WAREHOUSE)
  await fill(service, 'shop')
  await service.rest(`POST ${one('shop', 'pause')}`)
  await service.advance(CHANGE_MS)

  await putReady(
    service,
    'then',
    from('PointInTimeRestore', { restorePointInTime: '2030-01-01T00:00:01Z' }),
  )

  expect(await wordsOf(service, 'then')).toEqual(['first'])
})

test.each([
  'RestoreExternalBackup',
  'RestoreExternalBackupSecondary',
  'RestoreLongTermRetentionBackup',
])('%s is refused, since no such backup is kept', async (mode) => {
  const service = await openShop()

  const answer = await service.rest(`PUT ${one('new')}`, {
    ...PLAIN,
    properties: {
      createMode: mode,
      recoveryServicesRecoveryPointId: '/x',
      longTermRetentionBackupResourceId: '/y',
    },
  })

  expect(refusal(answer)).toEqual([400, 'UnsupportedCreateMode'])
})

test.each([
  ['without a source', 'Copy', { sourceDatabaseId: undefined }, 400, 'InvalidRequestContent'],
  ['of nothing', 'Copy', { sourceDatabaseId: `${MANY}/none` }, 404, 'SourceDatabaseNotFound'],
  ['of no database', 'Copy', { sourceDatabaseId: SERVER }, 404, 'SourceDatabaseNotFound'],
  [
    "of another's database",
    'Copy',
    { sourceDatabaseId: SHOP.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION) },
    404,
    'SourceDatabaseNotFound',
  ],
  [
    'of nothing',
    'PointInTimeRestore',
    { sourceDatabaseId: `${MANY}/none` },
    404,
    'SourceDatabaseNotFound',
  ],
  ['without a moment', 'PointInTimeRestore', {}, 400, 'InvalidRestorePointInTime'],
  ['without a deletion date', 'Restore', {}, 400, 'InvalidRequestContent'],
  [
    'of what was not deleted',
    'Restore',
    { sourceDatabaseDeletionDate: '2030-01-01T00:00:00Z' },
    404,
    'SourceDatabaseNotFound',
  ],
  [
    'of nothing',
    'Recovery',
    { sourceDatabaseId: `${SERVER}/recoverableDatabases/none` },
    404,
    'SourceDatabaseNotFound',
  ],
])('a database made %s by %s is refused', async (_why, mode, more, status, code) => {
  const service = await openHistory()

  const answer = await service.rest(`PUT ${one('new')}`, from(mode, more))

  expect(refusal(answer)).toEqual([status, code])
  expect((await service.rest(`GET ${one('new')}`)).status).toBe(404)
})

test('a restore goes to the server of its source', async () => {
  const service = await openHistory()
  await putServer(service, 'other')

  const answer = await service.rest(
    `PUT ${one('then', '', 'other')}`,
    from('PointInTimeRestore', { restorePointInTime: '2030-01-01T00:02:00Z' }),
  )

  expect(refusal(answer)).toEqual([400, 'UnsupportedCreateMode'])
})

test.each(['Copy', 'PointInTimeRestore', 'Secondary'])(
  '%s never replaces a database that is there',
  async (mode) => {
    const service = await openHistory()
    await putReady(service, 'taken')

    const answer = await service.rest(`PUT ${one('taken')}`, from(mode))

    expect(refusal(answer)).toEqual([409, 'DatabaseAlreadyExists'])
    expect(await rowsOf(service, 'taken', 'SELECT count(*) FROM sqlite_master')).toEqual([[0]])
  },
)

test('a database that is not ready cannot be copied', async () => {
  const service = await openShop()
  await service.rest(`PUT ${one('shop')}`, PLAIN)

  const answer = await service.rest(`PUT ${one('copy')}`, from('Copy'))

  expect(refusal(answer)).toEqual([409, 'DatabaseNotOnline'])
})

test('the graph restores too: a moment is a moment there', async () => {
  const service = await openHistory()

  const { data, errors } = await service.graphql(
    `mutation { putSqlDatabase(subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Shop", serverName: "main",
      databaseName: "then", parameters: { location: "westus", properties: { createMode: PointInTimeRestore,
        sourceDatabaseId: "${SHOP}", restorePointInTime: "2030-01-01T00:02:00Z" } }) { properties { status } } }`,
  )
  await service.advance(CHANGE_MS)

  expect(errors).toBeUndefined()
  expect(data.putSqlDatabase.properties.status).toBe('Restoring')
  expect(await wordsOf(service, 'then')).toEqual(['first', 'second'])
})
