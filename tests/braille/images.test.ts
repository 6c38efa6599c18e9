import sharp from 'sharp'
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/braille.ts'
import { openForTest } from '../open.ts'

/** Where the dots 1 to 8 have their middle. */
const PLACES: readonly (readonly [number, number])[] = [
  [7, 7],
  [7, 17],
  [7, 27],
  [17, 7],
  [17, 17],
  [17, 27],
  [7, 37],
  [17, 37],
]

async function raisedDots(gif: Buffer): Promise<number[]> {
  const { data, info } = await sharp(gif).greyscale().raw().toBuffer({ resolveWithObject: true })
  const darkness = ([x, y]: readonly [number, number]) =>
    data[(y * info.width + x) * info.channels]!
  return PLACES.flatMap((place, i) => (darkness(place) < 64 ? [i + 1] : []))
}

test.for([
  ['00.gif', []],
  ['0b.gif', [1, 2, 4]],
  ['20.gif', [6]],
  ['3f.gif', [1, 2, 3, 4, 5, 6]],
  ['c1.gif', [1, 7, 8]],
  ['ff.gif', [1, 2, 3, 4, 5, 6, 7, 8]],
] as const)('%s is a GIF that shows the dots %j', async ([file, dots]) => {
  const service = await openForTest(subgraph)

  const { status, headers, body } = await service.rest(`GET /img/braille/char/${file}`)

  expect(status).toBe(200)
  expect(headers['content-type']).toBe('image/gif')
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(body.subarray(0, 6).toString()).toBe('GIF89a')
  expect(await sharp(body).metadata()).toMatchObject({ format: 'gif', width: 24, height: 44 })
  expect(await raisedDots(body)).toEqual(dots)
})

test('an image needs no credential, since browsers load it from a page', async () => {
  const service = await openForTest(subgraph)

  const { status } = await service.rest('GET /img/braille/char/0b.gif', undefined, {
    credential: null,
  })

  expect(status).toBe(200)
})

test.for(['0B.gif', '0b.png', '100.gif', 'b.gif', '..%2f0b.gif', '0b.gif.gif'])(
  'there is no image %s',
  async (file) => {
    const service = await openForTest(subgraph)

    const { status, body } = await service.rest(`GET /img/braille/char/${file}`)

    expect(status).toBe(404)
    expect(body.error.code).toBe(404)
    expect(body.error.message).toContain('The images are 00.gif to ff.gif.')
  },
)

test('the source of an image tag is served', async () => {
  const service = await openForTest(subgraph)
  const { body } = await service.rest('GET /translate/braille/image?text=f')
  const [tag] = body.contents.translated.slice(2, 3)
  const path = /src='http:\/\/polygraph\.test([^']+)'/.exec(tag)![1]

  const image = await service.rest(`GET ${path}`)

  expect(path).toBe('/img/braille/char/30.gif')
  expect(await raisedDots(image.body)).toEqual([5, 6])
})

test('the graph gives the same image', async () => {
  const service = await openForTest(subgraph)
  const { body } = await service.rest('GET /img/braille/char/0b.gif')

  const { data } = await service.graphql(
    '{ brailleCellImage(file: "0b.gif") { file url mediaType base64 } }',
  )

  expect(data.brailleCellImage).toEqual({
    file: '0b.gif',
    url: 'http://polygraph.test/img/braille/char/0b.gif',
    mediaType: 'image/gif',
    base64: body.toString('base64'),
  })
})
