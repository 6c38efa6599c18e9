// Images: what they are, told by their bytes, how large, and smaller copies. Specification 2, service B.
import { TooLarge, WrongMediaType } from '../kernel/fault.ts'
import { BadRequest } from './errors.ts'

export const FILE_BYTES_MAX = 10 * 1024 * 1024
const PIXELS_MAX = 40_000_000
const TYPES = ['image/png', 'image/jpeg', 'image/gif']
/** What a client says who does not say what it sends. */
const UNDECLARED = new Set(['', 'application/octet-stream'])

export interface Image {
  readonly content_type: string
  readonly width: number
  readonly height: number
}

// The libraries are large, and few requests need them.
const loadSharp = async () => (await import('sharp')).default
const sniff = async (bytes: Uint8Array): Promise<string | undefined> => {
  const { fileTypeFromBuffer } = await import('file-type')
  return (await fileTypeFromBuffer(bytes))?.mime
}

/** What an image is. Refuses what is none, is too large, or is not what it was declared to be. */
export async function readImage(bytes: Uint8Array, declared = ''): Promise<Image> {
  if (bytes.length > FILE_BYTES_MAX) {
    throw TooLarge(`A file has at most ${FILE_BYTES_MAX} bytes; this one has ${bytes.length}.`)
  }
  const said = declared.split(';', 1)[0]!.trim().toLowerCase().replace('image/jpg', 'image/jpeg')
  const isSaid = !UNDECLARED.has(said)
  if (isSaid && !TYPES.includes(said)) {
    throw WrongMediaType(`Content-Type must be one of ${TYPES.join(', ')}, not ${said}.`)
  }
  const content_type = await sniff(bytes)
  if (content_type === undefined || !TYPES.includes(content_type)) {
    throw WrongMediaType(
      `The file must be one of ${TYPES.join(', ')}; its bytes are ${content_type ?? 'of no type that is known'}.`,
    )
  }
  if (isSaid && said !== content_type) {
    throw BadRequest(`Content-Type says ${said}, but the bytes are ${content_type}.`)
  }
  return { content_type, ...(await measure(bytes)) }
}

/** Turned the right way, as people see it. */
async function measure(bytes: Uint8Array): Promise<Pick<Image, 'width' | 'height'>> {
  const sharp = await loadSharp()
  try {
    const { autoOrient } = await sharp(bytes).metadata()
    const { width, height } = autoOrient
    if (width * height <= PIXELS_MAX) return { width, height }
  } catch {
    // The library throws for whatever it cannot read, and its words are of no use to the sender.
  }
  throw BadRequest(`The image cannot be read, or has more than ${PIXELS_MAX} pixels.`)
}

export interface ImageCopy extends Image {
  readonly bytes: Uint8Array
}

/** The middle of an image as a square, without anything that the file says beside the picture. */
export async function squareOf(
  bytes: Uint8Array,
  { content_type, side }: { content_type: string; side: number },
): Promise<ImageCopy> {
  const sharp = await loadSharp()
  const square = sharp(bytes, { limitInputPixels: PIXELS_MAX })
    .autoOrient()
    .resize({ width: side, height: side, fit: 'cover' })
  const isJpeg = content_type === 'image/jpeg'
  try {
    const { data, info } = await (isJpeg ? square.jpeg() : square.png()).toBuffer({
      resolveWithObject: true,
    })
    const { width, height } = info
    return { content_type: isJpeg ? content_type : 'image/png', width, height, bytes: data }
  } catch {
    // A header may be whole and what follows it may not.
    throw BadRequest('The image cannot be read.')
  }
}
