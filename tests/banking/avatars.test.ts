import { expect, test } from 'vitest'
import { openBank, wordsOf, type TestBank } from './bank.ts'
import { picture, sizeOf, upload, type Picture } from './pictures.ts'

async function publicPicture(bank: TestBank, of: Picture): Promise<string> {
  const { format = 'png' } = of
  const made = await bank.rest(
    'POST /v1/attachment-public',
    await picture(of),
    upload(`image/${format}`),
  )
  return made.body.uuid
}

test('an avatar is a picture in the sizes in which it is shown', async () => {
  const bank = await openBank()
  const uuid = await publicPicture(bank, { width: 600, height: 520, format: 'jpeg' })

  const made = await bank.rest('POST /v1/avatar', { attachment_public_uuid: uuid })

  expect(made.status).toBe(200)
  expect(Object.keys(made.body)).toEqual(['uuid'])
  const { body } = await bank.rest(`GET /v1/avatar/${made.body.uuid}`, undefined, {
    credential: 'bob',
  })
  expect(body.uuid).toBe(made.body.uuid)
  expect(body.image).toMatchObject([
    { attachment_public_uuid: uuid, content_type: 'image/jpeg', width: 600, height: 520 },
    { content_type: 'image/jpeg', width: 512, height: 512 },
    { content_type: 'image/jpeg', width: 128, height: 128 },
    { content_type: 'image/jpeg', width: 48, height: 48 },
  ])
  const small = body.image[3].attachment_public_uuid
  const { body: bytes } = await bank.rest(`GET /v1/attachment-public/${small}/content`)
  expect(await sizeOf(bytes)).toEqual({ width: 48, height: 48, format: 'jpeg' })
})

test('an avatar is never larger than the picture that it is made of', async () => {
  const bank = await openBank()
  const uuid = await publicPicture(bank, { width: 300, height: 50, format: 'gif' })

  await bank.rest('POST /v1/avatar', { image: [{ attachment_public_uuid: uuid }] })

  const { body } = await bank.rest('GET /v1/avatar/1')
  expect(body.image).toMatchObject([
    { attachment_public_uuid: uuid, content_type: 'image/gif', width: 300, height: 50 },
    { content_type: 'image/png', width: 48, height: 48 },
  ])
})

test('the graph makes and shows an avatar, with what it is of', async () => {
  const bank = await openBank()
  const uuid = await publicPicture(bank, { width: 20, height: 20 })
  const own = '01890000-0000-7000-8000-000000000001'
  const anchor = '01890000-0000-7000-8000-000000000002'

  const made = await bank.graphql(
    `mutation ($uuid: String!, $own: String!, $anchor: String!) {
       createBankAvatar(attachmentPublicUuid: $uuid, uuid: $own, anchorUuid: $anchor, style: "ROUND") {
         uuid } }`,
    { uuid, own, anchor },
  )
  const read = await bank.graphql(
    `query ($own: ID!) { bankAvatar(itemId: $own) {
       id uuid anchorUuid style created
       image { attachmentPublicUuid contentType width height url } } }`,
    { own },
  )

  expect(made.data.createBankAvatar).toEqual({ uuid: own })
  expect(read.data.bankAvatar).toEqual({
    id: '1',
    uuid: own,
    anchorUuid: anchor,
    style: 'ROUND',
    created: '2030-01-01T00:00:00.000Z',
    image: [
      {
        attachmentPublicUuid: uuid,
        contentType: 'image/png',
        width: 20,
        height: 20,
        url: `http://polygraph.test/v1/attachment-public/${uuid}/content`,
      },
    ],
  })
})

test('an avatar that is asked for twice with one request id is made once', async () => {
  const bank = await openBank()
  const attachment_public_uuid = await publicPicture(bank, { width: 60, height: 60 })
  const headers = { 'x-vendor-client-request-id': 'one' }
  const send = () => bank.rest('POST /v1/avatar', { attachment_public_uuid }, { headers })

  const [first, again] = [await send(), await send()]

  expect(again.body).toEqual(first.body)
  expect((await bank.rest('GET /v1/avatar/2')).status).toBe(404)
  expect((await bank.rest('GET /v1/attachment-public/3')).status).toBe(404)
})

