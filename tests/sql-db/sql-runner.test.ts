// The processes that run SQL.
import { expect, test } from 'vitest'
import { openSqlRunner } from '../../resolvers/sql-db/sql-runner.ts'
import { statementsOf } from '../../resolvers/sql-db/statements.ts'

const ENDLESS =
  'WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n'
const request = (sql: string) => ({
  statements: statementsOf(sql),
  isReadOnly: false,
  sizeBytesMax: 1024 * 1024,
  rowsMax: 10,
  resultBytesMax: 1000,
})
const rowsOf = (answer: any) => answer.results.at(-1).rows

test('a process that takes too long is killed, and the next request gets another', async () => {
  const runner = openSqlRunner({ processesMax: 1, executionMsMax: 200 })
  await runner.run(request('SELECT 1'))

  const endless = await runner.run(request(ENDLESS)).catch((error: unknown) => error)
  const next = await runner.run(request('SELECT 2'))

  expect(endless).toMatchObject({ code: 'SqlTimedOut', status: 408 })
  expect(rowsOf(next)).toEqual([[2n]])
  expect(runner.stats()).toEqual({ started: 2, waiting: 0 })
})

test('requests share a process, one after the other, and nothing of one is seen by the next', async () => {
  const runner = openSqlRunner({ processesMax: 1 })

  const answers = await Promise.all([
    runner.run(request('CREATE TABLE a (x); CREATE TEMP TABLE b (y)')),
    runner.run(request('SELECT count(*) FROM sqlite_master')),
    runner.run(request('SELECT count(*) FROM sqlite_temp_master')),
  ])

  expect(rowsOf(answers[1])).toEqual([[0n]])
  expect(rowsOf(answers[2])).toEqual([[0n]])
  expect(runner.stats().started).toBe(1)
})

test('more requests than may wait are refused', async () => {
  const runner = openSqlRunner({ processesMax: 1, queueMax: 1 })

  const running = runner.run(request('SELECT 1'))
  const waiting = runner.run(request('SELECT 2'))
  const refused = await runner.run(request('SELECT 3')).catch((error: unknown) => error)

  expect(refused).toMatchObject({ code: 'Unavailable', status: 503 })
  expect([rowsOf(await running), rowsOf(await waiting)]).toEqual([[[1n]], [[2n]]])
})

test('memory has an end: what wants more is refused', async () => {
  const runner = openSqlRunner({ processesMax: 1, executionMsMax: 10_000 })

  const answer: any = await runner.run(
    request(`CREATE TEMP TABLE large AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
      SELECT zeroblob(8000000) FROM n`),
  )

  expect(answer.refusal).toMatchObject({ why: 'error', message: 'out of memory' })
}, 20_000)

test.each([
  ['SELECT 1', ['SELECT 1']],
  ['SELECT 1; SELECT 2;', ['SELECT 1', 'SELECT 2']],
  [`SELECT ';', ";", [;], \`;\`; SELECT 2`, [`SELECT ';', ";", [;], \`;\``, 'SELECT 2']],
  [`SELECT 'it''s; so'; SELECT 2`, [`SELECT 'it''s; so'`, 'SELECT 2']],
  ['-- a; b\nSELECT 1 /* ; */; -- end', ['-- a; b\nSELECT 1 /* ; */']],
  ['/* never ends; SELECT 1', []],
  [`SELECT 1; SELECT 'never; ends`, ['SELECT 1', `SELECT 'never; ends`]],
  [';;  ; ', []],
  [
    'CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; DELETE FROM b; END; SELECT 1',
    [
      'CREATE TRIGGER t AFTER INSERT ON a BEGIN SELECT CASE 1 WHEN 1 THEN 2 END; DELETE FROM b; END',
      'SELECT 1',
    ],
  ],
  [
    'create temp trigger t after insert on a begin select 1; end;select 2',
    ['create temp trigger t after insert on a begin select 1; end', 'select 2'],
  ],
  ['CREATE TABLE trigger_log (x); SELECT 2', ['CREATE TABLE trigger_log (x)', 'SELECT 2']],
])('%s is split where its statements end', (sql, statements) => {
  expect(statementsOf(sql)).toEqual(statements)
})

test.each(['[', "'", '"', '`', '/*', `'"\`[`, 'a;', '--'])(
  'however often %s is repeated, splitting takes no time',
  (mark) => {
    const sql = mark.repeat(65_536 / mark.length)
    const began = performance.now()

    statementsOf(sql)

    expect(performance.now() - began).toBeLessThan(1_000)
  },
)
