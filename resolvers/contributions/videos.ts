// Videos in MP4 and QuickTime files: how long and large they are, where they were taken, and public
// copies that do not tell.
//
// Such a file is made of boxes, each with its size, its type of four letters and its content. What a
// camera adds about itself and its place stands in boxes of their own, `udta` and `meta`. A copy has
// `free` boxes of the same size in their place, so that nothing else moves.
import type { Place } from './places.ts'

const HEADER_BYTES = 8
const LARGE_HEADER_BYTES = 16
const DEPTH_MAX = 8
const BOXES_MAX = 10_000
/** Boxes that hold boxes. */
const CONTAINERS = new Set(['moov', 'trak', 'mdia', 'udta'])
const PRIVATE = new Set(['udta', 'meta', 'uuid'])
/** `+52.5163+013.3777/`, as ISO 6709 writes a point. */
const POINT = /([+-]\d{2}(?:\.\d+)?)([+-]\d{3}(?:\.\d+)?)/

export interface VideoFacts {
  /** In seconds. */
  readonly duration: number
  readonly width?: number
  readonly height?: number
  readonly place?: Place
}

interface Box {
  readonly type: string
  /** Where the box begins, where its content does, and where it ends. */
  readonly start: number
  readonly content: number
  readonly end: number
  readonly path: string
}

/** What a video says of itself. Undefined when it has no readable header. */
export function readVideo(bytes: Uint8Array): VideoFacts | undefined {
  const view = viewOf(bytes)
  const boxes = boxesOf(view)
  const header = boxes.find(({ path }) => path === '/moov/mvhd')
  const duration = header && durationIn(view, header)
  if (duration === undefined) return undefined
  const sizes = boxes.flatMap((box) => (box.path === '/moov/trak/tkhd' ? sizeIn(view, box) : []))
  const place = placeIn(bytes, boxes)
  return { duration, ...sizes[0], ...(place && { place }) }
}

/** The same video without what its camera wrote beside it. */
export function copyVideo(bytes: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(bytes)
  const view = viewOf(copy)
  for (const { type, start, content, end } of boxesOf(view)) {
    if (!PRIVATE.has(type)) continue
    copy.set(Buffer.from('free'), start + 4)
    copy.fill(0, content, end)
  }
  return copy
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function boxesOf(view: DataView): Box[] {
  const found: Box[] = []
  const walk = (from: number, to: number, path: string, depth: number) => {
    let at = from
    while (at + HEADER_BYTES <= to && found.length < BOXES_MAX) {
      const type = String.fromCharCode(...[4, 5, 6, 7].map((byte) => view.getUint8(at + byte)))
      const isLarge = view.getUint32(at) === 1
      if (isLarge && at + LARGE_HEADER_BYTES > to) return
      const stated = isLarge ? Number(view.getBigUint64(at + HEADER_BYTES)) : view.getUint32(at)
      const size = stated === 0 ? to - at : stated
      const content = at + (isLarge ? LARGE_HEADER_BYTES : HEADER_BYTES)
      // A box that says it ends elsewhere than it can is where reading ends.
      if (at + size > to || at + size < content) return
      const box = { type, start: at, content, end: at + size, path: `${path}/${type}` }
      found.push(box)
      if (CONTAINERS.has(type) && depth < DEPTH_MAX) walk(content, box.end, box.path, depth + 1)
      at = box.end
    }
  }
  walk(0, view.byteLength, '', 0)
  return found
}

function durationIn(view: DataView, { content, end }: Box): number | undefined {
  const isLong = content < end && view.getUint8(content) === 1
  if (content + (isLong ? 32 : 20) > end) return undefined
  const scale = view.getUint32(content + (isLong ? 20 : 12))
  const ticks = isLong ? Number(view.getBigUint64(content + 24)) : view.getUint32(content + 16)
  return scale === 0 ? undefined : Math.round((ticks / scale) * 1000) / 1000
}

/** Width and height are the last fields of the header of a track, as 16.16 numbers. Sound has none. */
function sizeIn(view: DataView, { content, end }: Box): { width: number; height: number }[] {
  if (content + HEADER_BYTES > end) return []
  const [width, height] = [view.getUint32(end - 8) >>> 16, view.getUint32(end - 4) >>> 16]
  return width > 0 && height > 0 ? [{ width, height }] : []
}

function placeIn(bytes: Uint8Array, boxes: readonly Box[]): Place | undefined {
  for (const { type, content, end } of boxes) {
    if (type !== '\u00a9xyz' && type !== 'meta') continue
    const [, latitude, longitude] =
      POINT.exec(Buffer.from(bytes.subarray(content, end)).toString('latin1')) ?? []
    if (latitude === undefined || longitude === undefined) continue
    const latLong = { latitude: Number(latitude), longitude: Number(longitude) }
    if (Math.abs(latLong.latitude) <= 90 && Math.abs(latLong.longitude) <= 180) {
      return { latLong }
    }
  }
  return undefined
}
