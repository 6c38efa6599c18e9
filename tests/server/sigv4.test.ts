import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Credentials, Shown } from '../../subgraphs/server/subgraph.ts'
import { sigV4 } from '../../subgraphs/server/auth/sigv4.ts'
import * as signers from './signers.ts'
import { byAws4, bySmithy, credentialsOf, OWNER, presignedBySmithy, shownOf } from './signers.ts'

const scheme = sigV4('sms-voice')
const SEND = { method: 'POST', path: '/v1/sms-voice/voice/message', body: '{"CallerId":"+1"}' }
const MISMATCH =
  'The request signature we calculated does not match the signature you provided. ' +
  'Check your secret access key and signing method.'

const prove = (shown: Shown, credentials: Credentials = credentialsOf()) =>
  scheme.prove(shown, credentials)

const refused = (code: string, status: number, message?: string) =>
  expect.objectContaining({ code, status, ...(message !== undefined && { message }) })

const withHeaders = (
  shown: Shown,
  headers: Record<string, string | string[] | undefined>,
): Shown => ({
  ...shown,
  headers: { ...shown.headers, ...headers },
})

const flip = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === 'b' ? 'c' : 'b') + text.slice(at + 1)

const rescoped = (shown: Shown, from: string, to: string) =>
  withHeaders(shown, { authorization: String(shown.headers['authorization']).replace(from, to) })

const authorized = (authorization: string | string[]) => withHeaders(byAws4({}), { authorization })

