// Places: where something was, and what lies near.
//
// A place is found by its geohash, which sorts so that what lies in one cell stands together. A circle
// is covered by a few ranges of geohashes; what the ranges hold is then measured exactly, by the chord
// between points on a sphere, which needs no more than the arithmetic that every database has.
import { z } from 'zod'
import { optional, text } from '../kernel/shape.ts'
import { invalidField } from './errors.ts'
import { line } from './shapes.ts'

const EARTH_KM = 6371.0088
const GEOHASH_CHARS = 12
const GEOHASH = /^[0-9bcdefghjkmnpqrstuvwxyz]{1,12}$/
const ALPHABET = '0123456789bcdefghjkmnpqrstuvwxyz'
/** After every geohash that begins alike. */
const LAST = '~'
const CELLS_MAX = 32
const CELL_CHARS_MAX = 8
const RADIANS = Math.PI / 180

export type Place = Partial<z.output<typeof place>>
export interface LatLong {
  readonly latitude: number
  readonly longitude: number
}

export const place = z.object({
  name: optional(line),
  country: optional(
    text
      .regex(/^[A-Za-z]{2}$/, 'must be a code of two letters')
      .transform((code) => code.toUpperCase()),
  ),
  geohash: optional(
    text.toLowerCase().regex(GEOHASH, 'must be a geohash of at most 12 characters'),
  ),
  vendorPlace: optional(line),
  latLong: optional(
    z.object({
      latitude: z.number().min(-90).max(90),
      longitude: z.number().min(-180).max(180),
    }),
  ),
  osm: optional(
    z.object({ osmId: z.int().nonnegative(), osmType: z.enum(['node', 'way', 'relation']) }),
  ),
})

/** Where a line stands among the places. */
export interface Point {
  readonly geohash: string
  /** How many characters of the geohash the contributor vouches for. */
  readonly geohashChars: number
  readonly x: number
  readonly y: number
  readonly z: number
}

export interface Circle extends LatLong {
  readonly radiusKm: number
}

/** Geohashes from one, up to but not with the other. */
export interface GeohashRange {
  readonly from: string
  readonly below: string
}

const geohashes = async () => (await import('ngeohash')).default

/** A place as it is kept: one that has coordinates has the geohash of them. */
export async function completePlace(sent: Place): Promise<Place> {
  if (!sent.latLong) return sent
  const { encode } = await geohashes()
  const geohash = encode(sent.latLong.latitude, sent.latLong.longitude, GEOHASH_CHARS)
  if (sent.geohash !== undefined && !geohash.startsWith(sent.geohash)) {
    throw invalidField('place.geohash', `is not where latLong is, which is in ${geohash}`)
  }
  return { ...sent, geohash }
}

/** The point of a place, if it says where it is. A geohash alone stands for the middle of its cell. */
export async function pointOf({ latLong, geohash }: Place): Promise<Point | undefined> {
  if (geohash === undefined) return undefined
  const { decode, encode } = await geohashes()
  const at = latLong ?? decode(geohash)
  return {
    ...vectorOf(at),
    geohash: latLong ? geohash : encode(at.latitude, at.longitude, GEOHASH_CHARS),
    geohashChars: geohash.length,
  }
}

/** The point on a sphere of radius 1. */
export function vectorOf({ latitude, longitude }: LatLong): { x: number; y: number; z: number } {
  const [latitudeAngle, longitudeAngle] = [latitude * RADIANS, longitude * RADIANS]
  return {
    x: Math.cos(latitudeAngle) * Math.cos(longitudeAngle),
    y: Math.cos(latitudeAngle) * Math.sin(longitudeAngle),
    z: Math.sin(latitudeAngle),
  }
}

/** The square of the chord between points that lie so far apart on the sphere of radius 1. */
export function chordSquaredOf(radiusKm: number): number {
  const angle = Math.min(radiusKm / EARTH_KM, Math.PI)
  return (2 * Math.sin(angle / 2)) ** 2
}

