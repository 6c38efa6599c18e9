// Taking content out of a database and putting it into one, in parts.
import { createHash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  add,
  CHANGE_MS,
  fill,
  graphRefusal,
  MANY,
  one,
  openShop,
  PLAIN,
  putReady,
  putServer,
  rowsOf,
  SERVERS,
  WAREHOUSE,
  wordsOf,
} from './shop.ts'

const PART_BYTES = 512 * 1024
const SHOP = `${MANY}/shop`

const exportPart = (
  service: TestService,
  more: { part?: number; version?: number } = {},
  id = SHOP,
) =>
  service.graphql(
    `query ($id: ID!, $part: Int, $version: Int) { sqlDatabaseContent(id: $id, part: $part, version: $version) {
      contentVersion sizeBytes sha256 part parts bytes } }`,
    { id, ...more },
  )

const importPart = (service: TestService, bytes: Buffer, part: number, more: object = {}) =>
  service.graphql(
    `mutation ($id: ID!, $sha256: String!, $sizeBytes: SafeInt!, $part: Int!, $bytes: String!) {
      importSqlDatabaseContent(id: $id, sha256: $sha256, sizeBytes: $sizeBytes, part: $part, bytes: $bytes) {
        parts receivedParts isComplete contentVersion } }`,
    {
      id: SHOP,
      sha256: sha256Of(bytes),
      sizeBytes: bytes.length,
      part,
      bytes: bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES).toString('base64'),
      ...more,
    },
  )

const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** A database that was made elsewhere, of at least so many bytes. */
function madeElsewhere(atLeast: number, word = 'elsewhere'): Buffer {
  const db = new DatabaseSync(':memory:')
  db.exec(
    `CREATE TABLE word (text TEXT); INSERT INTO word VALUES ('${word}'); CREATE TABLE filler (x)`,
  )
  const insert = db.prepare('INSERT INTO filler VALUES (randomblob(4000))')
  for (let n = 0; n * 4096 < atLeast; n++) insert.run()
  const bytes = Buffer.from(db.serialize())
  db.close()
  return bytes
}

async function openFilled() {
  const service = await openShop()
  await putReady(service, 'shop')
  await fill(service, 'shop')
  return service
}

test('what is taken out is a SQLite database that holds what the database holds', async () => {
  const service = await openFilled()

  const { data } = await exportPart(service)
  const { bytes, ...about } = data.sqlDatabaseContent

  const taken = Buffer.from(bytes, 'base64')
  expect(about).toEqual({
    contentVersion: 1,
    sizeBytes: 8192,
    sha256: sha256Of(taken),
    part: 0,
    parts: 1,
  })
  const db = new DatabaseSync(':memory:')
  db.deserialize(taken)
  expect(db.prepare('SELECT text FROM word').all()).toEqual([{ text: 'first' }])
})

test('a version that is named is taken out whatever happens meanwhile', async () => {
  const service = await openFilled()
  await add(service, 'shop', 'second')

  const old = await exportPart(service, { version: 1 })
  const none = await exportPart(service, { version: 9 })

  expect(old.data.sqlDatabaseContent.contentVersion).toBe(1)
  expect(graphRefusal(none)).toEqual([404, 'NotFound'])
})

test('a database in which nothing was written is nothing', async () => {
  const service = await openShop()
  await putReady(service, 'shop')

  const { data } = await exportPart(service)

  expect(data.sqlDatabaseContent).toEqual({
    contentVersion: 0,
    sizeBytes: 0,
    sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    part: 0,
    parts: 0,
    bytes: '',
  })
})

test('what is put in, in parts and in any order, is what the database holds, and what is taken out again', async () => {
  const service = await openFilled()
  const bytes = madeElsewhere(2.5 * PART_BYTES)

  const answers = []
  for (const part of [2, 0, 2, 1]) answers.push((await importPart(service, bytes, part)).data)
  const taken = []
  for (let part = 0; part < 3; part++) {
    const { data } = await exportPart(service, { part, version: 2 })
    taken.push(Buffer.from(data.sqlDatabaseContent.bytes, 'base64'))
  }

  expect(answers.map(({ importSqlDatabaseContent }) => importSqlDatabaseContent)).toEqual([
    { parts: 3, receivedParts: 1, isComplete: false, contentVersion: null },
    { parts: 3, receivedParts: 2, isComplete: false, contentVersion: null },
    { parts: 3, receivedParts: 2, isComplete: false, contentVersion: null },
    { parts: 3, receivedParts: 3, isComplete: true, contentVersion: 2 },
  ])
  expect(await wordsOf(service, 'shop')).toEqual(['elsewhere'])
  expect(sha256Of(Buffer.concat(taken))).toBe(sha256Of(bytes))
})

test('an import is a change like any other: what was there before can be restored', async () => {
  const service = await openFilled()
  await service.advance(60_000)
  await importPart(service, madeElsewhere(0), 0)

  await putReady(service, 'before', {
    ...PLAIN,
    properties: {
      createMode: 'PointInTimeRestore',
      sourceDatabaseId: SHOP,
      restorePointInTime: '2030-01-01T00:00:30Z',
    },
  })

  expect(await wordsOf(service, 'shop')).toEqual(['elsewhere'])
  expect(await wordsOf(service, 'before')).toEqual(['first'])
})