describe('published examples', () => {
  // The test suite of Signature Version 4: the key AKIDEXAMPLE, 2015-08-30T12:36:00Z, us-east-1.
  const examples = [
    {
      name: 'get-vanilla',
      headers: {},
      signature: '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
    },
    {
      name: 'get-vanilla-query-order-key-case',
      url: '/?Param2=value2&Param1=value1',
      headers: {},
      signature: 'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    },
    {
      name: 'get-vanilla-query-unreserved',
      url:
        '/?-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' +
        '=-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
      headers: {},
      signature: '9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197',
    },
    {
      name: 'get-vanilla-utf8-query',
      url: '/?ሴ=bar',
      headers: {},
      signature: '2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04',
    },
    {
      name: 'get-utf8',
      url: '/ሴ',
      headers: {},
      signature: '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
    },
    {
      name: 'get-header-value-trim',
      headers: { 'my-header1': ' value1', 'my-header2': ' "a   b   c"' },
      signedHeaders: 'host;my-header1;my-header2;x-amz-date',
      signature: 'acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736',
    },
    {
      name: 'post-vanilla',
      method: 'POST',
      headers: {},
      signature: '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    },
    {
      name: 'post-x-www-form-urlencoded',
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      signedHeaders: 'content-type;host;x-amz-date',
      body: 'Param1=value1',
      signature: 'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    },
  ]

  for (const { name, url = '/', signedHeaders = 'host;x-amz-date', ...example } of examples) {
    test(`${name} of the published test suite is accepted`, async () => {
      const { signature, headers, ...sent } = example
      const shown = shownOf({
        ...sent,
        url,
        headers: {
          host: 'example.amazonaws.com',
          'x-amz-date': '20150830T123600Z',
          ...headers,
          authorization:
            'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
            `SignedHeaders=${signedHeaders}, Signature=${signature}`,
        },
      })

      expect(await sigV4('service').prove(shown, credentialsOf())).toBe(OWNER)
    })
  }

  test('the documented ListUsers example is accepted', async () => {
    const shown = shownOf({
      url: '/?Action=ListUsers&Version=2010-05-08',
      headers: {
        host: 'iam.amazonaws.com',
        'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
        'x-amz-date': '20150830T123600Z',
        authorization:
          'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
          'SignedHeaders=content-type;host;x-amz-date, ' +
          'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
      },
    })

    expect(await sigV4('iam').prove(shown, credentialsOf())).toBe(OWNER)
  })
})

describe('what clients sign', () => {
  test('a request that aws4 signed is accepted', async () => {
    expect(await prove(byAws4(SEND))).toBe(OWNER)
  })

  test('a request that the SDK signed is accepted', async () => {
    expect(await prove(await bySmithy(SEND))).toBe(OWNER)
  })

  test('a path is encoded once more than it was sent', async () => {
    const path =
      '/backup-vaults/v/recovery-points/arn%3Aaws%3Abackup%3A%3A1%3Arecovery-point%2Fa%20b'

    expect(await prove(await bySmithy({ path }))).toBe(OWNER)
    expect(await prove(byAws4({ path }))).toBe(OWNER)
  })

  test('an ARN sent plain in the path is accepted', async () => {
    const path = "/resources/arn:aws:backup:us-east-1:1:plan:a(b)!*'/tags"

    expect(await prove(await bySmithy({ path }))).toBe(OWNER)
  })

  test('a query is sorted by name and then by value, in whatever order it arrives', async () => {
    const shown = await bySmithy({}, { b: ['z', 'y y'], a: '1', 'B:': 'ü', empty: '' })

    expect(shown.url).toContain('b=z&b=y%20y&a=1')
    expect(await prove(shown)).toBe(OWNER)
  })

  test('a query that is signed encoded may be sent plain', async () => {
    const shown = await bySmithy({}, { name: "it's (a) *" })
    const plain = { ...shown, url: "/?name=it's+(a)+*" }

    expect(shown.url).toBe('/?name=it%27s%20%28a%29%20%2A')
    expect(await prove(plain)).toBe(OWNER)
  })

  test('any region is accepted', async () => {
    expect(await prove(byAws4({ ...SEND, region: 'eu-west-1' }))).toBe(OWNER)
  })

  test('spaces inside a signed header count as one', async () => {
    const shown = await bySmithy({ headers: { 'x-amz-user-agent': ' a   b ' } })

    expect(await prove(withHeaders(shown, { 'x-amz-user-agent': 'a b' }))).toBe(OWNER)
  })

  test('the Date header takes the place of X-Amz-Date', async () => {
    const headers = { Date: 'Sun, 30 Aug 2015 12:36:00 GMT' }
    const shown = byAws4(
      { headers },
      { doNotModifyHeaders: true, headers: { Host: signers.HOST, ...headers } },
    )

    expect(shown.headers['x-amz-date']).toBeUndefined()
    expect(await prove(shown)).toBe(OWNER)
  })

  test('a Date header that is not signed does not take the place of X-Amz-Date', async () => {
    const shown = withHeaders(byAws4({}), {
      'x-amz-date': undefined,
      date: 'Sun, 30 Aug 2015 12:36:00 GMT',
    })

    await expect(prove(shown)).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        "'date' must be a 'SignedHeader' in the Authorization.",
      ),
    )
  })
})

describe('one byte changed', () => {
  test('anywhere in the method is refused', async () => {
    const shown = await bySmithy(SEND)

    for (const at of SEND.method.split('').keys()) {
      await expect(prove({ ...shown, method: flip(shown.method, at) })).rejects.toEqual(
        refused('InvalidSignatureException', 403, MISMATCH),
      )
    }
  })

  test('anywhere in path and query is refused', async () => {
    const shown = await bySmithy({ path: '/v1/a%3Ab/c' }, { PageSize: '10', NextToken: 'a b' })

    expect(shown.url).toBe('/v1/a%3Ab/c?PageSize=10&NextToken=a%20b')
    for (const at of shown.url.split('').keys()) {
      await expect(prove({ ...shown, url: flip(shown.url, at) })).rejects.toEqual(
        refused('InvalidSignatureException', 403, MISMATCH),
      )
    }
  })

  test('anywhere in the body is refused', async () => {
    const shown = await bySmithy(SEND)
    const unhashed = byAws4(SEND)

    for (const at of SEND.body.split('').keys()) {
      const body = Buffer.from(flip(SEND.body, at))
      await expect(prove({ ...shown, body })).rejects.toEqual(
        refused(
          'InvalidSignatureException',
          403,
          'X-Amz-Content-Sha256 is not the hash of the body that arrived.',
        ),
      )
      await expect(prove({ ...unhashed, body })).rejects.toEqual(
        refused('InvalidSignatureException', 403, MISMATCH),
      )
    }
  })

  test('in a signed header is refused', async () => {
    const shown = await bySmithy(SEND)

    for (const name of ['host', 'content-type', 'x-amz-content-sha256']) {
      const changed = withHeaders(shown, { [name]: flip(String(shown.headers[name]), 3) })
      await expect(prove(changed)).rejects.toMatchObject({ code: 'InvalidSignatureException' })
    }
    const later = withHeaders(shown, { 'x-amz-date': '20150830T123601Z' })
    await expect(prove(later)).rejects.toEqual(refused('InvalidSignatureException', 403, MISMATCH))
  })

  test('anywhere in the signature is refused', async () => {
    const shown = await bySmithy(SEND)
    const authorization = String(shown.headers['authorization'])

    for (let at = authorization.length - 64; at < authorization.length; at++) {
      const changed = withHeaders(shown, { authorization: flip(authorization, at) })
      await expect(prove(changed)).rejects.toEqual(
        refused('InvalidSignatureException', 403, MISMATCH),
      )
    }
  })

  test('a path that resolves to the signed one is another path', async () => {
    const shown = await bySmithy({ path: '/v1/a' })

    for (const url of ['/v1//a', '/v1/./a', '/v1/b/../a', '/v1/a/']) {
      await expect(prove({ ...shown, url })).rejects.toEqual(
        refused('InvalidSignatureException', 403, MISMATCH),
      )
    }
  })
})

describe('who signs', () => {
  test('a request without a signature is refused', async () => {
    await expect(prove(shownOf({ url: '/', headers: {} }))).rejects.toEqual(
      refused('MissingAuthenticationTokenException', 403, 'Missing Authentication Token'),
    )
  })

  test('an unknown key is refused', async () => {
    const shown = byAws4(SEND)
    const authorization = String(shown.headers['authorization']).replace(
      signers.KEY_ID,
      'AKIDOTHER',
    )

    await expect(prove(withHeaders(shown, { authorization }))).rejects.toEqual(
      refused(
        'UnrecognizedClientException',
        403,
        'The security token included in the request is invalid.',
      ),
    )
  })

  test('another secret is refused', async () => {
    await expect(prove(byAws4({ ...SEND, secret: 'other' }))).rejects.toEqual(
      refused('InvalidSignatureException', 403, MISMATCH),
    )
  })

  test('a refusal never shows what was calculated', async () => {
    const shown = byAws4({ ...SEND, secret: 'other' })

    const error: any = await prove(shown).catch((thrown: unknown) => thrown)

    expect(JSON.stringify([error.message, error.details])).not.toMatch(
      /[0-9a-f]{64}|\/v1\/sms-voice/,
    )
  })
})

describe('temporary credentials', () => {
  const token = 'FwoGZXIvYXdzE/token=='
  const temporary = credentialsOf({
    sessionTokenHash: createHash('sha256').update(token).digest('hex'),
    expiresMs: Date.parse('2015-08-30T12:40:00Z'),
  })
  const unrecognized = refused(
    'UnrecognizedClientException',
    403,
    'The security token included in the request is invalid.',
  )

  test('their token is accepted in the header and in the query', async () => {
    expect(await prove(byAws4({ ...SEND, token }), temporary)).toBe(OWNER)
    expect(await prove(await bySmithy({ ...SEND, token }), temporary)).toBe(OWNER)
    expect(await prove(await presignedBySmithy({ token }), temporary)).toBe(OWNER)
  })

  test('a missing token is refused', async () => {
    await expect(prove(byAws4(SEND), temporary)).rejects.toEqual(unrecognized)
  })

  test('another token is refused', async () => {
    await expect(prove(byAws4({ ...SEND, token: 'other' }), temporary)).rejects.toEqual(
      unrecognized,
    )
  })

  test('a token beside a lasting key is refused', async () => {
    await expect(prove(byAws4({ ...SEND, token }))).rejects.toEqual(unrecognized)
  })

  test('they expire', async () => {
    const shown = { ...byAws4({ ...SEND, token }), now: new Date('2015-08-30T12:40:00Z') }

    await expect(prove(shown, temporary)).rejects.toEqual(
      refused(
        'ExpiredTokenException',
        403,
        'The security token included in the request is expired.',
      ),
    )
  })
})

describe('the clock', () => {
  test('a signature of up to 15 minutes ago or ahead is accepted', async () => {
    const shown = byAws4(SEND)

    expect(await prove({ ...shown, now: new Date('2015-08-30T12:51:00Z') })).toBe(OWNER)
    expect(await prove({ ...shown, now: new Date('2015-08-30T12:21:00Z') })).toBe(OWNER)
  })

  test('an older signature is refused in the words by which clients set their clocks', async () => {
    const shown = { ...byAws4(SEND), now: new Date('2015-08-30T12:51:01Z') }

    await expect(prove(shown)).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        'Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z ' +
          '(20150830T125101Z - 15 min.)',
      ),
    )
  })

  test('a signature of the future is refused in the same words', async () => {
    const shown = { ...byAws4(SEND), now: new Date('2015-08-30T12:20:59Z') }

    await expect(prove(shown)).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        'Signature not yet current: 20150830T123600Z is still later than 20150830T123559Z ' +
          '(20150830T122059Z + 15 min.)',
      ),
    )
  })
})

