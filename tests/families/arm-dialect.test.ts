// How the management interfaces refuse.
import { expect, test } from 'vitest'
import { Fault, Forbidden, Internal, TooMany } from '../../resolvers/kernel/fault.ts'
import { subgraph } from '../../subgraphs/hsm.ts'
import { arm } from '../../subgraphs/server/dialects/arm.ts'
import { openForTest } from '../open.ts'

const LIST = '/providers/Vendor.HardwareSecurityModules/operations'
const VERSION = 'api-version=2018-10-31-preview'

test.each([
  ['missing', '', 'MissingApiVersionParameter'],
  ['empty', '?api-version=', 'MissingApiVersionParameter'],
  ['not supported', '?api-version=2021-11-30', 'InvalidApiVersionParameter'],
  ['sent twice and different', `?${VERSION}&api-version=2021-11-30`, 'InvalidApiVersionParameter'],
])('a request whose api-version is %s is refused', async (_how, query, code) => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET ${LIST}${query}`)

  expect(status).toBe(400)
  expect(body.error.code).toBe(code)
  expect(body.error.message).toContain("The supported version is '2018-10-31-preview'.")
})

test.each([`?${VERSION}`, '?Api-Version=2018-10-31-PREVIEW', `?${VERSION}&${VERSION}`])(
  '%s is a supported api-version',
  async (query) => {
    const service = await openForTest(subgraph)

    const { status } = await service.rest(`GET ${LIST}${query}`)

    expect(status).toBe(200)
  },
)

test('a request without a token is 401 AuthenticationFailed with a challenge', async () => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`GET ${LIST}?${VERSION}`, undefined, {
    credential: null,
  })

  expect(status).toBe(401)
  expect(headers['www-authenticate']).toBe('Bearer realm="polygraph"')
  expect(body.error.code).toBe('AuthenticationFailed')
})

test('a wrong token is 401 InvalidAuthenticationToken with a challenge', async () => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`GET ${LIST}?${VERSION}`, undefined, {
    credential: null,
    headers: { authorization: 'Bearer wrong' },
  })

  expect(status).toBe(401)
  expect(headers['www-authenticate']).toBe('Bearer realm="polygraph", error="invalid_token"')
  expect(body.error.code).toBe('InvalidAuthenticationToken')
})

test('a path that is not served is 404 InvalidResourceType', async () => {
  const service = await openForTest(subgraph)

  const { status, body } = await service.rest(`GET /providers/Vendor.Nothing/things?${VERSION}`)

  expect(status).toBe(404)
  expect(body.error).toEqual({
    code: 'InvalidResourceType',
    message: 'Nothing is served at /providers/Vendor.Nothing/things.',
  })
})

test('a method that is not served is 405 with what is', async () => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`POST ${LIST}?${VERSION}`)

  expect(status).toBe(405)
  expect(headers.allow).toBe('GET, HEAD')
  expect(body.error.code).toBe('MethodNotAllowed')
})

test('a body of another media type is 415, and one that is too large 413', async () => {
  const service = await openForTest(subgraph)
  const path =
    '/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/g/providers/Vendor.HardwareSecurityModules/dedicatedHSMs/safe'

  const media = await service.rest(`PUT ${path}?${VERSION}`, '<a/>', {
    headers: { 'content-type': 'application/xml' },
  })
  const large = await service.rest(`PUT ${path}?${VERSION}`, ' '.repeat(1024 * 1024 + 1))

  expect([media.status, media.body.error.code]).toEqual([415, 'UnsupportedMediaType'])
  expect([large.status, large.body.error.code]).toEqual([413, 'RequestContentTooLarge'])
})

test('every refusal carries the id of its request', async () => {
  const service = await openForTest(subgraph)

  const { headers } = await service.rest(`GET ${LIST}`, undefined, {
    headers: { 'x-request-id': 'request-7' },
  })

  expect(headers['x-vendor-request-id']).toBe('request-7')
})

test('several wrong inputs are named one by one', async () => {
  const service = await openForTest(subgraph)
  const path =
    '/subscriptions/11111111-1111-4111-8111-111111111111/resourceGroups/g/providers/Vendor.HardwareSecurityModules/dedicatedHSMs/x'

  const { status, body } = await service.rest(`PUT ${path}?${VERSION}`, { properties: {} })

  expect(status).toBe(400)
  expect(body).toEqual({
    error: {
      code: 'InvalidParameter',
      message:
        'name must be 3 to 24 letters, digits or hyphens; parameters.location is required; parameters.sku is required.',
      target: 'name',
      details: [
        {
          code: 'InvalidParameter',
          message: 'name must be 3 to 24 letters, digits or hyphens.',
          target: 'name',
        },
        {
          code: 'InvalidParameter',
          message: 'parameters.location is required.',
          target: 'parameters.location',
        },
        {
          code: 'InvalidParameter',
          message: 'parameters.sku is required.',
          target: 'parameters.sku',
        },
      ],
    },
  })
})

test.each([
  [Forbidden('no'), 403, 'AuthorizationFailed'],
  [TooMany('no'), 429, 'TooManyRequests'],
  [Internal('no'), 500, 'InternalServerError'],
  [new Fault('OwnCode', 409, 'no'), 409, 'OwnCode'],
])('%s is worded as clients know it', (fault, status, code) => {
  expect(arm.refuse(fault)).toEqual({
    status,
    headers: {},
    body: { error: { code, message: 'no' } },
  })
})