test('an avatar needs a picture that is there, and a uuid that is free', async () => {
  const bank = await openBank()
  const attachment_public_uuid = await publicPicture(bank, { width: 20, height: 20 })
  const uuid = '01890000-0000-7000-8000-000000000001'
  const send = (body: object, credential: 'alice' | null = 'alice') =>
    bank.rest('POST /v1/avatar', body, { credential })
  await send({ attachment_public_uuid, uuid })

  const none = await send({})
  const missing = await send({ attachment_public_uuid: uuid })
  const malformed = await send({ attachment_public_uuid: '1' })
  const taken = await send({ attachment_public_uuid, uuid })
  const unknown = await bank.rest('GET /v1/avatar/2')

  expect([none.status, wordsOf(none)]).toEqual([
    400,
    'attachment_public_uuid is required: an avatar is made of a public attachment.',
  ])
  expect(missing.status).toBe(404)
  expect(malformed.status).toBe(400)
  expect([taken.status, wordsOf(taken)]).toEqual([400, `There is an avatar ${uuid} already.`])
  expect(unknown.status).toBe(404)
  expect((await send({ attachment_public_uuid }, null)).status).toBe(401)
  expect((await bank.rest('GET /v1/avatar/nobody')).status).toBe(400)
})

test('a picture whose bytes end too early makes no avatar', async () => {
  const bank = await openBank()
  const bytes = await picture({ width: 200, height: 200 })
  const made = await bank.rest(
    'POST /v1/attachment-public',
    bytes.subarray(0, bytes.length - 100),
    upload('image/png'),
  )

  const refused = await bank.rest('POST /v1/avatar', { attachment_public_uuid: made.body.uuid })

  expect([refused.status, wordsOf(refused)]).toEqual([400, 'The image cannot be read.'])
  expect((await bank.rest('GET /v1/avatar/1')).status).toBe(404)
})

test('an account shows an avatar that there is, and no other', async () => {
  const bank = await openBank()
  const { userId, accountId } = await bank.holder('alice')
  const account = `/v1/user/${userId}/monetary-account-bank/${accountId}`
  const attachment_public_uuid = await publicPicture(bank, { width: 20, height: 20 })
  const { body } = await bank.rest('POST /v1/avatar', { attachment_public_uuid })

  const refused = await bank.rest(`PUT ${account}`, { avatar_uuid: attachment_public_uuid })
  const unopened = await bank.rest(`POST /v1/user/${userId}/monetary-account-bank`, {
    avatar_uuid: attachment_public_uuid,
  })
  const changed = await bank.rest(`PUT ${account}`, { avatar_uuid: body.uuid })

  expect([refused.status, wordsOf(refused)]).toEqual([
    400,
    `avatar_uuid: there is no avatar ${attachment_public_uuid}.`,
  ])
  expect(unopened.status).toBe(400)
  expect(changed.status).toBe(200)
  expect((await bank.rest(`GET ${account}`)).body.avatar).toBe(body.uuid)
})

test('a fundraiser shows a public attachment', async () => {
  const bank = await openBank()
  const { userId } = await bank.holder('alice')
  const uuid = await publicPicture(bank, { width: 20, height: 20 })
  const update = (sent: string) =>
    bank.graphql(
      `mutation ($user: ID!, $uuid: String!) {
         updateFundraiserProfile(userId: $user, itemId: 1, attachmentPublicUuid: $uuid) {
           attachment { contentType urls { url } } } }`,
      { user: userId, uuid: sent },
    )

  const { data } = await update(uuid)
  const missing = await update('01890000-0000-7000-8000-000000000001')

  const url = `http://polygraph.test/v1/attachment-public/${uuid}/content`
  expect(data.updateFundraiserProfile.attachment).toEqual({
    contentType: 'image/png',
    urls: [{ url }],
  })
  expect(missing.errors?.[0].extensions).toMatchObject({ code: 'NotFound', status: 404 })
  const { body } = await bank.rest(`GET /v1/user/${userId}/vendorme-fundraiser-profile/1`)
  expect(body.attachment).toEqual({
    description: 'A picture',
    content_type: 'image/png',
    urls: [{ type: 'ORIGINAL', url }],
  })
})