describe('the scope', () => {
  test('a signature for another service is refused', async () => {
    await expect(prove(byAws4({ ...SEND, service: 'backup' }))).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        "Credential should be scoped to correct service: 'sms-voice'.",
      ),
    )
  })

  test('a signature of another day is refused', async () => {
    await expect(prove(rescoped(byAws4(SEND), '/20150830/', '/20150829/'))).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        'Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date.',
      ),
    )
  })

  test('another terminator is refused', async () => {
    await expect(prove(rescoped(byAws4(SEND), 'aws4_request', 'aws5_request'))).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        "Credential should be scoped with a valid terminator: 'aws4_request'.",
      ),
    )
  })

  test('a region that is no word is refused', async () => {
    await expect(prove(rescoped(byAws4(SEND), 'us-east-1', 'US_EAST'))).rejects.toMatchObject({
      code: 'InvalidSignatureException',
    })
  })

  test('a scope with parts missing is incomplete', async () => {
    for (const scope of ['20150830/sms-voice/aws4_request', '20150830//sms-voice/aws4_request']) {
      const shown = rescoped(byAws4(SEND), '20150830/us-east-1/sms-voice/aws4_request', scope)
      await expect(prove(shown)).rejects.toEqual(
        refused(
          'IncompleteSignature',
          400,
          'Credential must have exactly 5 slash-delimited elements: ' +
            'key id/yyyymmdd/region/sms-voice/aws4_request.',
        ),
      )
    }
  })
})

