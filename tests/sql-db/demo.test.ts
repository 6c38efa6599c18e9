// What the demo shows of databases.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-db.ts'
import { openForTest } from '../open.ts'
import { people, SUBSCRIPTION } from '../people.ts'

test('the demo makes a server, a pool and a database with a table, once and again', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const first = await subgraph.demo!(ctx)
  const again = await subgraph.demo!(ctx)

  const names = { serverName: 'demo-sql', elasticPoolName: 'demo-pool', databaseName: 'demo-shop' }
  expect([first, again]).toEqual([names, names])
  const id = `/subscriptions/${SUBSCRIPTION}/resourceGroups/polygraph-demo/providers/Vendor.Sql/servers/demo-sql/databases/demo-shop`
  const { data } = await service.graphql(
    `mutation { executeSql(id: "${id}", sql: "SELECT name, stock FROM product ORDER BY price") {
      results { rows } contentVersion } }`,
  )
  expect(data.executeSql).toEqual({
    results: [
      {
        rows: [
          ['Bell', 112],
          ['Pump', 60],
          ['Helmet', 41],
          ['Bicycle', 7],
        ],
      },
    ],
    contentVersion: 1,
  })
})