test('a database that was written with a write-ahead log is put in all the same', async () => {
  const service = await openFilled()
  const bytes = madeElsewhere(0)
  bytes[18] = bytes[19] = 2

  const { data } = await importPart(service, bytes, 0)

  expect(data.importSqlDatabaseContent.isComplete).toBe(true)
  expect(await wordsOf(service, 'shop')).toEqual(['elsewhere'])
})

test('bytes that are no database, or a damaged one, change nothing', async () => {
  const service = await openFilled()
  const damaged = madeElsewhere(100_000)
  damaged.fill(0x55, 3 * 4096, 6 * 4096)

  const nonsense = await importPart(service, Buffer.from('not a database'), 0)
  const broken = await importPart(service, damaged, 0)

  expect(graphRefusal(nonsense)).toEqual([400, 'InvalidContent'])
  expect(graphRefusal(broken)).toEqual([400, 'InvalidContent'])
  expect(await wordsOf(service, 'shop')).toEqual(['first'])
})

test('parts that together have another digest change nothing, and can be sent again', async () => {
  const service = await openFilled()
  const bytes = madeElsewhere(0)
  const other = madeElsewhere(0, 'other')

  const wrong = await importPart(service, bytes, 0, { bytes: other.toString('base64') })
  const right = await importPart(service, bytes, 0)

  expect(graphRefusal(wrong)).toEqual([400, 'InvalidContent'])
  expect(right.data.importSqlDatabaseContent.isComplete).toBe(true)
})

test.each([
  ['a digest that is none', { sha256: 'x' }],
  ['no size', { sizeBytes: 0 }],
  ['a size beyond what is kept', { sizeBytes: 64 * 1024 * 1024 + 1 }],
  ['a part that is none', { part: 1 }],
  ['a negative part', { part: -1 }],
  ['too few bytes', { bytes: 'AAAA' }],
  ['no base64', { bytes: '***' }],
])('an import with %s is refused', async (_why, more) => {
  const service = await openFilled()

  const answer = await importPart(service, madeElsewhere(0), 0, more)

  expect(graphRefusal(answer)).toEqual([400, 'Invalid'])
  expect(await wordsOf(service, 'shop')).toEqual(['first'])
})

test.each([{ part: 1 }, { part: -1 }])('an export of %j is refused', async (more) => {
  const service = await openFilled()

  expect(graphRefusal(await exportPart(service, more))).toEqual([400, 'Invalid'])
})

test('four uploads may be under way; what is not finished within an hour is forgotten', async () => {
  const service = await openFilled()
  const all = [1, 2, 3, 4, 5].map((n) => madeElsewhere(PART_BYTES, `upload ${n}`))
  const answers = []
  for (const bytes of all) answers.push(await importPart(service, bytes, 0))

  await service.advance(60 * 60 * 1000)
  const after = await importPart(service, all[4]!, 0)

  expect(answers.slice(0, 4).every(({ errors }) => errors === undefined)).toBe(true)
  expect(graphRefusal(answers[4]!)).toEqual([409, 'QuotaExceeded'])
  expect(after.data.importSqlDatabaseContent).toMatchObject({ receivedParts: 1 })
  const kept = await service.store.sql(`SELECT key FROM blob_version WHERE key LIKE 'upload/%'`)
  expect(kept).toHaveLength(1)
})

test("what is another's, paused or a secondary takes nothing in and, unless a secondary, gives nothing out", async () => {
  const service = await openFilled()
  await putServer(service, 'far')
  const properties = { createMode: 'Secondary', sourceDatabaseId: SHOP }
  await putReady(service, 'shop', { ...PLAIN, properties }, 'far')
  await putReady(service, 'dw', WAREHOUSE)
  await service.rest(`POST ${one('dw', 'pause')}`)
  await service.advance(CHANGE_MS)
  const bytes = madeElsewhere(0)
  const theirs = SHOP.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)
  const far = `${SERVERS}/far/databases/shop`

  for (const id of [theirs, `${MANY}/none`, 'shop']) {
    expect(graphRefusal(await exportPart(service, {}, id))).toEqual([404, 'ResourceNotFound'])
    expect(graphRefusal(await importPart(service, bytes, 0, { id }))).toEqual([
      404,
      'ResourceNotFound',
    ])
  }
  const dw = `${MANY}/dw`
  expect(graphRefusal(await exportPart(service, {}, dw))).toEqual([409, 'DatabaseNotOnline'])
  expect(graphRefusal(await importPart(service, bytes, 0, { id: dw }))).toEqual([
    409,
    'DatabaseNotOnline',
  ])
  expect(graphRefusal(await importPart(service, bytes, 0, { id: far }))).toEqual([
    409,
    'DatabaseReadOnly',
  ])
  expect((await exportPart(service, {}, far)).data.sqlDatabaseContent.sizeBytes).toBe(8192)
  expect(await rowsOf(service, 'shop', 'SELECT text FROM word')).toEqual([['first']])
})