describe('the Authorization header', () => {
  const PARTS =
    'Authorization header requires Credential=…, SignedHeaders=…, Signature=…, each once.'

  const cases: [rule: string, authorization: string, message: string][] = [
    [
      'of another scheme is incomplete',
      'Bearer abc',
      'Authorization header requires the algorithm AWS4-HMAC-SHA256.',
    ],
    [
      'without its parts is incomplete, and all of them are named',
      'AWS4-HMAC-SHA256 Other=1',
      "Authorization header requires 'Credential' parameter. " +
        "Authorization header requires 'SignedHeaders' parameter. " +
        "Authorization header requires 'Signature' parameter.",
    ],
    ['that is not made of parts is incomplete', 'AWS4-HMAC-SHA256 Credential', PARTS],
    [
      'with a part twice is incomplete',
      'AWS4-HMAC-SHA256 Credential=a, Credential=b, SignedHeaders=host, Signature=c',
      PARTS,
    ],
    [
      'with signed headers in capitals is incomplete',
      'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=Host, Signature=c',
      'SignedHeaders must be names in lower case, joined by semicolons.',
    ],
    [
      'with a signed header twice is incomplete',
      'AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host;host, Signature=c',
      'SignedHeaders must be names in lower case, joined by semicolons.',
    ],
    [
      'that is too long is incomplete',
      `AWS4-HMAC-SHA256 Credential=${'a'.repeat(5000)}`,
      'Authorization header is too long.',
    ],
  ]
  for (const [rule, authorization, message] of cases) {
    test(rule, async () => {
      await expect(prove(authorized(authorization))).rejects.toEqual(
        refused('IncompleteSignature', 400, message),
      )
    })
  }

  test('sent twice is incomplete', async () => {
    await expect(prove(authorized(['AWS4-HMAC-SHA256 a', 'AWS4-HMAC-SHA256 b']))).rejects.toEqual(
      refused('IncompleteSignature', 400, 'There is more than one Authorization header.'),
    )
  })

  test('without a date is incomplete', async () => {
    const shown = withHeaders(byAws4({}), { 'x-amz-date': undefined })

    await expect(prove(shown)).rejects.toEqual(
      refused(
        'IncompleteSignature',
        400,
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header.",
      ),
    )
  })

  test('with a date that is none is incomplete', async () => {
    for (const date of ['yesterday', '2015-08-30T12:36:00Z', '20159930T123600Z']) {
      await expect(prove(withHeaders(byAws4({}), { 'x-amz-date': date }))).rejects.toEqual(
        refused(
          'IncompleteSignature',
          400,
          "Date must be in ISO-8601 'basic format': yyyymmddThhmmssZ.",
        ),
      )
    }
  })

  test('that leaves the host unsigned is refused', async () => {
    const shown = byAws4({}, { extraHeadersToIgnore: { host: true } })

    await expect(prove(shown)).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        "'host' must be a 'SignedHeader' in the Authorization.",
      ),
    )
  })

  test('that leaves an x-amz header unsigned is refused', async () => {
    const shown = withHeaders(byAws4({}), { 'x-amz-target': 'Other' })

    await expect(prove(shown)).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        "'x-amz-target' must be a 'SignedHeader' in the Authorization.",
      ),
    )
  })

  test('that signs a header which was not sent is refused', async () => {
    const shown = withHeaders(byAws4({ headers: { 'X-Extra': '' } }), { 'x-extra': undefined })

    await expect(prove(shown)).rejects.toEqual(
      refused('InvalidSignatureException', 403, "'x-extra' is a SignedHeader, but was not sent."),
    )
  })

  test('over an unsigned payload leaves the body open, and nothing else', async () => {
    const headers = { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }
    const shown = byAws4({ ...SEND, headers })

    expect(await prove(shown)).toBe(OWNER)
    expect(await prove({ ...shown, body: Buffer.from('{}') })).toBe(OWNER)
    await expect(prove({ ...shown, method: 'DELETE' })).rejects.toEqual(
      refused('InvalidSignatureException', 403, MISMATCH),
    )
  })

  test('over its body cannot be turned into one over an unsigned payload', async () => {
    const shown = byAws4(SEND)
    const turned = { ...shown.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }

    await expect(prove({ ...shown, headers: turned })).rejects.toMatchObject({
      code: 'InvalidSignatureException',
    })
  })
})

