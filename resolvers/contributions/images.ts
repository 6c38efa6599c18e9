// Images: how large they are, where they were taken, and public copies that do not tell.
import type { Place } from './places.ts'

const PIXELS_MAX = 40_000_000
const QUALITY = 85

/** The library is large, and few requests need it. */
const loadSharp = async () => (await import('sharp')).default

export interface ImageFacts {
  readonly width: number
  readonly height: number
  readonly place?: Place
}

/** What an image says of itself. Undefined when it cannot be read, or is too large to be. */
export async function readImage(bytes: Uint8Array): Promise<ImageFacts | undefined> {
  const sharp = await loadSharp()
  try {
    const { autoOrient, exif } = await sharp(bytes, { limitInputPixels: PIXELS_MAX }).metadata()
    if (autoOrient.width * autoOrient.height > PIXELS_MAX) return undefined
    const place = exif && (await placeIn(exif))
    return { width: autoOrient.width, height: autoOrient.height, ...(place && { place }) }
  } catch {
    // The library throws for whatever it cannot read, and its words are of no use to the sender.
    return undefined
  }
}

export interface ImageCopy {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/**
 * A copy that is turned the right way, at most so large, and that holds nothing beside the picture.
 * With `tell`, it says what it shows and who made it. Undefined when the picture cannot be read.
 */
export async function copyImage(
  bytes: Uint8Array,
  { sideMax, tell }: { sideMax?: number | undefined; tell?: { what: string; who: string } },
): Promise<ImageCopy | undefined> {
  const sharp = await loadSharp()
  let image = sharp(bytes, { limitInputPixels: PIXELS_MAX }).autoOrient()
  if (sideMax !== undefined) {
    image = image.resize({
      width: sideMax,
      height: sideMax,
      fit: 'inside',
      withoutEnlargement: true,
    })
  }
  if (tell) image = image.withExif({ IFD0: { ImageDescription: tell.what, Artist: tell.who } })
  try {
    const { data, info } = await image
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: QUALITY })
      .toBuffer({ resolveWithObject: true })
    return { bytes: data, width: info.width, height: info.height }
  } catch {
    // A header may be whole and what follows it may not.
    return undefined
  }
}

async function placeIn(exif: Buffer): Promise<Place | undefined> {
  const { default: readExif } = await import('exif-reader')
  const { GPSInfo } = readExif(exif)
  const latitude = degreesOf(GPSInfo?.GPSLatitude, GPSInfo?.GPSLatitudeRef === 'S')
  const longitude = degreesOf(GPSInfo?.GPSLongitude, GPSInfo?.GPSLongitudeRef === 'W')
  const isPoint =
    latitude !== undefined &&
    longitude !== undefined &&
    Math.abs(latitude) <= 90 &&
    Math.abs(longitude) <= 180
  return isPoint ? { latLong: { latitude, longitude } } : undefined
}

/** Degrees, minutes and seconds as a number of degrees. */
function degreesOf(parts: unknown, isNegative: boolean): number | undefined {
  if (!Array.isArray(parts) || parts.length !== 3) return undefined
  const [degrees, minutes, seconds] = parts.map(Number) as [number, number, number]
  const value = degrees + minutes / 60 + seconds / 3600
  return Number.isFinite(value) ? (isNegative ? -value : value) : undefined
}
