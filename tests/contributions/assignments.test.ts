import { describe, expect, test } from 'vitest'
import { assign, contribute, idsIn, onEngines, openContributions, publish } from './scene.ts'

test('an assignment is created and read at both doors', async () => {
  const service = await openContributions()

  const created = await service.rest('POST /1/assignments', {
    name: 'Floods in spring',
    description: 'Show us the water.',
    ends: '2030-02-01T00:00:00Z',
    allowsAnonymousContributions: true,
  })
  const read = await service.rest(`GET /1/assignments/${created.body.id}`, undefined, {
    credential: 'bob',
  })
  const { data } = await service.graphql(
    'query ($id: ID!) { assignment(id: $id) { name urlWords open owner { id } tags { id } } }',
    { id: created.body.id },
  )

  expect(created).toMatchObject({
    status: 200,
    body: {
      name: 'Floods in spring',
      urlWords: 'floods-in-spring',
      created: '2030-01-01T00:00:00.000Z',
      ends: '2030-02-01T00:00:00.000Z',
      open: true,
      featured: false,
      mediaRequired: false,
      allowsAnonymousContributions: true,
      tags: [],
    },
  })
  expect(read.body).toEqual(created.body)
  expect(data.assignment).toEqual({
    name: 'Floods in spring',
    urlWords: 'floods-in-spring',
    open: true,
    owner: { id: 'alice' },
    tags: [],
  })
})

test('the graph creates what REST shows, with the id that was sent', async () => {
  const service = await openContributions()

  const { data } = await service.graphql(
    `mutation { createAssignment(name: "Storks", id: "storks-2030", starts: "2030-01-02T00:00:00Z") {
       id starts } }`,
  )
  const read = await service.rest('GET /1/assignments/storks-2030')
  const again = await service.rest('POST /1/assignments', { name: 'Mine', id: 'storks-2030' })

  expect(data.createAssignment).toEqual({ id: 'storks-2030', starts: '2030-01-02T00:00:00.000Z' })
  expect(read.body).toMatchObject({ name: 'Storks', starts: '2030-01-02T00:00:00.000Z' })
  expect(again).toMatchObject({
    status: 400,
    body: { fields: [{ name: 'id', message: 'is that of another assignment' }] },
  })
})

test('an assignment that makes no sense is refused, and nothing is created', async () => {
  const service = await openContributions()
  const sent = [
    [{}, 'name', 'is required'],
    [{ name: 7 }, 'name'],
    [{ name: ' ' }, 'name'],
    [{ name: 'A', starts: '2030-01-02T00:00:00Z', ends: '2030-01-01T00:00:00Z' }, 'ends'],
    [{ name: 'A', ends: 'tomorrow' }, 'ends'],
    [{ name: 'A', urlWords: 'Not Words' }, 'urlWords'],
    [{ name: 'A', tags: [{ id: 'none' }] }, 'tags'],
    [{ name: 'A', cover: { media: { id: 'none' } } }, 'cover'],
  ] as const

  for (const [body, name, message] of sent) {
    const answer = await service.rest('POST /1/assignments', body)
    expect(answer).toMatchObject({ status: 400, body: { fields: [{ name }] } })
    if (message) expect(answer.body.fields[0].message).toBe(message)
  }
  const list = await service.rest('GET /1/assignments')
  expect(list).toMatchObject({ body: [], headers: { 'x-total-count': '0' } })
})

test('without a token nobody comes in, and with one that permits nothing nobody writes', async () => {
  const service = await openContributions()
  const reader = { ...(await import('../people.ts')).people.alice, permissions: [] }

  const nobody = await service.rest('GET /1/assignments', undefined, { credential: null })
  const written = await service.graphqlAs(reader, 'mutation { createAssignment(name: "A") { id } }')

  expect(nobody).toMatchObject({ status: 401, body: { message: expect.any(String) } })
  expect(nobody.headers['www-authenticate']).toContain('Bearer')
  expect(written.errors![0]!.extensions).toMatchObject({ code: 'Forbidden', status: 403 })
})

