// Lists of diagnostics: filtered, skipped, page after page.
import { expect, test } from 'vitest'
import { diagnostics } from '../../resolvers/diagnostics/shapes.ts'
import type { TestService } from '../open.ts'
import { list, MANY, one, openWithApi, PLACE, PLAIN, VERSION } from './apis.ts'

const namesOf = ({ body }: { body: any }) => body.value.map(({ name }: { name: string }) => name)

function follow(service: TestService, link: string) {
  const { pathname, search } = new URL(link)
  return service.rest(`GET ${pathname}${search}`)
}

/** Follows nextLink unchanged to the end, and returns the names page by page. */
async function pagesOf(service: TestService, path: string): Promise<string[][]> {
  let answer = await service.rest(`GET ${path}`)
  const pages = [namesOf(answer)]
  while (answer.body.nextLink) {
    answer = await follow(service, answer.body.nextLink)
    expect(answer.status).toBe(200)
    pages.push(namesOf(answer))
  }
  return pages
}

async function putAll(service: TestService, ...names: string[]) {
  for (const name of names) await service.rest(`PUT ${one(name)}`, PLAIN)
}

/** Many diagnostics at once, as they would have been kept had they been put one by one. */
async function keepMany(service: TestService, count: number) {
  await service.store.transaction(async (tx) => {
    for (let n = 0; n < count; n++) {
      const name = `d${String(n).padStart(4, '0')}`
      const type = 'Vendor.ApiManagement/service/diagnostics'
      await tx.insert(diagnostics, { id: `${MANY}/${name}`, name, type, ...PLAIN } as any)
    }
  })
}

/** A service that tells how many records each read of a list gave. */
async function openCounting() {
  const reads: number[] = []
  const service = await openWithApi({
    wrap: (store) => ({
      ...store,
      async list(kind: any, query: any) {
        const page = await store.list<any>(kind, query)
        reads.push(page.items.length)
        return page
      },
    }),
  })
  return { service, reads }
}

test.each([
  ["name eq 'ALPHA'", ['Alpha']],
  ["name ne 'alpha'", ['beta', 'gamma']],
  ["name ge 'beta'", ['beta', 'gamma']],
  ["name gt 'beta'", ['gamma']],
  ["name le 'beta'", ['Alpha', 'beta']],
  ["name lt 'beta'", ['Alpha']],
  ["substringof('amm',name)", ['gamma']],
  ["contains(name,'a')", ['Alpha', 'beta', 'gamma']],
  ["startswith(name,'b')", ['beta']],
  ["endswith(name,'ta')", ['beta']],
  ["startswith(name,'a') or (contains(name,'m') and not endswith(name,'x'))", ['Alpha', 'gamma']],
  ["name eq 'nothing'", []],
])('%s lists %j', async (filter, names) => {
  const service = await openWithApi()
  await putAll(service, 'gamma', 'Alpha', 'beta')

  const answer = await service.rest(`GET ${list({ $filter: filter })}`)

  expect(answer.status).toBe(200)
  expect(namesOf(answer)).toEqual(names)
  expect(answer.body).not.toHaveProperty('nextLink')
})

test('a list without a filter shows whole diagnostics, by name', async () => {
  const service = await openWithApi()
  await putAll(service, 'beta', 'alpha')

  const { body } = await service.rest(`GET ${list()}`)

  expect(body).toEqual({
    value: ['alpha', 'beta'].map((name) => ({
      id: `${MANY}/${name}`,
      name,
      type: 'Vendor.ApiManagement/service/diagnostics',
      properties: { loggerId: '/loggers/monitor' },
    })),
  })
})

test('a list of nothing is an empty list', async () => {
  const service = await openWithApi()

  expect((await service.rest(`GET ${list()}`)).body).toEqual({ value: [] })
  expect((await service.rest(`GET ${list({ $filter: "name eq 'a'" })}`)).body).toEqual({
    value: [],
  })
})