describe('a presigned request', () => {
  test('over the hash of its body is accepted', async () => {
    expect(await prove(await presignedBySmithy({}))).toBe(OWNER)
    expect(await prove(await presignedBySmithy(SEND))).toBe(OWNER)
    expect(await prove(byAws4({}, PRESIGN))).toBe(OWNER)
  })

  test('over an unsigned payload is accepted without a body, whether it says so or not', async () => {
    const headers = { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }
    const said = await presignedBySmithy({ headers })
    const unsaid = byAws4({ service: 's3' }, PRESIGN)

    expect(said.url).toContain('UNSIGNED-PAYLOAD')
    expect(unsaid.url).not.toContain('UNSIGNED-PAYLOAD')
    expect(await prove(said)).toBe(OWNER)
    expect(await sigV4('s3').prove(unsaid, credentialsOf())).toBe(OWNER)
  })

  test('with a body leaves it open only where it says so', async () => {
    const headers = { 'X-Amz-Content-Sha256': 'UNSIGNED-PAYLOAD' }
    const said = await presignedBySmithy({ ...SEND, headers })
    const unsaid = { ...byAws4({ service: 's3' }, PRESIGN), body: Buffer.from('{}') }

    expect(await prove(said)).toBe(OWNER)
    await expect(sigV4('s3').prove(unsaid, credentialsOf())).rejects.toMatchObject({
      code: 'InvalidSignatureException',
    })
  })

  test('with another body is refused', async () => {
    const shown = await presignedBySmithy(SEND)

    await expect(prove({ ...shown, body: Buffer.from('{}') })).rejects.toEqual(
      refused('InvalidSignatureException', 403, MISMATCH),
    )
  })

  test('lives as long as it says', async () => {
    const shown = await presignedBySmithy({}, 3600)

    expect(await prove({ ...shown, now: new Date('2015-08-30T13:36:00Z') })).toBe(OWNER)
    await expect(prove({ ...shown, now: new Date('2015-08-30T13:36:01Z') })).rejects.toEqual(
      refused(
        'InvalidSignatureException',
        403,
        'Signature expired: 20150830T133600Z is now earlier than 20150830T133601Z.',
      ),
    )
  })

  test('lives a week at most, and its life is covered', async () => {
    const shown = await presignedBySmithy({}, 60)
    const living = (seconds: string) => ({
      ...shown,
      url: shown.url.replace('X-Amz-Expires=60', `X-Amz-Expires=${seconds}`),
    })

    await expect(prove(living('61'))).rejects.toEqual(
      refused('InvalidSignatureException', 403, MISMATCH),
    )
    for (const seconds of ['604801', '0', '-1', 'x']) {
      await expect(prove(living(seconds))).rejects.toEqual(
        refused('IncompleteSignature', 400, "'X-Amz-Expires' must be 1 to 604800 seconds."),
      )
    }
  })

  test('with a part missing is incomplete', async () => {
    const shown = await presignedBySmithy({})

    for (const name of ['Algorithm', 'Credential', 'Date', 'SignedHeaders', 'Signature']) {
      const url = shown.url.replace(`X-Amz-${name}=`, 'x=')
      await expect(prove({ ...shown, url })).rejects.toEqual(
        refused('IncompleteSignature', 400, `The query requires 'X-Amz-${name}'.`),
      )
    }
  })

  test('with a part twice is incomplete', async () => {
    const shown = await presignedBySmithy({})

    await expect(prove({ ...shown, url: `${shown.url}&X-Amz-Expires=1` })).rejects.toEqual(
      refused('IncompleteSignature', 400, "The query has 'X-Amz-Expires' twice."),
    )
  })

  test('with another algorithm or a broken encoding is incomplete', async () => {
    const shown = await presignedBySmithy({})
    const other = shown.url.replace('AWS4-HMAC-SHA256', 'AWS4-ECDSA-P256-SHA256')
    const broken = shown.url.replace('X-Amz-Credential=', 'X-Amz-Credential=%')

    for (const url of [other, broken]) {
      await expect(prove({ ...shown, url })).rejects.toMatchObject({ code: 'IncompleteSignature' })
    }
  })

  test('that is also signed in the header is incomplete', async () => {
    const shown = await presignedBySmithy({})

    await expect(
      prove(withHeaders(shown, { authorization: 'AWS4-HMAC-SHA256 a' })),
    ).rejects.toEqual(
      refused(
        'IncompleteSignature',
        400,
        'Sign in the Authorization header or in the query, not in both.',
      ),
    )
  })

  test('with an x-amz header added is refused', async () => {
    const shown = withHeaders(await presignedBySmithy({}), { 'x-amz-target': 'Other' })

    await expect(prove(shown)).rejects.toMatchObject({ code: 'InvalidSignatureException' })
  })
})

const PRESIGN = {
  signQuery: true,
  path: '/?X-Amz-Expires=60&X-Amz-Date=20150830T123600Z',
  headers: { Host: signers.HOST },
}
