// The whole life of diagnostics, on both stores.
import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/diagnostics.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { FULL, list, match, one, openWithApi, PLACE, PLAIN } from './apis.ts'

describe.each(engines)('on $engine', ({ database }) => {
  test('diagnostics are made, filtered, changed, joined and removed', async () => {
    const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
    const service = await openWithApi({ store })
    for (const name of ['Alpha', 'beta', 'Gamma']) await service.rest(`PUT ${one(name)}`, PLAIN)

    const filtered = await service.rest(
      `GET ${list({ $filter: "contains(name,'A') and name ne 'beta'", $top: 1, $skip: 1 })}`,
    )
    const paged = await service.rest(`GET ${list({ $top: 2 })}`)
    const { headers } = await service.rest(`HEAD ${one('beta')}`)
    const changed = await service.rest(`PATCH ${one('beta')}`, FULL, match(headers.etag))
    const stale = await service.rest(`DELETE ${one('beta')}`, undefined, match(headers.etag))
    const joined = await service.graphql(`{ apiManagementService(${PLACE}) {
      diagnostics(first: 2) { nodes { name location } pageInfo { hasNextPage } } } }`)
    const removed = await service.rest(`DELETE ${one('BETA')}`, undefined, match())

    expect(filtered.body.value.map(({ name }: any) => name)).toEqual(['Gamma'])
    expect(filtered.body).not.toHaveProperty('nextLink')
    expect(paged.body.nextLink).toContain('$skipToken=')
    expect([changed.status, stale.status, removed.status]).toEqual([204, 412, 200])
    expect(joined.data.apiManagementService.diagnostics).toEqual({
      nodes: [
        { name: 'Alpha', location: 'westus' },
        { name: 'beta', location: 'westus' },
      ],
      pageInfo: { hasNextPage: true },
    })
    expect(service.mistakes).toEqual([])
  })
})
