import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { assign, contribute, openContributions, publish, upload } from './scene.ts'

const FIELDS = [
  { name: 'count', label: 'How many?', required: true },
  { name: 'behaviour', type: 'select', options: ['resting', 'nesting'] },
  { name: 'sure', type: 'checkbox' },
  { name: 'email', type: 'input', validator: 'email' },
  { name: 'where', type: 'location' },
  { name: 'photo', type: 'media' },
  { name: 'story', type: 'textarea', public: true },
]

async function makeForm(service: TestService, fields: object[] = FIELDS): Promise<string> {
  const { status, body } = await service.rest('POST /1/forms', { name: 'Sighting', fields })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.id
}

test('a form is created and read at both doors, with what was left out filled in', async () => {
  const service = await openContributions()

  const created = await service.rest('POST /1/forms', {
    name: 'Sighting',
    heading: 'About the birds',
    fields: FIELDS.slice(0, 2),
  })
  const read = await service.rest(`GET /1/forms/${created.body.id}`, undefined, {
    credential: 'bob',
  })
  const listed = await service.rest('GET /1/forms?ownedBy=alice', undefined, { credential: 'bob' })
  const { data } = await service.graphql(
    `mutation { createForm(name: "Short", fields: [{ name: "why", type: "textarea" }]) {
       name noCss owner { id } fields { name type required options } tags { id } } }`,
  )

  expect(created).toMatchObject({
    status: 200,
    body: {
      name: 'Sighting',
      heading: 'About the birds',
      ownedBy: 'alice',
      noCss: false,
      fields: [
        { name: 'count', label: 'How many?', type: 'input', required: true, public: false },
        { name: 'behaviour', type: 'select', options: ['resting', 'nesting'], required: false },
      ],
      tags: [],
    },
  })
  expect(read.body).toEqual(created.body)
  expect(listed).toMatchObject({ body: [created.body], headers: { 'x-total-count': '1' } })
  expect(data.createForm).toEqual({
    name: 'Short',
    noCss: false,
    owner: { id: 'alice' },
    fields: [{ name: 'why', type: 'textarea', required: false, options: null }],
    tags: [],
  })
})

test('forms are listed for an owner, who must be named', async () => {
  const service = await openContributions()
  await makeForm(service)

  const missing = await service.rest('GET /1/forms')
  const { data } = await service.graphql('{ forms(ownedBy: "alice") { total items { name } } }')

  expect(missing).toMatchObject({
    status: 400,
    body: { fields: [{ name: 'ownedBy', message: 'is required' }] },
  })
  expect(data.forms).toEqual({ total: 1, items: [{ name: 'Sighting' }] })
})

test('a form that makes no sense is refused', async () => {
  const service = await openContributions()
  const wrong = [
    [{}, 'name'],
    [{ name: 'A', fields: [{ name: 'a' }, { name: 'a' }] }, 'fields'],
    [{ name: 'A', fields: [{ name: 'a', type: 'guess' }] }, 'fields.0.type'],
    [{ name: 'A', fields: [{ name: 'a', type: 'select' }] }, 'fields.0.options'],
    [{ name: 'A', fields: [{ name: 'a', options: ['x'] }] }, 'fields.0.options'],
    [
      { name: 'A', fields: [{ name: 'a', type: 'radio', options: ['x'], validator: 'email' }] },
      'fields.0.validator',
    ],
    [{ name: 'A', fields: 'none' }, 'fields'],
    [{ name: 'A', tags: [{ id: 'none' }] }, 'tags'],
  ] as const

  for (const [body, name] of wrong) {
    const answer = await service.rest('POST /1/forms', body)
    expect(answer, JSON.stringify(body)).toMatchObject({
      status: 400,
      body: { fields: [{ name }] },
    })
  }
})