test('a filter that is not understood is 400, with the place', async () => {
  const service = await openWithApi()

  const { status, body } = await service.rest(`GET ${list({ $filter: "type eq 'x'" })}`)

  expect(status).toBe(400)
  const message = '$filter has at character 1 type where a field (name) is expected.'
  expect(body.error).toEqual({
    code: 'InvalidParameter',
    message,
    target: '$filter',
    details: [{ code: 'InvalidParameter', message, target: '$filter' }],
  })
})

test('pages are of $top, each diagnostic comes once, and the last page has no link', async () => {
  const service = await openWithApi()
  await putAll(service, 'a', 'b', 'c', 'd', 'e')

  const plain = await pagesOf(service, list({ $top: 2 }))
  const exact = await pagesOf(service, list({ $top: 5 }))
  const filtered = await pagesOf(service, list({ $top: 2, $filter: "name ne 'b'" }))

  expect(plain).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  expect(exact).toEqual([['a', 'b', 'c', 'd', 'e']])
  expect(filtered).toEqual([
    ['a', 'c'],
    ['d', 'e'],
  ])
})

test('$skip passes over the first of what is listed, once', async () => {
  const service = await openWithApi()
  await putAll(service, 'a', 'b', 'c', 'd', 'e', 'f')

  const plain = await pagesOf(service, list({ $skip: 3 }))
  const paged = await pagesOf(service, list({ $skip: 1, $top: 2 }))
  const filtered = await pagesOf(service, list({ $skip: 1, $top: 2, $filter: "name gt 'b'" }))
  const beyond = await pagesOf(service, list({ $skip: 6 }))

  expect(plain).toEqual([['d', 'e', 'f']])
  expect(paged).toEqual([['b', 'c'], ['d', 'e'], ['f']])
  expect(filtered).toEqual([['d', 'e'], ['f']])
  expect(beyond).toEqual([[]])
})

test('a nextLink is absolute and carries the version, the filter, the size and the place', async () => {
  const service = await openWithApi()
  await putAll(service, 'a', 'b', 'c')
  const filter = "name ne 'x' and name ne '+'"

  const { body } = await service.rest(`GET ${list({ $filter: filter, $top: 1, $skip: 1 })}`)

  const link = new URL(body.nextLink)
  expect(link.origin + link.pathname).toBe(`http://polygraph.test${MANY}`)
  expect([...link.searchParams.keys()]).toEqual(['api-version', '$filter', '$top', '$skipToken'])
  expect(link.searchParams.get('$filter')).toBe(filter)
  expect(namesOf(await follow(service, body.nextLink))).toEqual(['c'])
})

test('a token is of one list with one filter', async () => {
  const service = await openWithApi()
  await putAll(service, 'a', 'b', 'c')
  const { body } = await service.rest(`GET ${list({ $top: 1, $filter: "name ne 'x'" })}`)
  const $skipToken = new URL(body.nextLink).searchParams.get('$skipToken')!

  const refused = [
    await service.rest(`GET ${list({ $skipToken })}`),
    await service.rest(`GET ${list({ $skipToken, $filter: "name ne 'y'" })}`),
    await service.rest(`GET ${list({ $skipToken: `x${$skipToken}`, $filter: "name ne 'x'" })}`),
    await service.rest(`GET ${list({ $skipToken: 'AAAA' })}`),
  ]

  for (const { status, body } of refused) {
    expect([status, body.error.code, body.error.target]).toEqual([
      400,
      'InvalidParameter',
      '$skipToken',
    ])
  }
})

test('$top is at least 1 and $skip at least 0, both whole', async () => {
  const service = await openWithApi()

  for (const query of ['$top=0', '$top=-1', '$top=x', '$skip=-1', '$skip=1.5', '$skip=']) {
    const { status, body } = await service.rest(`GET ${MANY}?${VERSION}&${query}`)

    expect([status, body.error.code], query).toEqual([400, 'InvalidParameter'])
    expect(body.error.target, query).toBe(query.split('=')[0])
  }
})

