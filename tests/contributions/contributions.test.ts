import { expect, test } from 'vitest'
import { assign, contribute, idsIn, moderate, openContributions, publish } from './scene.ts'

const NAMELESS = { attribution: '' }

test('a contribution is made, and seen by its contributor and the owner of the assignment alone', async () => {
  const service = await openContributions()
  const assignment = await assign(service)

  const made = await service.rest(
    'POST /1/contributions',
    {
      headline: ' Water in the street ',
      body: 'It came at night.',
      attribution: 'Bob',
      assignment: { id: assignment, name: 'ignored' },
      place: { name: 'Quay', country: 'de', latLong: { latitude: 52.5, longitude: 13.4 } },
    },
    { credential: 'bob' },
  )
  const byOwner = await service.rest(`GET /1/contributions/${made.body.id}`)
  const public_ = await service.rest('GET /1/contributions')

  expect(made).toMatchObject({
    status: 200,
    body: {
      headline: 'Water in the street',
      body: 'It came at night.',
      attribution: 'Bob',
      urlWords: 'water-in-the-street',
      created: '2030-01-01T00:00:00.000Z',
      assignment: { id: assignment, name: 'Floods' },
      place: {
        name: 'Quay',
        country: 'DE',
        geohash: 'u33d8vmddtk4',
        latLong: { latitude: 52.5, longitude: 13.4 },
      },
      mediaUsages: [],
      moderationHistory: [],
      via: { authority: { user: { id: 'bob', username: 'bob' } } },
      likes: 0,
      tags: [],
    },
  })
  expect(byOwner).toMatchObject({ status: 200, body: { via: { ipAddress: '127.0.0.1' } } })
  expect(made.body.via.ipAddress).toBeUndefined()
  expect(public_.body).toEqual([])
})

test('what the public may not see is not there for others', async () => {
  const service = await openContributions()
  const id = await contribute(service)

  const read = await service.rest(`GET /1/contributions/${id}`)
  const { data, errors } = await service.graphql(
    'query ($id: ID!) { contribution(id: $id) { headline } }',
    { id },
  )

  expect(read).toMatchObject({ status: 404, body: { message: `There is no contribution ${id}.` } })
  expect(data.contribution).toBeNull()
  expect(errors![0]!.extensions.code).toBe('NotFound')
})

test('the graph contributes and reads with all that hangs on it', async () => {
  const service = await openContributions()
  const assignment = await assign(service)

  const { data } = await service.graphql(
    `mutation ($assignment: ID!) {
      createContribution(headline: "Storks", assignment: { id: $assignment }, place: { geohash: "u33d" }) {
        id headline state { id public } assignment { name } user { id } contributor { username }
        owner { id } place { geohash latLong { latitude } } media { id } moderationHistory { date }
        likes likedBy { nodes { date } } formResponses { nodes { id } } flags { nodes { id } } } }`,
    { assignment },
    { credential: 'bob' },
  )

  expect(data.createContribution).toMatchObject({
    headline: 'Storks',
    state: { id: 'pending', public: false },
    assignment: { name: 'Floods' },
    user: { id: 'bob' },
    contributor: { username: 'bob' },
    owner: { id: 'alice' },
    place: { geohash: 'u33d', latLong: null },
    media: [],
    moderationHistory: [],
    likes: 0,
    likedBy: { nodes: [] },
    formResponses: { nodes: [] },
    flags: null,
  })
})

