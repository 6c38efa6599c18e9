// SQL on what a database holds: what it answers, what it may do, and where it ends.
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { openBlobs } from '../../resolvers/kernel/blobs.ts'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import {
  add,
  ask,
  fill,
  graphRefusal,
  MANY,
  one,
  openShop,
  PLAIN,
  putReady,
  rowsOf,
  wordsOf,
} from './shop.ts'

async function openDatabase() {
  const service = await openShop()
  await putReady(service, 'shop')
  return service
}

async function openFilled() {
  const service = await openDatabase()
  await fill(service, 'shop')
  return service
}

test('a script answers statement by statement, with columns, rows and changes', async () => {
  const service = await openDatabase()

  const { data } = await ask(
    service,
    'shop',
    `CREATE TABLE price (name TEXT PRIMARY KEY, cents INTEGER, picture BLOB);
     INSERT INTO price VALUES ('bell; small', 620, x'00ff'), ('pump', NULL, NULL);
     SELECT name, cents, picture, cents / 100.0 AS euros FROM price ORDER BY name;
     UPDATE price SET cents = 1 WHERE cents IS NULL RETURNING name`,
  )

  expect(data.executeSql).toEqual({
    results: [
      { columns: [], rows: [], hasMoreRows: false, changes: 0 },
      { columns: [], rows: [], hasMoreRows: false, changes: 2 },
      {
        columns: [
          { name: 'name', type: 'TEXT' },
          { name: 'cents', type: 'INTEGER' },
          { name: 'picture', type: 'BLOB' },
          { name: 'euros', type: null },
        ],
        rows: [
          ['bell; small', 620, { base64: 'AP8=' }, 6.2],
          ['pump', null, null, null],
        ],
        hasMoreRows: false,
        changes: 0,
      },
      {
        columns: [{ name: 'name', type: 'TEXT' }],
        rows: [['pump']],
        hasMoreRows: false,
        changes: 1,
      },
    ],
    contentVersion: 1,
    sizeBytes: 12288,
  })
})

test.each([
  ['by place', 'SELECT ?, ?, ?, ?, ?, ?', [1, 1.5, 'a', true, null, { base64: 'AP8=' }]],
  [
    'by name',
    'SELECT :a, @b, $c, :d, :e, :f',
    { a: 1, b: 1.5, c: 'a', d: true, e: null, f: { base64: 'AP8=' } },
  ],
])('parameters go %s, and every kind comes back as it went', async (_how, sql, parameters) => {
  const service = await openDatabase()

  const { data } = await ask(service, 'shop', sql, { parameters })

  expect(data.executeSql.results[0].rows).toEqual([[1, 1.5, 'a', 1, null, { base64: 'AP8=' }]])
})

test('whole numbers stay whole, and those that JSON cannot hold come as text', async () => {
  const service = await openDatabase()

  const rows = await rowsOf(service, 'shop', 'SELECT typeof(7), 9007199254740993, 7 / 2, 1e999')
  const { data } = await ask(service, 'shop', 'SELECT typeof(?)', { parameters: [7] })

  expect(rows).toEqual([['integer', '9007199254740993', 3, 'Infinity']])
  expect(data.executeSql.results[0].rows).toEqual([['integer']])
})

test('reading makes no version, a change makes one, and a change to the same makes none', async () => {
  const service = await openFilled()
  const versionAfter = async (sql: string) =>
    (await ask(service, 'shop', sql)).data.executeSql.contentVersion

  expect(await versionAfter('SELECT * FROM word')).toBe(1)
  expect(await versionAfter(`UPDATE word SET text = 'x' WHERE 0`)).toBe(1)
  expect(await versionAfter(`UPDATE word SET text = 'x'`)).toBe(2)
})

test('a script that fails changes nothing, and says which statement failed', async () => {
  const service = await openFilled()

  const answer = await ask(
    service,
    'shop',
    `INSERT INTO word VALUES ('lost'); SELECT * FROM nowhere; SELECT 1`,
  )

  expect(graphRefusal(answer)).toEqual([400, 'SqlError'])
  expect(answer.errors?.[0].message).toBe('Statement 2: no such table: nowhere.')
  expect(answer.errors?.[0].extensions.statement).toBe(2)
  expect(await wordsOf(service, 'shop')).toEqual(['first'])
})

test('constraints and foreign keys hold', async () => {
  const service = await openDatabase()
  await rowsOf(
    service,
    'shop',
    'CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a)',
  )

  const answer = await ask(service, 'shop', 'INSERT INTO b VALUES (7)')

  expect(answer.errors?.[0].message).toBe('Statement 1: FOREIGN KEY constraint failed.')
})

