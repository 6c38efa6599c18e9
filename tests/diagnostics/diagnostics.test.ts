// Diagnostics, through both doors.
import { expect, test } from 'vitest'
import { readEvents } from '../../resolvers/kernel/events.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { FULL, MANY, match, one, openWithApi, PLACE, PLAIN, SERVICE, VERSION } from './apis.ts'

test('PUT creates a diagnostic with 201 and shows what was sent and what the system set', async () => {
  const service = await openWithApi()

  const { status, headers, body } = await service.rest(`PUT ${one('Monitor')}`, FULL)

  expect(status).toBe(201)
  expect(headers.etag).toMatch(/^"[\w-]+"$/)
  expect(body).toEqual({
    id: `${MANY}/Monitor`,
    name: 'Monitor',
    type: 'Vendor.ApiManagement/service/diagnostics',
    properties: {
      loggerId: `${SERVICE}/loggers/monitor`,
      alwaysLog: 'allErrors',
      sampling: { samplingType: 'fixed', percentage: 12.5 },
      frontend: {
        request: { headers: ['Content-Type'], body: { bytes: 8192 } },
        response: { headers: [], body: { bytes: 0 } },
      },
      backend: {
        request: { body: { bytes: 100 } },
        response: { headers: ['Content-Type'], body: { bytes: 8192 } },
      },
      logClientIp: true,
      httpCorrelationProtocol: 'W3C',
      verbosity: 'verbose',
    },
  })
})

test('PUT on a diagnostic that is there answers 200, replaces it as a whole and gives a new tag', async () => {
  const service = await openWithApi()
  const first = await service.rest(`PUT ${one('monitor')}`, FULL)

  const second = await service.rest(`PUT ${one('monitor')}`, PLAIN)

  expect(second.status).toBe(200)
  expect(second.body.properties).toEqual({ loggerId: '/loggers/monitor' })
  expect(second.headers.etag).not.toBe(first.headers.etag)
  expect((await service.rest(`GET ${one('monitor')}`)).body).toEqual(second.body)
})

test('PUT with If-Match replaces the version that it names, and no other', async () => {
  const service = await openWithApi()
  const first = await service.rest(`PUT ${one('monitor')}`, PLAIN)

  const current = await service.rest(`PUT ${one('monitor')}`, FULL, match(first.headers.etag))
  const stale = await service.rest(`PUT ${one('monitor')}`, PLAIN, match(first.headers.etag))
  const missing = await service.rest(`PUT ${one('other')}`, PLAIN, match('*'))

  expect(current.status).toBe(200)
  expect([stale.status, stale.body.error.code]).toEqual([412, 'PreconditionFailed'])
  expect([missing.status, missing.body.error.code]).toEqual([412, 'PreconditionFailed'])
  const after = await service.rest(`GET ${one('monitor')}`)
  expect(after.headers.etag).toBe(current.headers.etag)
  expect((await service.rest(`GET ${one('other')}`)).status).toBe(404)
})

test('GET and HEAD answer with the tag of the last write, and HEAD with nothing else', async () => {
  const service = await openWithApi()
  const { headers } = await service.rest(`PUT ${one('monitor')}`, PLAIN)

  const read = await service.rest(`GET ${one('monitor')}`)
  const head = await service.rest(`HEAD ${one('monitor')}`)

  expect([read.status, read.headers.etag]).toEqual([200, headers.etag])
  expect([head.status, head.headers.etag, head.body]).toEqual([200, headers.etag, undefined])
})

test('GET and HEAD of what is not there are 404', async () => {
  const service = await openWithApi()

  const read = await service.rest(`GET ${one('monitor')}`)
  const head = await service.rest(`HEAD ${one('monitor')}`)

  expect(read.status).toBe(404)
  expect(read.body).toEqual({
    error: { code: 'ResourceNotFound', message: `The resource ${MANY}/monitor was not found.` },
  })
  expect(head.status).toBe(404)
  expect(head.headers.etag).toBeUndefined()
})