test('a contribution that does not fit is refused, and nothing is kept of it', async () => {
  const service = await openContributions()
  const asksForMedia = await assign(service, { mediaRequired: true })
  const plain = await assign(service)
  const ended = await assign(service, { ends: '2029-12-31T00:00:00Z' })
  const later = await assign(service, { starts: '2030-01-02T00:00:00Z' })
  const place = (latitude: number, geohash?: string) => ({
    place: { latLong: { latitude, longitude: 13.4 }, geohash },
  })
  const sent = [
    [{}, 'headline'],
    [{ headline: '' }, 'headline'],
    [{ headline: 'A', body: 'x'.repeat(50_001) }, 'body'],
    [{ headline: 'A', assignment: { id: 'none' } }, 'assignment'],
    [{ headline: 'A', assignment: 'text' }, 'assignment'],
    [{ headline: 'A', assignment: { id: ended } }, 'assignment'],
    [{ headline: 'A', assignment: { id: later } }, 'assignment'],
    [{ headline: 'A', assignment: { id: asksForMedia } }, 'mediaUsages'],
    [{ headline: 'A', assignment: { id: plain }, ...NAMELESS }, 'attribution'],
    [{ headline: 'A', mediaUsages: [{ media: { id: 'none' } }] }, 'mediaUsages'],
    [{ headline: 'A', tags: [{ id: 'none' }] }, 'tags'],
    [{ headline: 'A', ...place(91) }, 'place.latLong.latitude'],
    [{ headline: 'A', ...place(52.5, 'ezs4') }, 'place.geohash'],
    [{ headline: 'A', place: { country: 'Germany' } }, 'place.country'],
    [{ headline: 'A', place: { geohash: 'aaa' } }, 'place.geohash'],
  ] as const

  for (const [body, name] of sent) {
    const answer = await service.rest('POST /1/contributions', body, { credential: 'bob' })
    expect(answer, JSON.stringify(body)).toMatchObject({
      status: 400,
      body: { fields: [{ name }] },
    })
  }
  const [kept] = await service.store.sql('SELECT count(*) AS n FROM contribution')
  expect(kept!.n).toBe(0)
})

test('an assignment takes contributions from its start on', async () => {
  const service = await openContributions()
  const id = await assign(service, { starts: '2030-01-01T01:00:00Z' })
  await service.advance(3_600_000)

  const made = await service.rest('POST /1/contributions', { headline: 'A', assignment: { id } })

  expect(made.status).toBe(200)
})

test('who contributes without a name stays unnamed for the public, also in lists by person', async () => {
  const service = await openContributions()
  const assignment = await assign(service, { allowsAnonymousContributions: true }, 'alice')
  const id = await publish(service, { assignment: { id: assignment }, ...NAMELESS })
  const mine = await assign(service, { allowsAnonymousContributions: true }, 'bob')
  const other = await contribute(service, { assignment: { id: mine }, ...NAMELESS }, 'alice')
  await moderate(service, other, 'approve', 'bob')

  const byOwner = await service.rest(`GET /1/contributions/${id}`)
  const public_ = await service.rest(`GET /1/contributions/${other}`, undefined, {
    credential: 'bob',
  })
  const listed = await service.rest('GET /1/contributions?user=alice', undefined, {
    credential: 'bob',
  })
  const own = await service.rest('GET /1/contributions?user=alice')
  const { data } = await service.graphql(
    '{ contributionPage { total items { attribution user { id } } } }',
    {},
    { credential: 'alice' },
  )

  // Alice moderates what Bob sent, and Bob what Alice sent.
  expect(byOwner.body).toMatchObject({ via: { authority: { user: { id: 'bob' } } } })
  expect(public_.body.attribution).toBeUndefined()
  expect(listed).toMatchObject({ body: [], headers: { 'x-total-count': '0' } })
  expect(idsIn(own)).toEqual([other])
  expect(data.contributionPage).toEqual({
    total: 2,
    items: [
      { attribution: null, user: { id: 'alice' } },
      { attribution: null, user: { id: 'bob' } },
    ],
  })
})

test('a display name becomes the attribution where none is sent', async () => {
  const service = await openContributions()
  await service.graphql(
    'mutation { updateContributor(displayName: "Bob B.") { id } }',
    {},
    { credential: 'bob' },
  )

  const { body } = await service.rest(
    'POST /1/contributions',
    { headline: 'A' },
    { credential: 'bob' },
  )

  expect(body.attribution).toBe('Bob B.')
})

test('a contribution is gone at once when it is deleted, and what hangs on it follows', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const id = await publish(service, { assignment: { id: assignment } })
  await service.rest(`POST /1/contributions/${id}/like`)
  await service.rest(`POST /1/contributions/${id}/flag`, { type: 'spam' })

  const deleted = await service.rest(`DELETE /1/contributions/${id}`, undefined, {
    credential: 'bob',
  })
  const after = await service.rest(`GET /1/contributions/${id}`, undefined, { credential: 'bob' })
  const listed = await service.rest(`GET /1/contributions?assignment=${assignment}`)
  await service.advance(1_000)

  expect(deleted).toMatchObject({ status: 200, body: { id, headline: 'Water in the street' } })
  expect(after.status).toBe(404)
  expect(listed).toMatchObject({ body: [], headers: { 'x-total-count': '0' } })
  for (const table of ['contribution', '"like"', 'flag', 'contribution_line', 'term']) {
    const [left] = await service.store.sql(
      `SELECT count(*) AS n FROM ${table} ${table === 'term' ? "WHERE term NOT LIKE 'assignment %'" : ''}`,
    )
    expect([table, left!.n]).toEqual([table, 0])
  }
})