test('triggers, views, full text and transactions work', async () => {
  const service = await openDatabase()
  await rowsOf(
    service,
    'shop',
    `CREATE TABLE log (text); CREATE TABLE word (text);
     CREATE TRIGGER logged AFTER INSERT ON word BEGIN
       INSERT INTO log SELECT CASE WHEN new.text = 'a' THEN 'A' ELSE new.text END; DELETE FROM word; END;
     BEGIN; INSERT INTO word VALUES ('a'), ('b;c'); COMMIT;
     CREATE VIEW words AS SELECT text FROM log;
     CREATE VIRTUAL TABLE found USING fts5 (text); INSERT INTO found VALUES ('hello there')`,
  )

  expect(await rowsOf(service, 'shop', 'SELECT * FROM words')).toEqual([['A'], ['b;c']])
  expect(await rowsOf(service, 'shop', `SELECT text FROM found WHERE found MATCH 'hello'`)).toEqual(
    [['hello there']],
  )
  const open = await ask(service, 'shop', `BEGIN; INSERT INTO word VALUES ('lost')`)
  expect(graphRefusal(open)).toEqual([400, 'SqlError'])
})

const FORBIDDEN = [
  `ATTACH '/tmp/other.db' AS other`,
  `ATTACH ':memory:' AS other`,
  `VACUUM INTO '/tmp/copy.db'`,
  'VACUUM',
  'PRAGMA journal_mode = WAL',
  'PRAGMA writable_schema = ON',
  'PRAGMA max_page_count = 1000000',
  `PRAGMA temp_store_directory = '/tmp'`,
  'PRAGMA trusted_schema = ON',
  `SELECT load_extension('/tmp/x.so')`,
  `SELECT fts3_tokenizer('simple', x'00')`,
  'CREATE VIRTUAL TABLE t USING dbstat',
]

test('what reaches beyond the database is forbidden', async () => {
  const service = await openFilled()

  for (const sql of FORBIDDEN) {
    const answer = await ask(service, 'shop', sql)

    expect([sql, ...graphRefusal(answer)]).toEqual([sql, 403, 'SqlForbidden'])
  }
  expect(await wordsOf(service, 'shop')).toEqual(['first'])
})

test('there are no functions for files, no writing of the schema, and no value without end', async () => {
  const service = await openFilled()

  for (const sql of [
    `UPDATE sqlite_master SET sql = 'x'`,
    `SELECT readfile('/etc/passwd')`,
    `SELECT writefile('/tmp/x', 'y')`,
    'SELECT hex(zeroblob(100000000))',
  ]) {
    const answer = await ask(service, 'shop', sql)

    expect([sql, ...graphRefusal(answer)]).toEqual([sql, 400, 'SqlError'])
  }
})

test('what describes a database may be asked', async () => {
  const service = await openFilled()

  expect(await rowsOf(service, 'shop', 'PRAGMA table_info(word)')).toEqual([
    [0, 'text', 'TEXT', 0, null, 0],
  ])
  expect(
    await rowsOf(service, 'shop', `SELECT name FROM pragma_table_list WHERE schema = 'main'`),
  ).toEqual([['word'], ['sqlite_schema']])
  expect(await rowsOf(service, 'shop', 'PRAGMA integrity_check')).toEqual([['ok']])
})

test('statements that do not end are ended after five seconds, change nothing, and hinder nobody', async () => {
  const service = await openFilled()
  const endless =
    'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n'
  await putReady(service, 'other')

  const began = performance.now()
  const running = ask(service, 'shop', `INSERT INTO word VALUES ('lost'); ${endless}`)
  const beside = await rowsOf(service, 'other', 'SELECT 1')
  const besideMs = performance.now() - began
  const answer = await running

  expect(beside).toEqual([[1]])
  expect(besideMs).toBeLessThan(4_000)
  expect(graphRefusal(answer)).toEqual([408, 'SqlTimedOut'])
  expect(await wordsOf(service, 'shop')).toEqual(['first'])
}, 20_000)

test('an answer holds a thousand rows, and a mebibyte', async () => {
  const service = await openDatabase()
  const numbers = (n: number, value: string) =>
    `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT ${n}) SELECT ${value} FROM n`
  const resultOf = async (sql: string) =>
    (await ask(service, 'shop', sql)).data.executeSql.results[0]

  const all = await resultOf(numbers(1_000, 'x'))
  const more = await resultOf(numbers(1_001, 'x'))
  const large = await resultOf(numbers(1_000, `printf('%.*c', 10000, 'x')`))

  expect([all.rows.length, all.hasMoreRows]).toEqual([1_000, false])
  expect([more.rows.length, more.hasMoreRows]).toEqual([1_000, true])
  expect([large.rows.length, large.hasMoreRows]).toEqual([104, true])
})

test('a database holds what its size allows and no more, and what does not fit changes nothing', async () => {
  const service = await openShop()
  await putReady(service, 'shop', { ...PLAIN, sku: { name: 'Basic' } })
  await fill(service, 'shop')

  const answer = await ask(
    service,
    'shop',
    `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 9)
     INSERT INTO word SELECT zeroblob(8000000) FROM n`,
  )

  expect(graphRefusal(answer)).toEqual([409, 'DatabaseFull'])
  expect(answer.errors?.[0].message).toContain('67108864')
  expect(await wordsOf(service, 'shop')).toEqual(['first'])
})