test('PATCH changes what is sent, leaves the rest and answers 204 without a body', async () => {
  const service = await openWithApi()
  const before = await service.rest(`PUT ${one('monitor')}`, FULL)

  const { status, headers, body } = await service.rest(
    `PATCH ${one('monitor')}`,
    {
      properties: {
        verbosity: 'error',
        sampling: { percentage: 50 },
        frontend: { request: { headers: ['Accept', 'Host'] } },
      },
    },
    match(before.headers.etag),
  )

  expect(status).toBe(204)
  expect(body).toBeUndefined()
  const after = await service.rest(`GET ${one('monitor')}`)
  expect(after.headers.etag).toBe(headers.etag)
  expect(after.headers.etag).not.toBe(before.headers.etag)
  expect(after.body.properties).toEqual({
    ...before.body.properties,
    verbosity: 'error',
    sampling: { samplingType: 'fixed', percentage: 50 },
    frontend: {
      request: { headers: ['Accept', 'Host'], body: { bytes: 8192 } },
      response: { headers: [], body: { bytes: 0 } },
    },
  })
})

test('PATCH of nothing changes nothing that is shown', async () => {
  const service = await openWithApi()
  const before = await service.rest(`PUT ${one('monitor')}`, FULL)

  const { status } = await service.rest(`PATCH ${one('monitor')}`, {}, match())

  expect(status).toBe(204)
  expect((await service.rest(`GET ${one('monitor')}`)).body).toEqual(before.body)
})

test('PATCH and DELETE without If-Match are 400, and with a stale one 412', async () => {
  const service = await openWithApi()
  const first = await service.rest(`PUT ${one('monitor')}`, PLAIN)
  const second = await service.rest(`PUT ${one('monitor')}`, FULL)
  const change = { properties: { verbosity: 'error' } }

  const bare = [
    await service.rest(`PATCH ${one('monitor')}`, change),
    await service.rest(`DELETE ${one('monitor')}`),
    // A condition is a header, and nothing in the query stands for it.
    await service.rest(`DELETE ${one('monitor')}&If-Match=*`),
  ]
  const stale = [
    await service.rest(`PATCH ${one('monitor')}`, change, match(first.headers.etag)),
    await service.rest(`DELETE ${one('monitor')}`, undefined, match(first.headers.etag)),
  ]

  for (const { status, body } of bare) {
    expect(status).toBe(400)
    expect(body.error).toEqual({
      code: 'InvalidParameter',
      message: 'If-Match is required.',
      target: 'If-Match',
      details: [{ code: 'InvalidParameter', message: 'If-Match is required.', target: 'If-Match' }],
    })
  }
  for (const { status, body } of stale) {
    expect(status).toBe(412)
    expect(body.error.code).toBe('PreconditionFailed')
  }
  const after = await service.rest(`GET ${one('monitor')}`)
  expect(after.headers.etag).toBe(second.headers.etag)
})

