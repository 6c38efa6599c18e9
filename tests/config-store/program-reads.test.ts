// What a program reads of its store, and how it proves that it may.
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/config-store.ts'
import { openForTest, type TestService } from '../open.ts'
import { asProgram, GONE_MS, idOf, keysOf, one, putReady, set, signed, type Key } from './stores.ts'

async function openFilled() {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  await set(service, 'shop-1', { key: 'app/colour', value: 'red', contentType: 'text/plain' })
  await set(service, 'shop-1', { key: 'app/colour', label: 'uk', value: 'blue', tags: { a: 'b' } })
  const keys = await keysOf(service, 'shop-1')
  return { service, keys, key: keys[0]! }
}

test('a program reads the key-values of its store in the form that its clients know', async () => {
  const { service, key } = await openFilled()

  const { status, headers, body } = await asProgram(service, 'GET /kv?api-version=1.0', key)

  expect(status).toBe(200)
  expect(headers['content-type']).toBe('application/vnd.vendor.appconfig.kvset+json; charset=utf-8')
  expect(headers.link).toBeUndefined()
  expect(body).toEqual({
    items: [
      {
        etag: body.items[0].etag,
        key: 'app/colour',
        label: null,
        content_type: 'text/plain',
        value: 'red',
        last_modified: '2030-01-01T00:00:01.000Z',
        locked: false,
        tags: {},
      },
      {
        etag: body.items[1].etag,
        key: 'app/colour',
        label: 'uk',
        content_type: null,
        value: 'blue',
        last_modified: '2030-01-01T00:00:01.000Z',
        locked: false,
        tags: { a: 'b' },
      },
    ],
  })
})

test('a program reads one key-value, encoded as its client encodes it', async () => {
  const { service, key } = await openFilled()

  const bare = await asProgram(service, 'GET /kv/app%2Fcolour?api-version=1.0', key)
  const labelled = await asProgram(service, 'GET /kv/app/colour?label=uk', key)
  const byNull = await asProgram(service, 'GET /kv/app%2Fcolour?label=%00', key)
  const absent = await asProgram(service, 'GET /kv/app%2FColour', key)

  expect([bare.status, bare.body.value]).toEqual([200, 'red'])
  expect(bare.headers).toMatchObject({
    'content-type': 'application/vnd.vendor.appconfig.kv+json; charset=utf-8',
    etag: `"${bare.body.etag}"`,
    'last-modified': 'Tue, 01 Jan 2030 00:00:01 GMT',
  })
  expect(labelled.body.value).toBe('blue')
  expect(byNull.body.value).toBe('red')
  expect([absent.status, absent.body.error.code]).toEqual([404, 'ResourceNotFound'])
})

test('a program that knows a key-value already is answered 304', async () => {
  const { service, key } = await openFilled()
  const request = 'GET /kv/app%2Fcolour'
  const { headers } = await asProgram(service, request, key)
  const ask = (etag: string) =>
    service.rest(request, undefined, {
      credential: null,
      headers: { ...signed(request, key), 'if-none-match': etag },
    })

  const known = await ask(headers.etag!)
  const other = await ask('"other"')

  expect([known.status, known.body]).toEqual([304, undefined])
  expect(other.status).toBe(200)
})

test('each of the four keys opens its own store, and no other', async () => {
  const { service, keys } = await openFilled()
  await putReady(service, 'shop-2')
  const [other] = await keysOf(service, 'shop-2')

  for (const key of keys) {
    expect((await asProgram(service, 'GET /kv', key)).body.items).toHaveLength(2)
  }
  const id = encodeURIComponent(idOf('shop-1'))
  const elsewhere = await asProgram(service, `GET /kv?configStoreId=${id}`, other!)
  expect([elsewhere.status, elsewhere.body.items]).toEqual([200, []])
})