const MALFORMED: [what: string, sql: string, parameters?: unknown][] = [
  ['no statement', ' ; -- nothing'],
  ['too many statements', 'SELECT 1;'.repeat(101)],
  ['parameters of a script', 'SELECT ?; SELECT 2', [1]],
  ['a parameter of no kind', 'SELECT ?', [{ a: 1 }]],
  ['parameters that are text', 'SELECT ?', 'x'],
  ['base64 that is none', 'SELECT ?', [{ base64: '*' }]],
]

test('what is no statement, and parameters that are none, are refused', async () => {
  const service = await openDatabase()

  for (const [what, sql, parameters] of MALFORMED) {
    const answer = await ask(service, 'shop', sql, { parameters })

    expect([what, ...graphRefusal(answer)]).toEqual([what, 400, 'Invalid'])
  }
})

test('parameters that are too many or unknown are refused', async () => {
  const service = await openDatabase()

  const many = await ask(service, 'shop', 'SELECT ?', { parameters: [1, 2] })
  const unknown = await ask(service, 'shop', 'SELECT :a', { parameters: { b: 1 } })

  expect(graphRefusal(many)).toEqual([400, 'SqlError'])
  expect(graphRefusal(unknown)).toEqual([400, 'SqlError'])
})

test("what is not there, not ready or another's answers no SQL", async () => {
  const service = await openFilled()
  await service.rest(`PUT ${one('new')}`, PLAIN)
  const theirs = `${MANY}/shop`.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)
  const run = (id: string) =>
    service.graphql(`mutation ($id: ID!) { executeSql(id: $id, sql: "SELECT 1") { sizeBytes } }`, {
      id,
    })

  expect(graphRefusal(await run(`${MANY}/none`))).toEqual([404, 'ResourceNotFound'])
  expect(graphRefusal(await run('shop'))).toEqual([404, 'ResourceNotFound'])
  expect(graphRefusal(await run(theirs))).toEqual([404, 'ResourceNotFound'])
  expect(graphRefusal(await run(`${MANY}/new`))).toEqual([409, 'DatabaseNotOnline'])
  expect(graphRefusal(await ask(service, 'shop', 'SELECT 1', { credential: 'bob' }))).toEqual([
    404,
    'ResourceNotFound',
  ])
  expect(graphRefusal(await ask(service, 'shop', 'SELECT 1', { credential: null }))).toEqual([
    401,
    'Unauthenticated',
  ])
})

test('those who write at the same time lose nothing', async () => {
  const service = await openFilled()
  const words = Array.from({ length: 20 }, (_, n) => `word ${n}`)

  await Promise.all(words.map((word) => add(service, 'shop', word)))

  expect((await wordsOf(service, 'shop')).toSorted()).toEqual(['first', ...words].toSorted())
})

/** Adds a word to the only content of a store, as another process would. */
async function addBeside(store: Store, word: string) {
  const blobs = openBlobs({ clock: stillClock('2030-01-01T00:00:01Z') })
  const [latest] = await store.sql('SELECT key, version FROM blob_version ORDER BY version DESC')
  const db = new DatabaseSync(':memory:')
  db.deserialize((await blobs.read(store, latest!['key'], latest!['version']))!)
  db.prepare('INSERT INTO word VALUES (?)').run(word)
  await store.transaction((tx) => blobs.write(tx, latest!['key'], db.serialize()))
  db.close()
}

test('a change that another process made meanwhile is not overwritten: the statements run again', async () => {
  let interfere: (() => Promise<void>) | undefined
  const service = await openShop({
    wrap: (store) => ({
      ...store,
      // It comes between reading the content and writing it.
      async transaction(step) {
        await interfere?.()
        return store.transaction(step)
      },
    }),
  })
  await putReady(service, 'shop')
  await fill(service, 'shop')
  interfere = async () => {
    interfere = undefined
    await addBeside(service.store, 'theirs')
  }

  const { data } = await ask(service, 'shop', `INSERT INTO word VALUES ('ours')`)

  expect(interfere).toBeUndefined()
  expect(data.executeSql.contentVersion).toBe(3)
  expect(await wordsOf(service, 'shop')).toEqual(['first', 'theirs', 'ours'])
})

test('whoever is always overtaken is told so, and loses nothing of the others', async () => {
  let isOvertaken = false
  const service = await openShop({
    wrap: (store) => ({
      ...store,
      async transaction(step) {
        if (isOvertaken) await addBeside(store, 'theirs')
        return store.transaction(step)
      },
    }),
  })
  await putReady(service, 'shop')
  await fill(service, 'shop')

  isOvertaken = true
  const answer = await ask(service, 'shop', `INSERT INTO word VALUES ('ours')`)
  isOvertaken = false

  expect(graphRefusal(answer)).toEqual([409, 'ContentConflict'])
  expect(await wordsOf(service, 'shop')).toEqual(['first', ...Array(10).fill('theirs')])
})
