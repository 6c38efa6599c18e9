import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import type { TestService } from '../open.ts'
import { assign, contribute, openContributions, publish, upload } from './scene.ts'

const DAY_MS = 24 * 60 * 60_000

/** A picture that says where it was taken: 52° 30' N, 13° 24' E. */
const photo = (width = 800, height = 400) =>
  sharp({ create: { width, height, channels: 3, background: '#3366cc' } })
    .withExif({
      IFD0: { Artist: 'Someone' },
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '52/1 30/1 0/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '13/1 24/1 0/1',
      },
    })
    .jpeg()
    .toBuffer()

const box = (type: string, ...content: (Buffer | number[])[]) => {
  const inside = Buffer.concat(content.map((one) => Buffer.from(one)))
  const size = Buffer.alloc(4)
  size.writeUInt32BE(inside.length + 8)
  return Buffer.concat([size, Buffer.from(type, 'latin1'), inside])
}
const long = (...values: number[]) => {
  const bytes = Buffer.alloc(values.length * 4)
  values.forEach((value, at) => bytes.writeUInt32BE(value, at * 4))
  return bytes
}

/** A video of 2.5 seconds, 640 by 360, whose camera wrote where it was. */
function video(): Buffer {
  const header = box('mvhd', long(0, 0, 0, 1_000, 2_500), Buffer.alloc(80))
  const track = box('trak', box('tkhd', Buffer.alloc(76), long(640 << 16, 360 << 16)))
  const place = box('udta', box('\u00a9xyz', [0, 18, 0, 0], Buffer.from('+52.5000+013.4000/')))
  return Buffer.concat([
    box('ftyp', Buffer.from('isom'), long(512), Buffer.from('isommp41')),
    box('moov', header, track, place),
    box('mdat', Buffer.alloc(64, 7)),
  ])
}

const USAGES = `query ($id: ID!) { contribution(id: $id) { media {
  id type contentType contentLength digest width height duration problem
  place { latLong { latitude longitude } } artifacts { label contentType width height url } } } }`

/** The path of a link, as `rest` asks for it. */
const pathOf = (url: string) => url.replace('http://polygraph.test', '')
const artifactsOf = async (service: TestService, id: string) => {
  const { data } = await service.graphql(USAGES, { id }, { credential: 'bob' })
  return data.contribution.media[0].artifacts as { label: string; url: string; width: number }[]
}

test('a picture is read, copied in every format, and its copies do not say where it was taken', async () => {
  const service = await openContributions()
  const bytes = await photo()

  const uploaded = await upload(service, bytes, { type: 'image/png' })
  const id = await publish(service, { mediaUsages: [{ media: { id: uploaded.body.id } }] })
  const early = await service.rest(`GET /1/contributions/${id}`)
  await service.advance(1_000)
  const late = await service.rest(`GET /1/contributions/${id}`)
  const { data } = await service.graphql(USAGES, { id }, { credential: 'bob' })

  expect(uploaded).toMatchObject({
    status: 200,
    body: { type: 'image', place: { latLong: { latitude: 52.5, longitude: 13.4 } } },
  })
  expect(early.body.mediaUsages).toEqual([
    { id: uploaded.body.id, media: { id: uploaded.body.id, type: 'image' }, artifacts: [] },
  ])
  expect(late.body.mediaUsages[0].artifacts).toMatchObject([
    { label: 'thumbnail', contentType: 'image/jpeg', width: 160, height: 80 },
    { label: 'medium', width: 640, height: 320 },
    { label: 'large', width: 800, height: 400 },
    { label: 'fullsize', width: 800, height: 400 },
  ])
  expect(data.contribution.media).toMatchObject([
    {
      type: 'image',
      contentType: 'image/jpeg',
      contentLength: bytes.length,
      digest: createHash('sha256').update(bytes).digest('hex'),
      width: 800,
      height: 400,
      place: { latLong: { latitude: 52.5, longitude: 13.4 } },
    },
  ])
  for (const { url, contentLength } of late.body.mediaUsages[0].artifacts) {
    const copy = await service.rest(`GET ${pathOf(url)}`, undefined, { credential: null })
    expect(copy.headers['content-type']).toBe('image/jpeg')
    expect(copy.body.length).toBe(contentLength)
    expect((await sharp(copy.body).metadata()).exif).toBeUndefined()
  }
})