test('filters and pages: a link leads to the next page, in the body and in the header', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'shop-1')
  for (let n = 0; n < 150; n++) {
    await set(service, 'shop-1', { key: `app/${String(n).padStart(3, '0')}`, value: 'v' })
  }
  await set(service, 'shop-1', { key: 'zoo', value: 'v' })
  const [key] = await keysOf(service, 'shop-1')

  const first = await asProgram(service, 'GET /kv?key=app/*&label=%00&api-version=1.0', key!)
  const link = new URL(first.body['@nextLink'])
  const last = await asProgram(service, `GET ${link.pathname}${link.search}`, key!)
  const after = link.searchParams.get('after')!
  const again = await asProgram(service, `GET /kv?Key=app/*&Label=%00&After=${after}`, key!)
  const foreign = await asProgram(service, `GET /kv?after=${after}`, key!)
  const few = await asProgram(service, 'GET /kv?first=2', key!)

  expect(first.body.items).toHaveLength(100)
  expect(first.headers.link).toBe(`<${first.body['@nextLink']}>; rel="next"`)
  expect(link.origin).toBe('http://polygraph.test')
  expect(new URLSearchParams(first.body['@nextLink']).get('after')).toBe(after)
  expect(last.body.items).toHaveLength(50)
  expect(last.body.items[49].key).toBe('app/149')
  expect(last.body['@nextLink']).toBeUndefined()
  expect(again.body.items).toEqual(last.body.items)
  expect([foreign.status, few.status, few.body.items.length]).toEqual([400, 200, 2])
})

test('a malformed filter is refused with 400', async () => {
  const { service, key } = await openFilled()

  const { status, body } = await asProgram(service, 'GET /kv?key=*a', key)

  expect([status, body.error.code, body.error.target]).toEqual([400, 'InvalidParameter', 'key'])
})

const REQUEST = 'GET /kv?key=*'
type Headers = Record<string, string>

/** What is changed in a request that is otherwise right, and what is said of it. */
const REFUSED: [why: string, change: (sent: Headers, key: Key) => Headers, described: string][] = [
  [
    'the signature is of another secret',
    (_, { id }) => signed(REQUEST, { id, value: Buffer.alloc(32).toString('base64') }),
    'Invalid signature',
  ],
  ['the signature is of another path', (_, key) => signed('GET /kv', key), 'Invalid signature'],
  [
    'the signature is of another method',
    (_, key) => signed('PUT /kv?key=*', key),
    'Invalid signature',
  ],
  [
    'the signature is cut short',
    (sent) => ({ ...sent, authorization: sent.authorization!.slice(0, -20) }),
    'Invalid signature',
  ],
  ['the host is another', (sent) => ({ ...sent, host: 'other.test' }), 'Invalid signature'],
  [
    'the credential is unknown',
    (_, { value }) => signed(REQUEST, { id: 'nobody', value }),
    'Invalid credential',
  ],
  [
    'the date is 15 minutes and a second old',
    (_, key) => signed(REQUEST, key, 'Mon, 31 Dec 2029 23:45:00 GMT'),
    'The access token has expired',
  ],
  [
    'the date is 15 minutes and a second ahead',
    (_, key) => signed(REQUEST, key, 'Tue, 01 Jan 2030 00:15:02 GMT'),
    'The access token has expired',
  ],
  ['the date is none', (_, key) => signed(REQUEST, key, 'today'), 'Invalid access token date'],
  [
    'the date was changed after signing',
    (sent) => ({ ...sent, 'x-ms-date': 'Tue, 01 Jan 2030 00:00:02 GMT' }),
    'Invalid signature',
  ],
  [
    'the hash is of another body',
    (sent) => ({
      ...sent,
      'x-ms-content-sha256': createHash('sha256').update('x').digest('base64'),
    }),
    'x-ms-content-sha256 is not the hash of the body',
  ],
  [
    'the host is not signed',
    (sent) => ({ ...sent, authorization: sent.authorization!.replace(';host', '') }),
    'host is required as a signed header',
  ],
  [
    'the date is not signed',
    (sent) => ({ ...sent, authorization: sent.authorization!.replace('x-ms-date;', '') }),
    'x-ms-date is required as a signed header',
  ],
  [
    'the hash is not signed',
    (sent) => ({ ...sent, authorization: sent.authorization!.replace(';x-ms-content-sha256', '') }),
    'x-ms-content-sha256 is required as a signed header',
  ],
  [
    'a signed header was not sent',
    (sent) => ({ ...sent, authorization: sent.authorization!.replace(';host', ';host;x-more') }),
    'x-more is a signed header, but was not sent',
  ],
  [
    'there is no signature',
    (sent) => ({ ...sent, authorization: sent.authorization!.replace(/&Signature.*/, '') }),
    'Authorization must have Credential, SignedHeaders and Signature',
  ],
]