test('only who contributed or moderates it deletes a contribution', async () => {
  const service = await openContributions()
  const own = await publish(service, {}, 'alice')
  const hidden = await contribute(service, {}, 'alice')

  const foreign = await service.rest(`DELETE /1/contributions/${own}`, undefined, {
    credential: 'bob',
  })
  const unseen = await service.rest(`DELETE /1/contributions/${hidden}`, undefined, {
    credential: 'bob',
  })
  const { data } = await service.graphql(
    'mutation ($id: ID!) { deleteContribution(id: $id) { id } }',
    { id: own },
  )

  expect(foreign.status).toBe(403)
  expect(unseen.status).toBe(404)
  expect(data.deleteContribution).toEqual({ id: own })
  expect((await service.rest(`DELETE /1/contributions/${own}`)).status).toBe(404)
})

test('a like counts once for each person, at both doors', async () => {
  const service = await openContributions()
  const id = await publish(service)

  const first = await service.rest(`POST /1/contributions/${id}/like`)
  const again = await service.rest(`POST /1/contributions/${id}/like`)
  const { data } = await service.graphql(
    'mutation ($id: ID!) { likeContribution(id: $id) { likes likedBy { nodes { user { id } } } } }',
    { id },
    { credential: 'bob' },
  )
  const likes = await service.rest(`GET /1/contributions/${id}/likes`)
  const page = await service.rest(`GET /1/contributions/${id}/likes?page=2&pageSize=1`)
  const inGraph = await service.graphql(
    'query ($id: ID!) { contributionLikes(id: $id) { total items { date user { id } } } }',
    { id },
  )

  expect([first.body, again.body]).toEqual([1, 1])
  expect(data.likeContribution).toEqual({
    likes: 2,
    likedBy: { nodes: [{ user: { id: 'alice' } }, { user: { id: 'bob' } }] },
  })
  expect(likes).toMatchObject({ body: ['alice', 'bob'], headers: { 'x-total-count': '2' } })
  expect(page.body).toEqual(['bob'])
  expect(inGraph.data.contributionLikes.total).toBe(2)
})

test('what one cannot see one cannot like, flag or ask about', async () => {
  const service = await openContributions()
  const id = await contribute(service)

  const answers = await Promise.all([
    service.rest(`POST /1/contributions/${id}/like`),
    service.rest(`GET /1/contributions/${id}/likes`),
    service.rest(`POST /1/contributions/${id}/flag`, { type: 'spam' }),
    service.rest(`POST /1/contributions/none/like`),
  ])

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
})

test('a flag is kept for moderators, ten of a person at most', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const id = await publish(service, { assignment: { id: assignment } })

  const flagged = await service.rest(
    `POST /1/contributions/${id}/flag`,
    { type: 'spam', notes: 'An advertisement', email: 'bob@example.org' },
    { credential: 'bob' },
  )
  const { data } = await service.graphql(
    'query ($id: ID!) { contribution(id: $id) { flags { nodes { type notes user { id } } } } }',
    { id },
  )
  const bad = await service.rest(`POST /1/contributions/${id}/flag`, { email: 'nobody' })
  for (let n = 1; n < 10; n += 1) {
    await service.graphql(
      'mutation ($id: ID!) { flagContribution(id: $id, type: "again") { id } }',
      { id },
      { credential: 'bob' },
    )
  }
  const tooMany = await service.rest(`POST /1/contributions/${id}/flag`, {}, { credential: 'bob' })

  expect(flagged).toMatchObject({
    status: 200,
    body: {
      type: 'spam',
      notes: 'An advertisement',
      email: 'bob@example.org',
      date: '2030-01-01T00:00:00.000Z',
    },
  })
  expect(data.contribution.flags.nodes).toEqual([
    { type: 'spam', notes: 'An advertisement', user: { id: 'bob' } },
  ])
  expect(bad).toMatchObject({ status: 400, body: { fields: [{ name: 'email' }] } })
  expect(tooMany.status).toBe(400)
})