/** Ranges of geohashes that hold every point of the circle, and not many others. */
export async function rangesOver(circle: Circle): Promise<GeohashRange[]> {
  const boxes = boxesOver(circle)
  let chars = CELL_CHARS_MAX
  while (chars > 0 && cellsIn(boxes, chars) > CELLS_MAX) chars -= 1
  if (chars === 0) return [{ from: '', below: LAST }]
  const { bboxes } = await geohashes()
  const cells = boxes.flatMap(({ south, west, north, east }) =>
    bboxes(south, west, north, east, chars),
  )
  return joined(cells)
}

/** The cells that are among the prefixes, each once. */
export const rangesOf = (prefixes: readonly string[]): GeohashRange[] =>
  prefixes
    .filter((one) => !prefixes.some((other) => other !== one && one.startsWith(other)))
    .map((prefix) => ({ from: prefix, below: prefix + LAST }))

export function readGeohashes(sent: readonly string[]): string[] {
  const read = sent.map((geohash) => geohash.toLowerCase())
  if (read.every((geohash) => GEOHASH.test(geohash))) return read
  throw invalidField('geohash', 'must be geohashes of at most 12 characters, joined by commas')
}

/** `52.5,13.4` */
export function readLatLong(sent: string): LatLong {
  const [, latitude, longitude] = /^(-?\d{1,2}(?:\.\d+)?), ?(-?\d{1,3}(?:\.\d+)?)$/.exec(sent) ?? []
  const at = { latitude: Number(latitude), longitude: Number(longitude) }
  if (Math.abs(at.latitude) <= 90 && Math.abs(at.longitude) <= 180) return at
  throw invalidField('latLong', 'must be a latitude and a longitude in degrees, such as 52.5,13.4')
}

interface Box {
  readonly south: number
  readonly west: number
  readonly north: number
  readonly east: number
}

function boxesOver({ latitude, longitude, radiusKm }: Circle): Box[] {
  const angle = radiusKm / EARTH_KM
  const south = Math.max(latitude - angle / RADIANS, -90)
  const north = Math.min(latitude + angle / RADIANS, 90)
  // A circle around a pole has every longitude.
  const isAroundPole = south === -90 || north === 90
  const reach = isAroundPole ? 1 : Math.sin(angle) / Math.cos(latitude * RADIANS)
  if (reach >= 1) return [{ south, north, west: -180, east: 180 }]
  const half = Math.asin(reach) / RADIANS
  const [west, east] = [longitude - half, longitude + half]
  if (west < -180) {
    return [
      { south, north, west: west + 360, east: 180 },
      { south, north, west: -180, east },
    ]
  }
  if (east <= 180) return [{ south, north, west, east }]
  return [
    { south, north, west, east: 180 },
    { south, north, west: -180, east: east - 360 },
  ]
}

/** At most so many cells of this size touch the boxes. */
function cellsIn(boxes: readonly Box[], chars: number): number {
  const bits = chars * 5
  const width = 360 / 2 ** Math.ceil(bits / 2)
  const height = 180 / 2 ** Math.floor(bits / 2)
  return boxes.reduce(
    (sum, { south, west, north, east }) =>
      sum + (Math.floor((east - west) / width) + 2) * (Math.floor((north - south) / height) + 2),
    0,
  )
}

/** Cells that follow one another become one range. */
function joined(cells: readonly string[]): GeohashRange[] {
  const ranges: { from: string; last: string }[] = []
  for (const cell of [...new Set(cells)].sort()) {
    const before = ranges.at(-1)
    if (before && following(before.last) === cell) before.last = cell
    else ranges.push({ from: cell, last: cell })
  }
  return ranges.map(({ from, last }) => ({ from, below: last + LAST }))
}

/** The cell of the same size that sorts next; undefined after the last. */
function following(cell: string): string | undefined {
  const at = ALPHABET.indexOf(cell.at(-1)!)
  if (at < ALPHABET.length - 1) return cell.slice(0, -1) + ALPHABET[at + 1]
  const before = cell.length > 1 ? following(cell.slice(0, -1)) : undefined
  return before && before + ALPHABET[0]
}