test('answers are kept when they fit, and shown to who may see them', async () => {
  const service = await openContributions()
  const form = await makeForm(service)
  const assignment = await assign(service)
  const contribution = await contribute(service, { assignment: { id: assignment } })
  const asBob = { credential: 'bob' as const }

  const saved = await service.rest(
    'POST /1/form-responses',
    {
      form,
      contribution,
      responses: { count: '2', behaviour: 'nesting', sure: 'true', where: '52.5,13.4' },
    },
    asBob,
  )
  const alone = await service.graphql(
    `mutation ($form: ID!) { createFormResponse(form: $form, responses: { count: "1" }) {
       id form { name } user { id } contribution { id } responses } }`,
    { form },
  )
  const read = await service.rest(`GET /1/form-responses/${saved.body.id}`)
  const own = await service.rest('GET /1/form-responses', undefined, asBob)
  const ofForm = await service.rest(`GET /1/form-responses?form=${form}`)
  const ofContribution = await service.rest(`GET /1/form-responses?contribution=${contribution}`)
  const notOwner = await service.rest(`GET /1/form-responses?form=${form}`, undefined, asBob)
  const foreign = await service.rest(`GET /1/form-responses?user=alice`, undefined, asBob)
  const unseen = await service.rest(
    `GET /1/form-responses/${alone.data.createFormResponse.id}`,
    undefined,
    asBob,
  )
  const { data } = await service.graphql(
    `query ($id: ID!, $form: ID!) {
      formResponses(form: $form) { total }
      formResponse(id: $id) { contribution { headline } responses }
      form(id: $form) { responses { nodes { id } } } }`,
    { id: saved.body.id, form },
  )

  expect(saved).toMatchObject({
    status: 200,
    body: {
      user: 'bob',
      form,
      contribution,
      date: '2030-01-01T00:00:00.000Z',
      responses: { count: '2', behaviour: 'nesting', sure: 'true', where: '52.5,13.4' },
    },
  })
  expect(alone.data.createFormResponse).toMatchObject({
    form: { name: 'Sighting' },
    user: { id: 'alice' },
    contribution: null,
    responses: { count: '1' },
  })
  expect(read.body).toEqual(saved.body)
  expect(own.body).toEqual([saved.body])
  expect(ofForm).toMatchObject({ headers: { 'x-total-count': '2' } })
  expect(ofContribution.body).toEqual([saved.body])
  expect(notOwner.body).toEqual([saved.body])
  expect(foreign.body).toEqual([])
  expect(unseen.status).toBe(404)
  expect(data).toEqual({
    formResponses: { total: 2 },
    formResponse: {
      contribution: { headline: 'Water in the street' },
      responses: saved.body.responses,
    },
    form: {
      responses: { nodes: [{ id: alone.data.createFormResponse.id }, { id: saved.body.id }] },
    },
  })
})

test('answers that do not fit are refused by the name of their field, and nothing is kept', async () => {
  const service = await openContributions()
  const form = await makeForm(service)
  const hidden = await contribute(service, {}, 'alice')
  const { body: foreign } = await upload(service, await picture(), { credential: 'alice' })
  const wrong = [
    [{}, 'responses.count'],
    [{ count: '' }, 'responses.count'],
    [{ count: '1\n2' }, 'responses.count'],
    [{ count: '1', colour: 'red' }, 'responses.colour'],
    [{ count: '1', behaviour: 'flying' }, 'responses.behaviour'],
    [{ count: '1', sure: 'yes' }, 'responses.sure'],
    [{ count: '1', email: 'nobody' }, 'responses.email'],
    [{ count: '1', where: 'here' }, 'responses.where'],
    [{ count: '1', photo: foreign.id }, 'responses.photo'],
    [{ count: '1', story: 'x'.repeat(10_001) }, 'responses.story'],
    [{ count: 1 }, 'responses.count'],
  ] as const

  for (const [responses, name] of wrong) {
    const answer = await service.rest(
      'POST /1/form-responses',
      { form, responses },
      { credential: 'bob' },
    )
    expect(answer, JSON.stringify(responses)).toMatchObject({
      status: 400,
      body: { fields: [{ name }] },
    })
  }
  const noForm = await service.rest('POST /1/form-responses', { form: 'none', responses: {} })
  const noContribution = await service.rest(
    'POST /1/form-responses',
    { form, contribution: hidden, responses: { count: '1' } },
    { credential: 'bob' },
  )
  expect(noForm).toMatchObject({ status: 400, body: { fields: [{ name: 'form' }] } })
  expect(noContribution).toMatchObject({
    status: 400,
    body: { fields: [{ name: 'contribution' }] },
  })
  expect((await service.rest(`GET /1/form-responses?form=${form}`)).body).toEqual([])
})

const picture = async () => {
  const { default: sharp } = await import('sharp')
  return sharp({ create: { width: 4, height: 4, channels: 3, background: '#fff' } })
    .png()
    .toBuffer()
}

test('a form goes at once, and its responses follow', async () => {
  const service = await openContributions()
  const form = await makeForm(service)
  const { body: response } = await service.rest('POST /1/form-responses', {
    form,
    responses: { count: '1' },
  })

  const foreign = await service.rest(`DELETE /1/forms/${form}`, undefined, { credential: 'bob' })
  const deleted = await service.rest(`DELETE /1/forms/${form}`)
  const again = await service.rest(`DELETE /1/forms/${form}`)
  const read = await service.rest(`GET /1/forms/${form}`)
  await service.advance(1_000)
  const { errors } = await service.graphql('mutation ($id: ID!) { deleteForm(id: $id) }', {
    id: form,
  })

  expect([foreign.status, deleted.status, again.status, read.status]).toEqual([403, 200, 404, 404])
  expect((await service.rest(`GET /1/form-responses/${response.id}`)).status).toBe(404)
  expect(errors![0]!.extensions.code).toBe('NotFound')
})

test('responses go with the contribution that they belong to', async () => {
  const service = await openContributions()
  const form = await makeForm(service)
  const contribution = await publish(service)
  const { body: response } = await service.rest('POST /1/form-responses', {
    form,
    contribution,
    responses: { count: '1' },
  })

  await service.rest(`DELETE /1/contributions/${contribution}`, undefined, { credential: 'bob' })
  await service.advance(1_000)

  expect((await service.rest(`GET /1/form-responses/${response.id}`)).status).toBe(404)
})