test('the place in a file is for its owner and for moderators', async () => {
  const service = await openContributions()
  const mediaOf = async (credential: 'alice' | 'bob') => {
    const { body } = await upload(service, await photo(40, 40), { credential })
    return [{ media: { id: body.id } }]
  }
  const assignment = await assign(service)
  const moderated = await publish(service, {
    assignment: { id: assignment },
    mediaUsages: await mediaOf('bob'),
  })
  const foreign = await publish(service, { mediaUsages: await mediaOf('alice') }, 'alice')
  const placeFor = async (id: string, credential: 'alice' | 'bob') => {
    const { body } = await service.rest(`GET /1/contributions/${id}`, undefined, { credential })
    return body.mediaUsages[0].media.place?.latLong
  }

  expect(await placeFor(moderated, 'bob')).toEqual({ latitude: 52.5, longitude: 13.4 })
  expect(await placeFor(moderated, 'alice')).toEqual({ latitude: 52.5, longitude: 13.4 })
  expect(await placeFor(foreign, 'bob')).toBeUndefined()
})

test('a video is read, and its public copy does not say where it was', async () => {
  const service = await openContributions()
  const bytes = video()

  const uploaded = await upload(service, bytes)
  const id = await publish(service, { mediaUsages: [{ media: { id: uploaded.body.id } }] })
  await service.advance(1_000)
  const listed = await service.rest('GET /1/contributions?mediaType=video')
  const images = await service.rest('GET /1/contributions?mediaType=image')
  const both = await service.rest('GET /1/contributions?mediaType=image,video')
  const [copy] = await artifactsOf(service, id)
  const public_ = await service.rest(`GET ${pathOf(copy!.url)}`, undefined, { credential: null })

  expect(uploaded.body).toMatchObject({
    type: 'video',
    duration: 2.5,
    place: { latLong: { latitude: 52.5, longitude: 13.4 } },
  })
  expect(copy).toMatchObject({ label: 'fullsize', width: 640, height: 360 })
  expect([listed.body.length, images.body.length, both.body.length]).toEqual([1, 0, 1])
  expect(public_.body.length).toBe(bytes.length)
  expect(bytes.includes('+52.5000')).toBe(true)
  expect(public_.body.includes('+52.5000')).toBe(false)
  expect(public_.body.subarray(-64)).toEqual(Buffer.alloc(64, 7))
})

test('what a file is is read from its bytes, and what is neither image nor video is refused', async () => {
  const service = await openContributions()
  const png = await sharp({ create: { width: 3, height: 3, channels: 4, background: '#fff' } })
    .png()
    .toBuffer()

  const named = await upload(service, Buffer.from('<svg xmlns="a"/>'), { type: 'image/jpeg' })
  const pdf = await upload(service, Buffer.from('%PDF-1.4\n%\n'))
  const empty = await service.rest('POST /1/media', undefined, { credential: 'bob' })
  const cut = await upload(service, png.subarray(0, 20))
  const noHeader = await upload(service, video().subarray(0, 32))
  const tooLarge = await upload(service, Buffer.alloc(33 * 1024 * 1024))
  const beyond = await upload(service, Buffer.alloc(47 * 1024 * 1024))

  expect(named).toMatchObject({
    status: 415,
    body: { message: expect.stringContaining('unknown') },
  })
  expect(pdf).toMatchObject({
    status: 415,
    body: { message: expect.stringContaining('application/pdf') },
  })
  expect(empty).toMatchObject({ status: 400, body: { fields: [{ name: 'content' }] } })
  expect(cut).toMatchObject({ status: 400, body: { fields: [{ name: 'content' }] } })
  expect(noHeader).toMatchObject({ status: 400, body: { fields: [{ name: 'content' }] } })
  expect(tooLarge).toMatchObject({ status: 413 })
  expect(beyond).toMatchObject({ status: 413 })
  const [kept] = await service.store.sql('SELECT count(*) AS n FROM media_file')
  expect(kept!.n).toBe(0)
})

