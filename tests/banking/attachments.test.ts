import { crc32 } from 'node:zlib'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { openBank, wordsOf } from './bank.ts'
import { picture, upload } from './pictures.ts'

test('a file of an account comes back as it went in', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bytes = await picture({ width: 30, height: 20, format: 'jpeg' })

  const made = await bank.rest(
    `POST ${alice.account}/attachment`,
    bytes,
    upload('image/jpeg', 'The receipt'),
  )

  expect(made).toMatchObject({ status: 200, body: { id: 1 } })
  const read = await bank.rest(`GET /v1/user/${alice.userId}/attachment/1`)
  expect(read.body).toEqual({
    id: 1,
    created: '2030-01-01 00:00:00.000000',
    updated: '2030-01-01 00:00:00.000000',
    attachment: {
      description: 'The receipt',
      content_type: 'image/jpeg',
      urls: [
        {
          type: 'ORIGINAL',
          url: `http://polygraph.test/v1/user/${alice.userId}/attachment/1/content`,
        },
      ],
    },
  })
  for (const path of [`/v1/user/${alice.userId}/attachment/1`, `${alice.account}/attachment/1`]) {
    const content = await bank.rest(`GET ${path}/content`)
    expect(content.status).toBe(200)
    expect(content.headers['content-type']).toBe('image/jpeg')
    expect(content.headers['x-content-type-options']).toBe('nosniff')
    expect(Buffer.compare(content.body, bytes)).toBe(0)
  }
})

test('the graph takes and gives a file in base64, and tells its size', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const bytes = await picture({ width: 31, height: 17, format: 'gif' })
  const ids = { userId: alice.userId, account: alice.accountId }

  const made = await bank.graphql(
    `mutation ($userId: ID!, $account: ID!, $content: String!) {
       createBankAttachment(userId: $userId, monetaryAccountId: $account, content: $content,
         xVendorAttachmentDescription: "Café") {
         id monetaryAccountId created width height sizeBytes
         attachment { description contentType urls { type } } } }`,
    { ...ids, content: bytes.toString('base64') },
  )
  const read = await bank.graphql(
    `query ($userId: ID!, $account: ID!) {
       bankAttachment(userId: $userId, itemId: 1) { width height }
       bankAttachmentContent(userId: $userId, itemId: 1) { contentType base64 }
       monetaryAccountAttachmentContent(userId: $userId, monetaryAccountId: $account, itemId: 1) {
         contentType } }`,
    ids,
  )

  expect(made.data.createBankAttachment).toEqual({
    id: '1',
    monetaryAccountId: String(alice.accountId),
    created: '2030-01-01T00:00:00.000Z',
    width: 31,
    height: 17,
    sizeBytes: bytes.length,
    attachment: { description: 'Café', contentType: 'image/gif', urls: [{ type: 'ORIGINAL' }] },
  })
  expect(read.data).toEqual({
    bankAttachment: { width: 31, height: 17 },
    bankAttachmentContent: { contentType: 'image/gif', base64: bytes.toString('base64') },
    monetaryAccountAttachmentContent: { contentType: 'image/gif' },
  })
})

test('an image that a camera held upright is measured as people see it', async () => {
  const bank = await openBank()
  const bytes = await sharp(await picture({ width: 40, height: 30, format: 'jpeg' }))
    .withExif({ IFD0: { Orientation: '6' } })
    .withMetadata({ orientation: 6 })
    .toBuffer()

  const { data } = await bank.graphql(
    `mutation ($content: String!) {
       createPublicAttachment(content: $content, xVendorAttachmentDescription: "Me") {
         width height } }`,
    { content: bytes.toString('base64') },
  )

  expect(data.createPublicAttachment).toEqual({ width: 30, height: 40 })
})