test.each(REFUSED)('401 with a challenge when %s', async (_why, change, described) => {
  const { service, key } = await openFilled()

  const { status, headers, body } = await service.rest(REQUEST, undefined, {
    credential: null,
    headers: change(signed(REQUEST, key), key),
  })

  expect(status).toBe(401)
  expect(headers['www-authenticate']).toBe(
    `HMAC-SHA256 error="invalid_token", error_description="${described}"`,
  )
  expect(body).toEqual({
    error: { code: 'InvalidAuthenticationToken', message: `${described}.` },
  })
})

test('401 with a bare challenge when nothing is shown, or what opens the management', async () => {
  const { service } = await openFilled()

  const none = await service.rest('GET /kv', undefined, { credential: null })
  const token = await service.rest('GET /kv/app%2Fcolour')

  for (const { status, headers, body } of [none, token]) {
    expect([status, headers['www-authenticate']]).toEqual([401, 'HMAC-SHA256'])
    expect(body.error.code).toBe('AuthenticationFailed')
  }
})

test('an access key does not open the management of its store', async () => {
  const { service, key } = await openFilled()

  const { status } = await asProgram(service, `GET ${one('shop-1')}`, key)

  expect(status).toBe(401)
})

test('dates are read as clients write them, in x-ms-date or in Date', async () => {
  const { service, key } = await openFilled()
  const bySnake = signed(REQUEST, key, 'Jan, 01 2030 00:00:01.123456 GMT')
  const { 'x-ms-date': date, ...rest } = signed(REQUEST, key)
  const byDate = {
    ...rest,
    date: date!,
    authorization: rest.authorization!.replace('x-ms-date', 'date'),
  }

  for (const headers of [bySnake, byDate]) {
    const { status } = await service.rest(REQUEST, undefined, { credential: null, headers })
    expect(status).toBe(200)
  }
})

test('a store that is being deleted serves no program, and one that is gone knows no key', async () => {
  const { service, key } = await openFilled()
  await service.rest(`DELETE ${one('shop-1')}`)

  const during = await asProgram(service, 'GET /kv', key)
  await service.advance(GONE_MS)
  const after = await asProgram(service, 'GET /kv', key)

  expect([during.status, during.body.error.code]).toEqual([409, 'AnotherOperationInProgress'])
  expect(after.status).toBe(401)
})

/** Signs and asks over HTTP, with nothing of ours but the connection string. */
async function readAll(connectionString: string, service: TestService): Promise<string[]> {
  const parts = Object.fromEntries(
    connectionString.split(';').map((part) => {
      const at = part.indexOf('=')
      return [part.slice(0, at), part.slice(at + 1)]
    }),
  ) as { Endpoint: string; Id: string; Secret: string }
  const { pathname } = new URL(`${parts.Endpoint}/kv`)
  const request = `GET ${pathname}?api-version=1.0`
  const headers = signed(request, { id: parts.Id, value: parts.Secret })
  const { body } = await service.rest(request, undefined, { credential: null, headers })
  return body.items.map(({ value }: { value: string }) => value)
}

test('a connection string is all that a program needs', async () => {
  const { service, key } = await openFilled()

  expect(await readAll(String(key.connectionString), service)).toEqual(['red', 'blue'])
})

test('its OpenAPI says that programs sign, and asks them for no version', async () => {
  const { service } = await openFilled()

  const { body } = await service.rest('GET /openapi.json')

  expect(body.components.securitySchemes.accessKey.type).toBe('apiKey')
  const { security, parameters } = body.paths['/kv'].get
  expect(security).toEqual([{ accessKey: [] }])
  expect(parameters.map(({ name }: { name: string }) => name)).toEqual([
    'configStoreId',
    'key',
    'label',
    'first',
    'after',
  ])
})
