// Pictures of cells, to which the img tags point. Specification 1, service S4.
import type { Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { get, operation, reply } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'

export const IMAGE_PATH = '/img/braille/char'

// Chosen: all pictures are of one size, with room for the row of dots 7 and 8, so that cells of six
// and of eight dots stand on one line. The places of the six dots that are not raised are marked.
const WIDTH = 24
const HEIGHT = 44
const COLUMNS_X = [7, 17]
const ROWS_Y = [7, 17, 27, 37]
const RAISED_RADIUS = 4
const FLAT_RADIUS = 1
const PLACES = [
  { dot: 1, column: 0, row: 0 },
  { dot: 2, column: 0, row: 1 },
  { dot: 3, column: 0, row: 2 },
  { dot: 4, column: 1, row: 0 },
  { dot: 5, column: 1, row: 1 },
  { dot: 6, column: 1, row: 2 },
  { dot: 7, column: 0, row: 3 },
  { dot: 8, column: 1, row: 3 },
]
const FLAT_DOT_MAX = 6
const HEADERS = {
  'content-type': 'image/gif',
  'cache-control': 'public, max-age=31536000, immutable',
}

interface Image {
  readonly file: string
  readonly url: string
  readonly mediaType: string
  readonly base64: string
}

export const operations = [
  operation({
    name: 'brailleCellImage',
    access: 'anyone',
    rest: get(`${IMAGE_PATH}/{file}`, { show: bytesOf, isBeyond: true }),
    input: { file: text },
    refuses: { 404: 'No cell has this file name.' },
    async run({ file }, ctx) {
      const hex = /^([0-9a-f]{2})\.gif$/.exec(file)?.[1]
      if (hex === undefined) {
        throw NotFound(`There is no image ${file}. The images are 00.gif to ff.gif.`)
      }
      return reply(200, await imageOf(file, Number.parseInt(hex, 16), ctx), HEADERS)
    },
  }),
]

// There are 256 pictures of some 200 bytes: each is drawn once.
const drawn = new Map<number, Promise<Buffer>>()

async function imageOf(file: string, offset: number, ctx: Context): Promise<Image> {
  let gif = drawn.get(offset)
  if (!gif) drawn.set(offset, (gif = drawCell(offset)))
  return {
    file,
    url: `${ctx.address}${IMAGE_PATH}/${file}`,
    mediaType: HEADERS['content-type'],
    base64: (await gif).toString('base64'),
  }
}

function bytesOf({ base64 }: Image): Buffer {
  return Buffer.from(base64, 'base64')
}

async function drawCell(offset: number): Promise<Buffer> {
  // Loaded with the first picture: most processes never draw one.
  const { default: sharp } = await import('sharp')
  return sharp(Buffer.from(svgOf(offset)))
    .gif()
    .toBuffer()
}

function svgOf(offset: number): string {
  const circles = PLACES.map(({ dot, column, row }) => {
    const isRaised = (offset & (1 << (dot - 1))) !== 0
    if (!isRaised && dot > FLAT_DOT_MAX) return ''
    const [radius, fill] = isRaised ? [RAISED_RADIUS, 'black'] : [FLAT_RADIUS, 'silver']
    return `<circle cx="${COLUMNS_X[column]}" cy="${ROWS_Y[row]}" r="${radius}" fill="${fill}"/>`
  })
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}">` +
    `<rect width="100%" height="100%" fill="white"/>${circles.join('')}</svg>`
  )
}