test('a picture whose header is whole and whose rest is not has no copies, and says so', async () => {
  const service = await openContributions()
  const broken = (await photo(2_000, 2_000)).subarray(0, -1_000)

  const { body } = await upload(service, broken)
  await service.advance(1_000)
  const { data } = await service.graphql(
    'query ($id: ID!) { mediaFile(id: $id) { artifacts { label } problem } }',
    { id: body.id },
    { credential: 'bob' },
  )

  expect(data.mediaFile).toEqual({
    artifacts: [],
    problem: 'The picture behind the header cannot be read.',
  })
})

test('base64 is read where text is sent, and in the graph', async () => {
  const service = await openContributions()
  const text = (await photo(20, 20)).toString('base64')

  const asText = await upload(service, Buffer.from(text), { type: 'text/plain' })
  const asJson = await upload(service, Buffer.from(JSON.stringify(text)), {
    type: 'application/json',
  })
  const noBase64 = await upload(service, Buffer.from('¿?'), { type: 'text/plain' })
  const { data } = await service.graphql(
    'mutation ($content: String!) { createMedia(content: $content) { type width owner { id } contribution { id } } }',
    { content: text },
  )

  expect([asText.status, asJson.status]).toEqual([200, 200])
  expect(noBase64).toMatchObject({ status: 400, body: { fields: [{ name: 'content' }] } })
  expect(data.createMedia).toEqual({
    type: 'image',
    width: 20,
    owner: { id: 'alice' },
    contribution: null,
  })
})

test('a file is used once, and by its owner', async () => {
  const service = await openContributions()
  const { body: file } = await upload(service, await photo(20, 20))
  const mediaUsages = [{ media: { id: file.id } }]
  await contribute(service, { mediaUsages })

  const again = await service.rest(
    'POST /1/contributions',
    { headline: 'A', mediaUsages },
    { credential: 'bob' },
  )
  const foreign = await service.rest('POST /1/contributions', { headline: 'A', mediaUsages })
  const unseen = await service.graphql('query ($id: ID!) { mediaFile(id: $id) { id } }', {
    id: file.id,
  })

  expect(again).toMatchObject({ status: 400, body: { fields: [{ name: 'mediaUsages' }] } })
  expect(foreign).toMatchObject({ status: 400, body: { fields: [{ name: 'mediaUsages' }] } })
  expect(unseen.errors![0]!.extensions.code).toBe('NotFound')
})

test('who has a hundred files that are not used uploads no more', async () => {
  const service = await openContributions()
  const { body: file } = await upload(service, await photo(20, 20))
  const { mediaFiles } = await import('../../resolvers/contributions/records.ts')
  const kept = await service.store.get(mediaFiles, file.id)
  await service.store.transaction(async (tx) => {
    for (let n = 1; n < 100; n += 1) await tx.insert(mediaFiles, { ...kept!, id: `copy-${n}` })
  })

  const tooMany = await upload(service, await photo(30, 30))
  await contribute(service, { mediaUsages: [{ media: { id: file.id } }] })
  const again = await upload(service, await photo(30, 30))

  expect([tooMany.status, again.status]).toEqual([429, 200])
})

test('a cover is shown with its assignment', async () => {
  const service = await openContributions()
  const { body: file } = await upload(service, await photo(20, 20), { credential: 'alice' })
  const id = await assign(service, { cover: { media: { id: file.id } } })
  await service.advance(1_000)

  const { body } = await service.rest(`GET /1/assignments/${id}`, undefined, { credential: 'bob' })
  const { data } = await service.graphql(
    'query ($id: ID!) { assignment(id: $id) { cover { id artifacts { label } } } }',
    { id },
    { credential: 'bob' },
  )

  expect(body.cover.artifacts.map(({ label }: any) => label)).toEqual([
    'thumbnail',
    'medium',
    'large',
    'fullsize',
  ])
  expect(data.assignment.cover.id).toBe(file.id)
})

