// What both engines do with records, given a way to run a statement.
import { isKey, keyOf } from './kind-table.ts'
import type { Sql, Table } from './kind-table.ts'
import { planCount, planList, whereOf } from './query-plan.ts'
import { pageOf, readPage, readPages } from './records-pages.ts'
import { searchOn } from './records-search.ts'
import { checkOneStatement } from './sql-text.ts'
import { setVersion } from './store.ts'
import type { Records, SqlRow } from './store.ts'
import { computedOf, recordOf } from './tables.ts'
import type { RecordTable, Tables } from './tables.ts'

/** `exactSql` is for statements of a service's own, whose integers may exceed what a number holds. */
export const recordsOn = (tables: Tables, sql: Sql, exactSql: Sql = sql): Records => ({
  ...readsOn(tables, sql),
  ...writesOn(tables, sql),
  search: searchOn(tables, sql),

  async sql(text, parameters = []) {
    checkOneStatement(text)
    return [...(await exactSql(text, parameters))]
  },
})

type Reads = Pick<Records, 'get' | 'getMany' | 'list' | 'listMany' | 'count'>

function readsOn(tables: Tables, sql: Sql): Reads {
  const { dialect } = tables

  return {
    async get(kind, key) {
      const { statements } = tables.of(kind)
      if (!isKey(key)) return undefined
      const rows = await sql(statements.get, [key])
      return rows.length === 0 ? undefined : recordOf(kind, rows[0]!)
    },

    async getMany(kind, keys) {
      const { statements } = tables.of(kind)
      const wanted = dialect.keysParameter([...new Set(keys.filter(isKey))])
      const found = new Map<string, SqlRow>()
      for (const row of await sql(statements.getMany, [wanted])) found.set(row['key'], row)
      // A key that is named twice gets two objects, since callers may change what they were handed.
      return keys.map((key) => {
        const row = found.get(key)
        return row && recordOf(kind, row)
      })
    },

    async list(kind, query) {
      const plan = planList(tables.of(kind), query, dialect)
      return pageOf(kind, query, await readPage(sql, plan, query.limit + 1, query.offset))
    },

    async listMany(kind, queries) {
      const table = tables.of(kind)
      const wanted = queries.map((query) => ({
        plan: planList(table, query, dialect),
        limit: query.limit + 1,
      }))
      const pages = await readPages(sql, wanted, dialect.engine)
      return pages.map((rows, at) => pageOf(kind, queries[at]!, rows))
    },

    async count(kind, query = {}) {
      const { from, segments } = planCount(tables.of(kind), query, dialect)
      if (segments.length === 0) return 0
      const { conditions, values } = segments[0]!
      const text = `SELECT count(*) AS count FROM ${from} ${whereOf(conditions)}`
      return (await sql(text, values))[0]!['count']
    },
  }
}

function writesOn(
  tables: Tables,
  sql: Sql,
): Pick<Records, 'insert' | 'save' | 'remove' | 'removeMany'> {
  const { dialect } = tables

  return {
    async insert(kind, record) {
      const table = tables.of(kind)
      return await write(table, table.statements.insert, record)
    },

    async save(kind, record, expected) {
      const table = tables.of(kind)
      if (expected === undefined) return await write(table, table.statements.save, record)
      return await write(table, table.statements.replace, record, expected)
    },

    async remove(kind, key) {
      const table = tables.of(kind)
      if (!isKey(key)) return false
      const rows = await sql(table.statements.remove, [key])
      await forgetText(table, rows)
      return rows.length > 0
    },

    async removeMany(kind, query) {
      const table = tables.of(kind)
      const { from, order, segments } = planList(table, query, dialect)
      let removed = 0
      for (const { conditions, values } of segments) {
        const rows = await sql(
          `DELETE FROM ${table.name} WHERE key IN (SELECT key FROM ${from} ${whereOf(conditions)}
           ORDER BY ${order} LIMIT ?) RETURNING ${dialect.rowId}`,
          [...values, query.limit - removed],
        )
        await forgetText(table, rows)
        removed += rows.length
        if (removed >= query.limit) break
      }
      return removed
    },
  }

  async function write(table: RecordTable, text: string, record: object, expected?: string) {
    const key = keyOf(table, record)
    const version = tables.newVersion()
    const values = [key, version, JSON.stringify(record), ...computedOf(tables, table, record)]
    // The statement that replaces names its record, and the version it must have, at its end.
    const rows = await sql(text, expected === undefined ? values : [...values, key, expected])
    if (rows.length === 0) return false
    if (table.text.length > 0) await dialect.text.put(sql, table, rows[0]!, record)
    setVersion(record, version)
    return true
  }

  async function forgetText(table: Table, rows: readonly SqlRow[]): Promise<void> {
    if (table.text.length > 0 && rows.length > 0) await dialect.text.forget(sql, table, rows)
  }
}
