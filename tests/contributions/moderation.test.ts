import { expect, test } from 'vitest'
import { people } from '../people.ts'
import { assign, contribute, idsIn, moderate, openContributions, publish } from './scene.ts'

const DAY_MS = 24 * 60 * 60_000

test('approving makes a contribution public, rejecting and reopening take it back', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const id = await contribute(service, { assignment: { id: assignment } })
  const seen = async () => idsIn(await service.rest('GET /1/contributions'))

  const approved = await moderate(service, id, 'approve')
  const whenApproved = await seen()
  const { data } = await service.graphql(
    `mutation ($id: ID!) { moderateContribution(id: $id, action: { id: "reject" }, notes: "Doubtful") {
       state { id label public }
       moderationHistory { date notes action { id resultingState { id } } by { id } } } }`,
    { id },
  )
  const whenRejected = await seen()
  const reopened = await moderate(service, id, 'reopen')

  expect(approved).toMatchObject({ status: 200, body: 'approved' })
  expect(whenApproved).toEqual([id])
  expect(data.moderateContribution).toEqual({
    state: { id: 'rejected', label: 'Rejected', public: false },
    moderationHistory: [
      {
        date: '2030-01-01T00:00:00.000Z',
        notes: null,
        action: { id: 'approve', resultingState: { id: 'approved' } },
        by: { id: 'alice' },
      },
      {
        date: '2030-01-01T00:00:00.000Z',
        notes: 'Doubtful',
        action: { id: 'reject', resultingState: { id: 'rejected' } },
        by: { id: 'alice' },
      },
    ],
  })
  expect(whenRejected).toEqual([])
  expect(reopened.body).toBe('pending')
})

test('the contributor sees the decisions, the public does not', async () => {
  const service = await openContributions()
  const id = await publish(service, { assignment: { id: await assign(service) } })
  const own = await publish(service, {}, 'alice')

  const mine = await service.rest(`GET /1/contributions/${id}`, undefined, { credential: 'bob' })
  const others = await service.rest(`GET /1/contributions/${own}`, undefined, { credential: 'bob' })

  expect(mine.body.moderationHistory).toMatchObject([{ action: { id: 'approve' } }])
  expect(others.body.moderationHistory).toBeUndefined()
})

test('an unknown action is refused, and nothing changes', async () => {
  const service = await openContributions()
  const id = await contribute(service, { assignment: { id: await assign(service) } })

  const unknown = await moderate(service, id, 'publish')
  const missing = await service.rest(`POST /1/contributions/${id}/moderate`, {})
  const { data } = await service.graphql('{ moderationActions { id } }')

  expect(unknown).toMatchObject({
    status: 400,
    body: { fields: [{ name: 'action', message: 'must be one of approve, reject, reopen' }] },
  })
  expect(missing).toMatchObject({ status: 400, body: { fields: [{ name: 'action' }] } })
  expect(data.moderationActions).toEqual([{ id: 'approve' }, { id: 'reject' }, { id: 'reopen' }])
  const read = await service.rest(`GET /1/contributions/${id}`)
  expect(read.body.moderationHistory).toEqual([])
})

test('who is not moderator is refused: 401, 403, or 404 for what they cannot see', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const id = await contribute(service, { assignment: { id: assignment } })
  const foreign = await contribute(service, {}, 'alice')
  const body = { action: { id: 'approve' } }

  const nobody = await service.rest(`POST /1/contributions/${id}/moderate`, body, {
    credential: null,
  })
  const contributor = await moderate(service, id, 'approve', 'bob')
  const unseen = await moderate(service, foreign, 'approve', 'bob')

  expect([nobody.status, contributor.status, unseen.status]).toEqual([401, 403, 404])
  expect(idsIn(await service.rest('GET /1/contributions'))).toEqual([])
})

test('a token decides with the scope moderate or full, and with no other', async () => {
  const service = await openContributions()
  const id = await contribute(service, { assignment: { id: await assign(service) } })
  const MODERATE =
    'mutation ($id: ID!) { moderateContribution(id: $id, action: { id: "approve" }) { id } }'
  const asAlice = (permissions: string[]) =>
    service.graphqlAs({ ...people.alice, permissions }, MODERATE, { id })

  const none = await asAlice(['read'])
  const moderator = await asAlice(['moderate'])
  const full = await asAlice(['full'])

  expect(none.errors![0]!.extensions).toMatchObject({ code: 'Forbidden', status: 403 })
  expect(moderator.errors).toBeUndefined()
  expect(full.errors).toBeUndefined()
})

test('an appointed moderator decides, named as a person or by a credential', async () => {
  const service = await openContributions()
  const byPerson = await assign(service, { moderator: 'bob' })
  const byCredential = await assign(service, { moderator: 'bob-credential' })

  for (const assignment of [byPerson, byCredential]) {
    const id = await contribute(service, { assignment: { id: assignment } }, 'alice')
    expect((await moderate(service, id, 'approve', 'bob')).body).toBe('approved')
  }
})

test('an embargo holds back what was approved until it ends', async () => {
  const service = await openContributions()
  const assignment = await assign(service, { embargo: '2030-01-02T00:00:00Z' })
  const id = await publish(service, { assignment: { id: assignment } }, 'alice')
  const seen = async () =>
    idsIn(await service.rest('GET /1/contributions', undefined, { credential: 'bob' }))
  const read = async () =>
    (await service.rest(`GET /1/contributions/${id}`, undefined, { credential: 'bob' })).status

  const before = [await seen(), await read()]
  await service.advance(DAY_MS)
  const after = [await seen(), await read()]

  expect(before).toEqual([[], 404])
  expect(after).toEqual([[id], 200])
})

test('decisions and other changes are in the change log of the owner, latest first', async () => {
  const service = await openContributions()
  const assignment = await assign(service)
  const id = await contribute(service, { assignment: { id: assignment } })
  await service.rest(`POST /1/contributions/${id}/moderate`, {
    action: { id: 'reject' },
    notes: 'Twice',
  })

  const log = await service.rest('GET /1/change-log')
  const others = await service.rest('GET /1/change-log', undefined, { credential: 'bob' })
  const { data } = await service.graphql(
    '{ contributionChangeLog(pageSize: 1) { total items { title by { id } } } }',
  )

  expect(log).toMatchObject({ status: 200, headers: { 'x-total-count': '2' } })
  expect(log.body).toEqual([
    {
      title: 'Reject: Water in the street',
      date: '2030-01-01T00:00:00.000Z',
      description: 'Twice',
    },
    { title: 'Assignment Floods was created', date: '2030-01-01T00:00:00.000Z' },
  ])
  expect(others.body).toEqual([])
  expect(data.contributionChangeLog).toEqual({
    total: 2,
    items: [{ title: 'Reject: Water in the street', by: { id: 'alice' } }],
  })
})

test('a change is forgotten after a year', async () => {
  const service = await openContributions()
  await assign(service)
  await service.advance(366 * DAY_MS)

  await service.opened.sweep()

  expect((await service.rest('GET /1/change-log')).body).toEqual([])
})