test('bytes are kept once, and go with the last file that has them', async () => {
  const service = await openContributions()
  const bytes = await photo(64, 64)
  const blobs = async () =>
    Number(
      (
        await service.store.sql("SELECT count(*) AS n FROM blob_version WHERE key LIKE 'media/%'")
      )[0]!.n,
    )
  const first = await upload(service, bytes)
  const second = await upload(service, bytes)
  const used = await contribute(service, { mediaUsages: [{ media: { id: first.body.id } }] })

  // Thumbnail, medium, large and full size of a small picture are the same.
  await service.advance(1_000)
  const whileBoth = await blobs()
  await service.advance(DAY_MS)
  const afterUnused = await blobs()
  const [files] = await service.store.sql('SELECT count(*) AS n FROM media_file')
  await service.rest(`DELETE /1/contributions/${used}`, undefined, { credential: 'bob' })
  await service.advance(1_000)

  expect(second.status).toBe(200)
  expect([whileBoth, afterUnused, files!.n, await blobs()]).toEqual([2, 2, 1, 0])
})

test('a link gives ranges, tags, and nothing to those who have it already', async () => {
  const service = await openContributions()
  const { body: file } = await upload(service, await photo())
  const id = await publish(service, { mediaUsages: [{ media: { id: file.id } }] })
  await service.advance(1_000)
  const path = pathOf((await artifactsOf(service, id))[3]!.url)
  const ask = (headers: Record<string, string> = {}, method = 'GET') =>
    service.rest(`${method} ${path}`, undefined, { headers, credential: null })

  const whole = await ask()
  const size = whole.body.length
  const tag = whole.headers['etag']!
  const begin = await ask({ range: 'bytes=0-9' })
  const end = await ask({ range: 'bytes=-5' })
  const rest = await ask({ range: `bytes=${size - 7}-` })
  const beyond = await ask({ range: `bytes=${size}-` })
  const many = await ask({ range: 'bytes=0-1,3-4' })
  const other = await ask({ range: 'bytes=0-9', 'if-range': '"another"' })
  const known = await ask({ 'if-none-match': tag })
  const head = await ask({}, 'HEAD')

  expect(whole).toMatchObject({ status: 200, headers: { 'accept-ranges': 'bytes' } })
  expect(begin).toMatchObject({ status: 206, headers: { 'content-range': `bytes 0-9/${size}` } })
  expect(begin.body).toEqual(whole.body.subarray(0, 10))
  expect(end.body).toEqual(whole.body.subarray(-5))
  expect(rest.body).toEqual(whole.body.subarray(-7))
  expect(beyond).toMatchObject({ status: 416, headers: { 'content-range': `bytes */${size}` } })
  expect([many.status, other.status, known.status]).toEqual([200, 200, 304])
  expect(head).toMatchObject({ status: 200, headers: { 'content-length': String(size) } })
})

test('a link ends, and cannot be made up', async () => {
  const service = await openContributions()
  const { body: file } = await upload(service, await photo(200, 200))
  const id = await publish(service, { mediaUsages: [{ media: { id: file.id } }] })
  await service.advance(1_000)
  const [thumbnail, medium] = await artifactsOf(service, id)
  const path = pathOf(thumbnail!.url)
  const status = async (path: string) =>
    (await service.rest(`GET ${path}`, undefined, { credential: null })).status

  const otherKey = `${pathOf(medium!.url).split('?')[0]}?${path.split('?')[1]}`
  const early = [await status(path), await status(path.split('?')[0]!), await status(otherKey)]
  await service.advance(2 * DAY_MS)

  expect(early).toEqual([200, 404, 404])
  expect(await status(path)).toBe(404)
})

test('the formats are those in which copies are made', async () => {
  const service = await openContributions()

  const { body } = await service.rest('GET /1/artifact-formats')
  const { data } = await service.graphql(
    '{ artifactFormats { contribution { label forContentType } cover { label } profileImage { label } } }',
  )

  expect(body.contribution[0]).toEqual({
    label: 'thumbnail',
    contentType: 'image/jpeg',
    fileExtension: 'jpg',
    forContentType: 'image',
    preserveAspectRatio: true,
    upscaleAllowed: false,
    public: true,
  })
  expect(data.artifactFormats).toEqual({
    contribution: [
      { label: 'thumbnail', forContentType: 'image' },
      { label: 'medium', forContentType: 'image' },
      { label: 'large', forContentType: 'image' },
      { label: 'fullsize', forContentType: 'image' },
      { label: 'fullsize', forContentType: 'video' },
    ],
    cover: [{ label: 'thumbnail' }, { label: 'medium' }, { label: 'large' }, { label: 'fullsize' }],
    profileImage: [],
  })
})