test('PATCH of what is not there is 404', async () => {
  const service = await openWithApi()

  const { status, body } = await service.rest(`PATCH ${one('monitor')}`, PLAIN, match())

  expect([status, body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('DELETE removes with 200, and with 204 what is not there', async () => {
  const service = await openWithApi()
  const { headers } = await service.rest(`PUT ${one('monitor')}`, PLAIN)

  const first = await service.rest(`DELETE ${one('monitor')}`, undefined, match(headers.etag))
  const again = await service.rest(`DELETE ${one('monitor')}`, undefined, match(headers.etag))

  expect([first.status, first.body]).toEqual([200, undefined])
  expect([again.status, again.body]).toEqual([204, undefined])
  expect((await service.rest(`GET ${one('monitor')}`)).status).toBe(404)
})

test('a path is read in any case, and an id keeps the case in which it was first put', async () => {
  const service = await openWithApi()
  await service.rest(`PUT ${one('Monitor')}`, PLAIN)
  const shouted = one('MONITOR').replace(
    `/resourceGroups/Web/providers/Vendor.ApiManagement/service/shop/diagnostics`,
    `/RESOURCEGROUPS/WEB/PROVIDERS/vendor.apimanagement/SERVICE/Shop/Diagnostics`,
  )

  const read = await service.rest(`GET ${shouted}`)
  const replaced = await service.rest(`PUT ${shouted}`, FULL)

  expect([read.status, read.body.id]).toEqual([200, `${MANY}/Monitor`])
  expect([replaced.status, replaced.body.id]).toEqual([200, `${MANY}/Monitor`])
})

test('what the system sets is not taken from what is sent', async () => {
  const service = await openWithApi()

  const { body } = await service.rest(`PUT ${one('monitor')}`, {
    id: '/mine',
    name: 'mine',
    type: 'Mine',
    etag: '"mine"',
    properties: { ...PLAIN.properties, provisioningState: 'Mine' },
  })

  expect(body).toEqual({
    id: `${MANY}/monitor`,
    name: 'monitor',
    type: 'Vendor.ApiManagement/service/diagnostics',
    properties: { loggerId: '/loggers/monitor' },
  })
})

test('a diagnostic of an unknown service is 404, whatever is asked', async () => {
  const service = await openWithApi()
  const elsewhere = one('monitor').replace('/shop/', '/other/')

  const answers = [
    await service.rest(`PUT ${elsewhere}`, PLAIN),
    await service.rest(`DELETE ${elsewhere}`, undefined, match()),
    await service.rest(`GET ${MANY.replace('/shop/', '/other/')}?${VERSION}`),
  ]
  const others = [
    await service.rest(`GET ${elsewhere}`),
    await service.rest(`HEAD ${elsewhere}`),
    await service.rest(`PATCH ${elsewhere}`, PLAIN, match()),
  ]

  for (const { status, body } of answers) {
    expect(status).toBe(404)
    expect(body.error).toEqual({
      code: 'ParentResourceNotFound',
      message: `There is no API management service ${SERVICE.replace('/shop', '/other')}.`,
    })
  }
  expect(others.map(({ status }) => status)).toEqual([404, 404, 404])
})

test("another's subscription is as unknown as one that does not exist", async () => {
  const service = await openWithApi()
  const before = await service.rest(`PUT ${one('monitor')}`, PLAIN)
  const asBob = match('*', { credential: 'bob' })

  const answers = [
    await service.rest(`GET ${one('monitor')}`, undefined, asBob),
    await service.rest(`PUT ${one('monitor')}`, FULL, { credential: 'bob' }),
    await service.rest(`PATCH ${one('monitor')}`, FULL, asBob),
    await service.rest(`DELETE ${one('monitor')}`, undefined, asBob),
    await service.rest(`GET ${MANY}?${VERSION}`, undefined, asBob),
    await service.rest(`GET ${one('monitor').replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)}`),
  ]

  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([404, 'SubscriptionNotFound'])
  }
  const after = await service.rest(`GET ${one('monitor')}`)
  expect(after.headers.etag).toBe(before.headers.etag)
})

const properties = (more: object) => ({ properties: { ...PLAIN.properties, ...more } })
const inRequest = (request: object) => properties({ frontend: { request } })
const OTHERS_LOGGER = `${SERVICE.replace('/shop', '/other')}/loggers/monitor`

const MALFORMED: [why: string, body: unknown, target: string][] = [
  ['there are no properties', {}, 'properties'],
  ['properties are text', { properties: 'x' }, 'properties'],
  ['the logger is missing', { properties: {} }, 'properties.loggerId'],
  ['the logger is a number', properties({ loggerId: 1 }), 'properties.loggerId'],
  ['the logger is empty', properties({ loggerId: '' }), 'properties.loggerId'],
  ['the logger is a bare name', properties({ loggerId: 'monitor' }), 'properties.loggerId'],
  [
    'the logger is too long',
    properties({ loggerId: `/loggers/${'x'.repeat(1024)}` }),
    'properties.loggerId',
  ],
  [
    "the logger is another service's",
    properties({ loggerId: OTHERS_LOGGER }),
    'properties.loggerId',
  ],
  ['alwaysLog is not known', properties({ alwaysLog: 'none' }), 'properties.alwaysLog'],
  ['sampling is a number', properties({ sampling: 50 }), 'properties.sampling'],
  [
    'samplingType is not known',
    properties({ sampling: { samplingType: 'adaptive' } }),
    'properties.sampling.samplingType',
  ],
  [
    'a percentage is below 0',
    properties({ sampling: { percentage: -0.1 } }),
    'properties.sampling.percentage',
  ],
  [
    'a percentage is above 100',
    properties({ sampling: { percentage: 100.1 } }),
    'properties.sampling.percentage',
  ],
  [
    'a percentage is text',
    properties({ sampling: { percentage: '50' } }),
    'properties.sampling.percentage',
  ],
  ['verbosity is not known', properties({ verbosity: 'loud' }), 'properties.verbosity'],
  [
    'the protocol is not known',
    properties({ httpCorrelationProtocol: 'w3c' }),
    'properties.httpCorrelationProtocol',
  ],
  ['logClientIp is text', properties({ logClientIp: 'true' }), 'properties.logClientIp'],
  ['headers are text', inRequest({ headers: 'Host' }), 'properties.frontend.request.headers'],
  [
    'a header has a space',
    inRequest({ headers: ['Host', 'not one'] }),
    'properties.frontend.request.headers.1',
  ],
  ['a header is empty', inRequest({ headers: [''] }), 'properties.frontend.request.headers.0'],
  [
    'a header is too long',
    inRequest({ headers: ['x'.repeat(257)] }),
    'properties.frontend.request.headers.0',
  ],
  [
    'headers are too many',
    inRequest({ headers: Array(201).fill('Host') }),
    'properties.frontend.request.headers',
  ],
  [
    'a body is too large',
    inRequest({ body: { bytes: 8193 } }),
    'properties.frontend.request.body.bytes',
  ],
  [
    'a body is negative',
    inRequest({ body: { bytes: -1 } }),
    'properties.frontend.request.body.bytes',
  ],
  [
    'a body is not whole',
    inRequest({ body: { bytes: 0.5 } }),
    'properties.frontend.request.body.bytes',
  ],
  [
    'a body is text',
    inRequest({ body: { bytes: '512' } }),
    'properties.frontend.request.body.bytes',
  ],
]

test('a malformed diagnostic is refused, and the refusal names what is wrong', async () => {
  const service = await openWithApi()

  for (const [why, sent, target] of MALFORMED) {
    const { status, body } = await service.rest(`PUT ${one('monitor')}`, sent)

    expect(status, why).toBe(400)
    expect(body.error.code, why).toBe('InvalidParameter')
    expect(body.error.target, why).toBe(`parameters.${target}`)
    expect(body.error.details[0].target, why).toBe(`parameters.${target}`)
  }
  expect((await service.rest(`GET ${one('monitor')}`)).status).toBe(404)
})

test('a malformed change is refused and changes nothing', async () => {
  const service = await openWithApi()
  const before = await service.rest(`PUT ${one('monitor')}`, FULL)
  const ofPatch = MALFORMED.filter(([why]) => !/no properties|missing/.test(why))

  for (const [why, sent] of ofPatch) {
    const { status } = await service.rest(`PATCH ${one('monitor')}`, sent, match())

    expect(status, why).toBe(400)
  }
  const after = await service.rest(`GET ${one('monitor')}`)
  expect(after.headers.etag).toBe(before.headers.etag)
})

test('an id is 1 to 80 characters without those that are reserved', async () => {
  const service = await openWithApi()

  for (const id of [
    '*',
    'a%23b',
    'a&b',
    'a+b',
    'a:b',
    'a%3Cb',
    'a%3Eb',
    'a%3Fb',
    'a%2Fb',
    'x'.repeat(81),
  ]) {
    const { status, body } = await service.rest(`PUT ${one(id)}`, PLAIN)

    expect(status, id).toBe(400)
    expect(body.error.target, id).toBe('diagnosticId')
  }
  for (const id of ['a', 'application.insights_1', 'mit%20Abstand', 'ünï', 'x'.repeat(80)]) {
    expect((await service.rest(`PUT ${one(encodeURI(decodeURI(id)))}`, PLAIN)).status, id).toBe(201)
  }
})

test('a service is named by a letter, then letters, digits and hyphens, at most 50', async () => {
  const service = await openWithApi()

  for (const name of ['1shop', 'shop-', 'sh_op', 'sh.op', 's'.repeat(51)]) {
    const { status, body } = await service.rest(
      `PUT ${one('monitor').replace('/shop/', `/${name}/`)}`,
      PLAIN,
    )

    expect(status, name).toBe(400)
    expect(body.error.target, name).toBe('serviceName')
  }
})

test('a request without a version, without a token or with a broken body is refused', async () => {
  const service = await openWithApi()

  const noVersion = await service.rest(`GET ${MANY}/monitor`)
  const noToken = await service.rest(`GET ${one('monitor')}`, undefined, { credential: null })
  const broken = await service.rest(`PUT ${one('monitor')}`, '{"properties":')
  const none = await service.rest(`PUT ${one('monitor')}`)
  const wrong = await service.rest(`POST ${one('monitor')}`, PLAIN)

  expect([noVersion.status, noVersion.body.error.code]).toEqual([400, 'MissingApiVersionParameter'])
  expect([noToken.status, noToken.body.error.code]).toEqual([401, 'AuthenticationFailed'])
  expect([broken.status, broken.body.error.code]).toEqual([400, 'InvalidRequestContent'])
  expect([none.status, none.body.error.message]).toEqual([400, 'parameters is required.'])
  expect([wrong.status, wrong.headers.allow]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE'])
})

test('what is created, changed and deleted is announced, and what is refused is not', async () => {
  const service = await openWithApi()

  await service.rest(`PUT ${one('monitor')}`, PLAIN)
  await service.rest(`PATCH ${one('monitor')}`, { properties: { verbosity: 'error' } }, match())
  await service.rest(`PUT ${one('monitor')}`, {})
  await service.rest(`DELETE ${one('monitor')}`, undefined, match('"stale"'))
  await service.rest(`DELETE ${one('monitor')}`, undefined, match())
  await service.rest(`DELETE ${one('monitor')}`, undefined, match())

  const events = await readEvents(service.store, { after: 0, limit: 10 })
  expect(events.map(({ type, subject }) => [type, subject])).toEqual([
    ['diagnostics.service.created', SERVICE],
    ['diagnostics.diagnostic.created', `${MANY}/monitor`],
    ['diagnostics.diagnostic.changed', `${MANY}/monitor`],
    ['diagnostics.diagnostic.deleted', `${MANY}/monitor`],
  ])
})

const SHOWN = `id name type location etag properties { loggerId alwaysLog
  sampling { samplingType percentage } logClientIp httpCorrelationProtocol verbosity
  frontend { request { headers body { bytes } } response { headers body { bytes } } }
  backend { request { headers body { bytes } } response { headers body { bytes } } } }`

test('every operation is reached through the graph', async () => {
  const service = await openWithApi()
  const here = `${PLACE}, diagnosticId: "monitor"`

  const put = await service.graphql(
    `mutation ($it: ApiDiagnosticInput!) { putApiDiagnostic(${here}, parameters: $it) { ${SHOWN} } }`,
    { it: FULL },
  )
  const { etag } = put.data.putApiDiagnostic
  const patched = await service.graphql(
    `mutation ($etag: String!) { patchApiDiagnostic(${here}, ifMatch: $etag,
      parameters: { properties: { verbosity: error } }) { etag properties { verbosity loggerId } } }`,
    { etag },
  )
  const read = await service.graphql(`{
    apiDiagnostic(${here}) { name properties { verbosity } service { name location } }
    apiDiagnosticEntityTag(${here})
    apiDiagnostics(${PLACE}, filter: "name eq 'monitor'", top: 5, skip: 0) {
      value { name } nextLink skipToken } }`)
  const removed = await service.graphql(`mutation { deleteApiDiagnostic(${here}, ifMatch: "*") }`)

  const message = { headers: ['Content-Type'], body: { bytes: 8192 } }
  expect(put).toEqual({
    data: {
      putApiDiagnostic: {
        id: `${MANY}/monitor`,
        name: 'monitor',
        type: 'Vendor.ApiManagement/service/diagnostics',
        location: 'westus',
        etag,
        properties: {
          loggerId: `${SERVICE}/loggers/monitor`,
          alwaysLog: 'allErrors',
          sampling: { samplingType: 'fixed', percentage: 12.5 },
          logClientIp: true,
          httpCorrelationProtocol: 'W3C',
          verbosity: 'verbose',
          frontend: { request: message, response: { headers: [], body: { bytes: 0 } } },
          backend: { request: { headers: null, body: { bytes: 100 } }, response: message },
        },
      },
    },
  })
  expect(patched.errors).toBeUndefined()
  expect(patched.data.patchApiDiagnostic).toMatchObject({
    properties: { verbosity: 'error', loggerId: `${SERVICE}/loggers/monitor` },
  })
  expect(read).toEqual({
    data: {
      apiDiagnostic: {
        name: 'monitor',
        properties: { verbosity: 'error' },
        service: { name: 'shop', location: 'westus' },
      },
      apiDiagnosticEntityTag: patched.data.patchApiDiagnostic.etag,
      apiDiagnostics: { value: [{ name: 'monitor' }], nextLink: null, skipToken: null },
    },
  })
  expect(removed).toEqual({ data: { deleteApiDiagnostic: true } })
  expect((await service.rest(`GET ${one('monitor')}`)).status).toBe(404)
})

test('the graph refuses by the same rules and codes', async () => {
  const service = await openWithApi()
  await service.rest(`PUT ${one('monitor')}`, PLAIN)
  const refusalOf = async (query: string) => (await service.graphql(query)).errors?.[0].extensions
  const here = `${PLACE}, diagnosticId: "monitor"`

  expect(
    await refusalOf(`mutation { patchApiDiagnostic(${here}, ifMatch: "\\"stale\\"",
      parameters: { properties: { logClientIp: true } }) { id } }`),
  ).toMatchObject({ code: 'PreconditionFailed', status: 412 })
  expect(
    await refusalOf(`mutation { deleteApiDiagnostic(${here}, ifMatch: "\\"stale\\"") }`),
  ).toMatchObject({ code: 'PreconditionFailed', status: 412 })
  expect(
    await refusalOf(`mutation { putApiDiagnostic(${here}, ifMatch: "\\"stale\\"",
      parameters: { properties: { loggerId: "/loggers/x" } }) { id } }`),
  ).toMatchObject({ code: 'PreconditionFailed', status: 412 })
  expect(
    await refusalOf(`mutation { putApiDiagnostic(${here},
      parameters: { properties: { loggerId: "x" } }) { id } }`),
  ).toMatchObject({ code: 'Invalid', status: 400 })
  expect(await refusalOf(`{ apiDiagnostic(${PLACE}, diagnosticId: "none") { id } }`)).toMatchObject(
    {
      code: 'ResourceNotFound',
      status: 404,
    },
  )
  expect(
    await refusalOf(`{ apiDiagnostic(${PLACE.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION)},
      diagnosticId: "monitor") { id } }`),
  ).toMatchObject({ code: 'SubscriptionNotFound', status: 404 })
})

test('the OpenAPI document has If-Match as a header', async () => {
  const service = await openWithApi()

  const { body } = await service.rest('GET /openapi.json', undefined, { credential: null })

  const path = Object.keys(body.paths).find((path) => path.endsWith('{diagnosticId}'))!
  const conditionOf = (method: string) =>
    body.paths[path][method].parameters.find(({ name }: { name: string }) => name === 'If-Match')
  expect(conditionOf('put')).toMatchObject({ in: 'header', required: false })
  expect(conditionOf('patch')).toMatchObject({ in: 'header', required: true })
  expect(conditionOf('delete')).toMatchObject({ in: 'header', required: true })
})