describe.each(onEngines)('lists on $engine', ({ open }) => {
  test('every filter narrows the list, newest first', async () => {
    const service = await open()
    const { body: tag } = await service.rest('POST /1/tags', { name: 'Birds' })
    const storks = await assign(service, { name: 'Storks', description: 'Nests in town' })
    await service.advance(1_000)
    const ended = await assign(service, { name: 'Benches', ends: '2030-01-01T01:00:00Z' })
    await service.advance(1_000)
    const tagged = await assign(service, { name: 'Town birds', tags: [{ id: tag.id }] }, 'bob')
    await service.advance(3_600_000)
    const list = async (query: string) => idsIn(await service.rest(`GET /1/assignments?${query}`))

    expect(await list('')).toEqual([tagged, ended, storks])
    expect(await list('ownedBy=alice')).toEqual([ended, storks])
    expect(await list('q=town')).toEqual([tagged, storks])
    expect(await list('q=TOWN%20nests')).toEqual([storks])
    expect(await list('q=...')).toEqual([])
    expect(await list('urlWords=town-birds')).toEqual([tagged])
    expect(await list('name=Benches')).toEqual([ended])
    expect(await list('name=benches')).toEqual([])
    expect(await list(`tag=${tag.id}`)).toEqual([tagged])
    expect(await list('open=true')).toEqual([tagged, storks])
    expect(await list('open=false')).toEqual([ended])
    expect(await list('alwaysOpen=true')).toEqual([tagged, storks])
    expect(await list('alwaysOpen=false')).toEqual([ended])
    expect(await list('page=2&pageSize=2')).toEqual([storks])
    expect(await list('page=9')).toEqual([])
  })
})

test('a page that is none is refused', async () => {
  const service = await openContributions()

  for (const query of ['page=0', 'page=x', 'pageSize=0', 'pageSize=101', 'open=maybe']) {
    const answer = await service.rest(`GET /1/assignments?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { fields: [{ name: query.split('=')[0] }] } })
  }
})

test('the graph lists assignments with their total', async () => {
  const service = await openContributions()
  await assign(service)

  const { data } = await service.graphql(
    '{ assignments(ownedBy: "alice", pageSize: 5) { total items { name } } }',
  )

  expect(data.assignments).toEqual({ total: 1, items: [{ name: 'Floods' }] })
})

test('an assignment goes at once when its owner deletes it, and its contributions follow', async () => {
  const service = await openContributions()
  const id = await assign(service)
  const kept = await publish(service)
  for (let n = 0; n < 60; n += 1) await contribute(service, { assignment: { id } })
  const one = await publish(service, { assignment: { id } })
  await service.rest(`POST /1/contributions/${one}/like`)

  const deleted = await service.rest(`DELETE /1/assignments/${id}`)
  const gone = await service.rest(`GET /1/assignments/${id}`)
  await service.advance(1_000)

  expect(deleted).toMatchObject({ status: 200, body: undefined })
  expect(gone.status).toBe(404)
  expect((await service.rest(`GET /1/contributions/${one}`)).status).toBe(404)
  expect(idsIn(await service.rest('GET /1/contributions'))).toEqual([kept])
  const [left] = await service.store.sql('SELECT count(*) AS n FROM contribution')
  const [likes] = await service.store.sql('SELECT count(*) AS n FROM "like"')
  const [counts] = await service.store.sql(
    'SELECT count(*) AS n FROM contribution_total WHERE scope = ?',
    [`assignment ${id}`],
  )
  expect([left!.n, likes!.n, counts!.n]).toEqual([1, 0, 0])
})

test('nobody else deletes an assignment, and one that is not there is not found', async () => {
  const service = await openContributions()
  const id = await assign(service, { moderator: 'bob' })

  const foreign = await service.rest(`DELETE /1/assignments/${id}`, undefined, {
    credential: 'bob',
  })
  const { errors } = await service.graphql('mutation { deleteAssignment(id: "none") }')

  expect(foreign.status).toBe(403)
  expect(errors![0]!.extensions).toMatchObject({ code: 'NotFound', status: 404 })
  expect((await service.rest(`GET /1/assignments/${id}`)).status).toBe(200)
})

test('the graph deletes an assignment', async () => {
  const service = await openContributions()
  const id = await assign(service)

  const { data } = await service.graphql('mutation ($id: ID!) { deleteAssignment(id: $id) }', {
    id,
  })

  expect(data.deleteAssignment).toBe(true)
  expect((await service.rest(`GET /1/assignments/${id}`)).status).toBe(404)
})