test('what a file is, its bytes tell, and not its name', async () => {
  const bank = await openBank()
  const png = await picture({ width: 4, height: 4 })
  const send = (body: Buffer, type: string) =>
    bank.rest('POST /v1/attachment-public', body, upload(type))

  const undeclared = await send(png, 'application/octet-stream')
  const alias = await send(await picture({ width: 4, height: 4, format: 'jpeg' }), 'image/jpg')
  const another = await send(png, 'image/jpeg')
  const document = await send(Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj\n'), 'application/pdf')
  const hidden = await send(Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj\n'), 'image/png')
  const script = await send(Buffer.from('<svg onload="alert(1)"/>'), 'application/octet-stream')
  const broken = await send(png.subarray(0, 20), 'image/png')

  expect(undeclared.status).toBe(200)
  expect(alias.status).toBe(200)
  expect([another.status, wordsOf(another)]).toEqual([
    400,
    'Content-Type says image/jpeg, but the bytes are image/png.',
  ])
  expect([document.status, wordsOf(document)]).toEqual([
    415,
    'Content-Type must be one of image/png, image/jpeg, image/gif, not application/pdf.',
  ])
  expect([hidden.status, wordsOf(hidden)]).toEqual([
    415,
    'The file must be one of image/png, image/jpeg, image/gif; its bytes are application/pdf.',
  ])
  expect(script.status).toBe(415)
  expect(broken.status).toBe(400)
  expect((await bank.rest('GET /v1/attachment-public/3')).status).toBe(404)
})

test('a file needs bytes and a description, and has at most ten mebibytes', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const path = `POST ${alice.account}/attachment`
  const png = await picture({ width: 4, height: 4 })

  const empty = await bank.rest(path, undefined, upload('image/png'))
  const silent = await bank.rest(path, png, { headers: { 'content-type': 'image/png' } })
  const huge = await bank.rest(path, Buffer.alloc(10 * 1024 * 1024 + 1), upload('image/png'))
  const large = await bank.rest(
    path,
    Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024 - png.length)]),
    upload('image/png'),
  )

  expect([empty.status, wordsOf(empty)]).toEqual([400, 'content is required.'])
  expect([silent.status, wordsOf(silent)]).toEqual([
    400,
    'X-Vendor-Attachment-Description is required.',
  ])
  expect(huge.status).toBe(413)
  expect(large).toMatchObject({ status: 200, body: { id: 1 } })
})

test('an image of more than forty million pixels is refused, however few bytes it has', async () => {
  const bank = await openBank()
  const bytes = await picture({ width: 4, height: 4 })
  // Width and height stand in the first part of a PNG, followed by its checksum.
  bytes.writeUInt32BE(8000, 16)
  bytes.writeUInt32BE(5001, 20)
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29)

  const refused = await bank.rest('POST /v1/attachment-public', bytes, upload('image/png'))

  expect([refused.status, wordsOf(refused)]).toEqual([
    400,
    'The image cannot be read, or has more than 40000000 pixels.',
  ])
})

test('a description in UTF-8 is read as such, and one that is not as it came', async () => {
  const bank = await openBank()
  const png = await picture({ width: 4, height: 4 })
  const described = async (sent: string) => {
    const made = await bank.rest('POST /v1/attachment-public', png, upload('image/png', sent))
    const { body } = await bank.rest(`GET /v1/attachment-public/${made.body.uuid}`)
    return body.attachment.description
  }

  expect(await described(Buffer.from('Café').toString('latin1'))).toBe('Café')
  expect(await described('Café')).toBe('Café')
})

test('the graph refuses bytes that are not in base64', async () => {
  const bank = await openBank()

  const { errors } = await bank.graphql(
    `mutation { createPublicAttachment(content: "<png>", xVendorAttachmentDescription: "Me") { id } }`,
  )

  expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
})

test('a file of an account is its owner’s alone', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const second = await bank.holder('alice')
  const bob = await bank.holder('bob')
  const png = await picture({ width: 4, height: 4 })
  await bank.rest(`POST ${alice.account}/attachment`, png, upload('image/png'))
  const asBob = { credential: 'bob' } as const
  const statusOf = async (request: string, options = {}) =>
    (await bank.rest(request, undefined, options)).status

  expect(await statusOf(`GET /v1/user/${alice.userId}/attachment/1`, asBob)).toBe(403)
  expect(await statusOf(`GET /v1/user/${bob.userId}/attachment/1`, asBob)).toBe(404)
  expect(await statusOf(`GET /v1/user/${bob.userId}/attachment/1/content`, asBob)).toBe(404)
  expect(await statusOf(`GET /v1/user/${second.userId}/attachment/1/content`)).toBe(404)
  expect(await statusOf(`GET ${second.account}/attachment/1/content`)).toBe(404)
  expect(await statusOf(`GET /v1/user/${alice.userId}/attachment/x`)).toBe(400)
  expect(await statusOf(`GET /v1/user/${alice.userId}/attachment/1`, { credential: null })).toBe(
    401,
  )
  const foreign = await bank.rest(`POST ${alice.account}/attachment`, png, {
    ...upload('image/png'),
    ...asBob,
  })
  expect(foreign.status).toBe(403)
})

test('an upload that is repeated with its request id is kept once', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const [png, other] = [
    await picture({ width: 4, height: 4 }),
    await picture({ width: 5, height: 5 }),
  ]
  const send = (body: Buffer) => {
    const { headers } = upload('image/png')
    return bank.rest(`POST ${alice.account}/attachment`, body, {
      headers: { ...headers, 'x-vendor-client-request-id': 'one' },
    })
  }

  expect((await send(png)).body).toEqual({ id: 1 })
  expect((await send(png)).body).toEqual({ id: 1 })
  expect((await send(other)).status).toBe(400)
  expect((await bank.rest(`GET /v1/user/${alice.userId}/attachment/2`)).status).toBe(404)
})

