import { expect, test } from 'vitest'
import { openBank } from './bank.ts'

test('every user begins with a contract, on the terms of their kind', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const company = await bank.rest('POST /v1/user-company', { name: 'Engines' })

  const { status, body } = await bank.rest(`GET /v1/user/${userId}/billing-contract-subscription`)
  const { data } = await bank.graphql(
    `query ($id: ID!) { billingContractSubscriptions(userId: $id) {
       nodes { id created contractDateStart contractVersion subscriptionType status } } }`,
    { id: company.body.Id.id },
  )

  expect(status).toBe(200)
  expect(body).toEqual([
    {
      id: 1,
      created: '2030-01-01 00:00:00.000000',
      updated: '2030-01-01 00:00:00.000000',
      contract_date_start: '2030-01-01',
      contract_date_end: null,
      contract_version: 1,
      subscription_type: 'PERSON_FREE_V1',
      subscription_type_downgrade: null,
      status: 'ACTIVE',
      sub_status: 'NONE',
    },
  ])
  expect(data.billingContractSubscriptions.nodes).toEqual([
    {
      id: '2',
      created: '2030-01-01T00:00:00.000Z',
      contractDateStart: '2030-01-01',
      contractVersion: 1,
      subscriptionType: 'COMPANY_V1',
      status: 'ACTIVE',
    },
  ])
})

test('the contracts of a user are the user’s alone, and are listed within bounds', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const path = `GET /v1/user/${userId}/billing-contract-subscription`

  expect((await bank.rest(path, undefined, { credential: 'bob' })).status).toBe(403)
  expect((await bank.rest(path, undefined, { credential: null })).status).toBe(401)
  expect((await bank.rest(`${path}?count=201`)).status).toBe(400)
  expect((await bank.rest(`${path}?older_id=1`)).body).toEqual([])
})