test('a page holds no more than 100 diagnostics, whatever $top asks for', async () => {
  const service = await openWithApi()
  await keepMany(service, 101)

  const pages = await pagesOf(service, list({ $top: 5000 }))

  expect(pages.map((page) => page.length)).toEqual([100, 1])
})

test('a page without a filter costs one read of what it shows', async () => {
  const { service, reads } = await openCounting()
  await keepMany(service, 30)

  await pagesOf(service, list({ $top: 10 }))

  expect(reads).toEqual([10, 10, 10])
})

test('one request goes through 1000 diagnostics at most, in batches, and its link goes on', async () => {
  const { service, reads } = await openCounting()
  await keepMany(service, 2_500)

  const pages = await pagesOf(service, list({ $filter: "endswith(name,'2499')" }))

  expect(pages).toEqual([[], [], ['d2499']])
  expect(reads).toEqual(Array(12).fill(200).concat(100))
})

test('a filter that many fit reads no further than its page needs', async () => {
  const { service, reads } = await openCounting()
  await keepMany(service, 1_500)

  const { body } = await service.rest(`GET ${list({ $filter: "startswith(name,'d')", $top: 10 })}`)

  expect(body.value).toHaveLength(10)
  expect(reads).toEqual([200])
})

test('a $skip beyond what one request goes through is finished by its links', async () => {
  const service = await openWithApi()
  await keepMany(service, 1_205)

  const plain = await pagesOf(service, list({ $skip: 1_200 }))
  const filtered = await pagesOf(service, list({ $skip: 1_200, $filter: "startswith(name,'d')" }))

  const last = ['d1200', 'd1201', 'd1202', 'd1203', 'd1204']
  expect(plain.flat()).toEqual(last)
  expect(filtered.flat()).toEqual(last)
})

test('hits that lie far apart all come, whatever the size of a page', async () => {
  const service = await openWithApi()
  await keepMany(service, 2_001)
  const filter = "endswith(name,'00')"
  const expected = Array.from({ length: 21 }, (_, n) => `d${String(n * 100).padStart(4, '0')}`)

  for (const $top of [1, 3, 7, 100]) {
    const pages = await pagesOf(service, list({ $filter: filter, $top }))

    expect(pages.flat(), `$top ${$top}`).toEqual(expected)
    expect(Math.max(...pages.map((page) => page.length))).toBeLessThanOrEqual($top)
  }
})

test('a service does not list the diagnostics of one whose name begins alike', async () => {
  const service = await openWithApi()
  await service.graphql(
    `mutation { putApiManagementService(${PLACE.replace('"shop"', '"shop2"')}) { id } }`,
  )
  await putAll(service, 'mine')
  await service.rest(`PUT ${one('other').replace('/shop/', '/shop2/')}`, PLAIN)

  expect(namesOf(await service.rest(`GET ${list()}`))).toEqual(['mine'])
})

test('the graph pages by the token, which knows what is left to skip', async () => {
  const service = await openWithApi()
  await putAll(service, 'a', 'b', 'c', 'd')
  const query = `query ($token: String) { apiDiagnostics(${PLACE}, filter: "name ne 'x'",
    top: 2, skip: 1, skipToken: $token) { value { name } nextLink skipToken } }`

  const { data: first } = await service.graphql(query)
  const { data: last } = await service.graphql(query, { token: first.apiDiagnostics.skipToken })
  const { errors } = await service.graphql(`{ apiDiagnostics(${PLACE}, filter: "name") {
    value { name } } }`)

  expect(first.apiDiagnostics.value).toEqual([{ name: 'b' }, { name: 'c' }])
  expect(last.apiDiagnostics).toEqual({ value: [{ name: 'd' }], nextLink: null, skipToken: null })
  expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})