test('a payment carries attachments of the account that pays, and no others', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice', 100)
  const bob = await bank.holder('bob')
  const png = await picture({ width: 4, height: 4 })
  await bank.rest(`POST ${alice.account}/attachment`, png, upload('image/png'))
  await bank.rest(`POST ${bob.account}/attachment`, png, {
    ...upload('image/png'),
    credential: 'bob',
  })

  const paid = await bank.pay(alice, bob.iban, '1.00', { attachment: [{ id: 1 }] })
  const foreign = await bank.pay(alice, bob.iban, '1.00', { attachment: [{ id: 2 }] })
  const missing = await bank.pay(alice, bob.iban, '1.00', { attachment: [{ id: 9 }] })

  const read = await bank.rest(`GET ${alice.account}/payment/${paid.body.id}`)
  expect(read.body.attachment).toEqual([{ id: 1, monetary_account_id: alice.accountId }])
  expect([foreign.status, wordsOf(foreign)]).toEqual([
    400,
    'attachment: there is no attachment 2 of this account.',
  ])
  expect(missing.status).toBe(400)
  expect(await bank.balance(alice)).toBe('99.00')
})

test('a public attachment has a number and a uuid, and everyone may see it', async () => {
  const bank = await openBank()
  const bytes = await picture({ width: 8, height: 6 })

  const made = await bank.rest('POST /v1/attachment-public', bytes, upload('image/png', 'Logo'))

  expect(made.status).toBe(200)
  const { Id, uuid } = made.body
  expect(Id).toEqual({ id: 1 })
  for (const name of ['1', uuid, uuid.toUpperCase()]) {
    const read = await bank.rest(`GET /v1/attachment-public/${name}`, undefined, {
      credential: 'bob',
    })
    expect(read.body).toEqual({
      uuid,
      created: '2030-01-01 00:00:00.000000',
      updated: '2030-01-01 00:00:00.000000',
      attachment: {
        description: 'Logo',
        content_type: 'image/png',
        urls: [
          {
            type: 'ORIGINAL',
            url: `http://polygraph.test/v1/attachment-public/${uuid}/content`,
          },
        ],
      },
    })
  }
  const content = await bank.rest(`GET /v1/attachment-public/${uuid}/content`, undefined, {
    credential: null,
  })
  expect(content.headers['content-security-policy']).toBe("default-src 'none'; sandbox")
  expect(Buffer.compare(content.body, bytes)).toBe(0)
  const { data } = await bank.graphql(
    `query ($uuid: ID!) {
       publicAttachment(itemId: 1) { id uuid width height sizeBytes }
       publicAttachmentContent(itemId: $uuid) { base64 } }`,
    { uuid },
  )
  expect(data).toEqual({
    publicAttachment: { id: '1', uuid, width: 8, height: 6, sizeBytes: bytes.length },
    publicAttachmentContent: { base64: bytes.toString('base64') },
  })
})

test('the bytes of a public attachment are not found by guessing numbers', async () => {
  const bank = await openBank()
  await bank.rest(
    'POST /v1/attachment-public',
    await picture({ width: 4, height: 4 }),
    upload('image/png'),
  )
  const statusOf = async (request: string, credential: 'alice' | null = 'alice') =>
    (await bank.rest(request, undefined, { credential })).status

  expect(await statusOf('GET /v1/attachment-public/1/content')).toBe(400)
  expect(await statusOf('GET /v1/attachment-public/1', null)).toBe(401)
  expect(await statusOf('GET /v1/attachment-public/2')).toBe(404)
  expect(await statusOf('GET /v1/attachment-public/perhaps')).toBe(400)
  expect(
    await statusOf('GET /v1/attachment-public/00000000-0000-7000-8000-000000000000/content'),
  ).toBe(404)
})

test('everything that is kept is announced, without what is in it', async () => {
  const bank = await openBank()
  const alice = await bank.holder('alice')
  const png = await picture({ width: 60, height: 60 })
  await bank.store.sql('DELETE FROM event')

  await bank.rest(`POST ${alice.account}/attachment`, png, upload('image/png'))
  const made = await bank.rest('POST /v1/attachment-public', png, upload('image/png'))
  await bank.rest('POST /v1/avatar', { attachment_public_uuid: made.body.uuid })

  const events = await bank.store.sql('SELECT type, body FROM event ORDER BY number')
  expect(events.map(({ type, body }) => [type, JSON.parse(body)])).toEqual([
    ['banking.attachment.created', { user_id: alice.userId, monetary_account_id: alice.accountId }],
    ['banking.attachment-public.created', { id: 1 }],
    ['banking.attachment-public.created', { id: 2 }],
    ['banking.avatar.created', { id: 1 }],
  ])
})
