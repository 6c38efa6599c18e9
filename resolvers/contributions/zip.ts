// Zip files, written piece by piece: every piece can be made in another process than the one before.
//
// A library that writes zip files keeps in memory what it has written. Here whoever writes keeps it:
// the place where the file has come to, and the entries of the directory that ends it. Sizes of one
// file stay below 4 GB; the archive and the number of files may go beyond (zip64).
import { constants, crc32, deflateRawSync } from 'node:zlib'

const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
const DESCRIPTOR = 0x08074b50
const END = 0x06054b50
const END_64 = 0x06064b50
const END_64_LOCATOR = 0x07064b50
const VERSION = 20
const VERSION_64 = 45
/** Names are UTF-8. */
const UTF8 = 0x0800
/** Size and checksum follow the content. */
const FOLLOWS = 0x0008
const STORED = 0
const DEFLATED = 8
const SHORT_MAX = 0xffff
const LONG_MAX = 0xffffffff
const EXTRA_64 = 0x0001
/** What ends a deflated text: a last block with nothing in it. */
const LAST_BLOCK = Buffer.from([3, 0])

/** A file in the archive, as its directory tells of it. */
export interface ZipEntry {
  readonly name: string
  readonly modified: Date
  /** Where it begins in the archive. */
  readonly offset: number
  readonly crc: number
  readonly size: number
  readonly packedSize: number
  readonly isPacked: boolean
  readonly isOpenEnded: boolean
}

export interface ZipPiece {
  readonly entry: ZipEntry
  readonly bytes: Uint8Array
}

/** A whole file. What is packed already, such as a picture, is stored as it is. */
export function zipFile(
  { name, modified, offset, isPacked }: Pick<ZipEntry, 'name' | 'modified' | 'offset' | 'isPacked'>,
  content: Uint8Array,
): ZipPiece {
  const packed = isPacked ? deflateRawSync(content) : content
  const entry: ZipEntry = {
    name,
    modified,
    offset,
    crc: crc32(content),
    size: content.length,
    packedSize: packed.length,
    isPacked,
    isOpenEnded: false,
  }
  return { entry, bytes: Buffer.concat([localHeader(entry), packed]) }
}

/** Begins a text whose end is not known yet. */
export function beginText(name: string, modified: Date, offset: number): ZipPiece {
  const entry: ZipEntry = {
    name,
    modified,
    offset,
    crc: 0,
    size: 0,
    packedSize: 0,
    isPacked: true,
    isOpenEnded: true,
  }
  return { entry, bytes: localHeader(entry) }
}

/** Goes on with it. Each piece of it is packed so that the next can follow. */
export function continueText(entry: ZipEntry, content: Uint8Array): ZipPiece {
  const bytes = deflateRawSync(content, { finishFlush: constants.Z_FULL_FLUSH })
  const grown = {
    ...entry,
    crc: crc32(content, entry.crc),
    size: entry.size + content.length,
    packedSize: entry.packedSize + bytes.length,
  }
  return { entry: grown, bytes }
}

export function endText(entry: ZipEntry): ZipPiece {
  const ended = { ...entry, packedSize: entry.packedSize + LAST_BLOCK.length }
  const descriptor = fieldsOf(
    [4, DESCRIPTOR],
    [4, ended.crc],
    [4, ended.packedSize],
    [4, ended.size],
  )
  return { entry: ended, bytes: Buffer.concat([LAST_BLOCK, descriptor]) }
}

/** The line of a file in the directory. */
export function directoryLine(entry: ZipEntry): Uint8Array {
  const name = Buffer.from(entry.name)
  const isFar = entry.offset >= LONG_MAX
  const extra = isFar ? fieldsOf([2, EXTRA_64], [2, 8], [8, entry.offset]) : Buffer.alloc(0)
  return Buffer.concat([
    fieldsOf(
      [4, CENTRAL],
      [2, isFar ? VERSION_64 : VERSION],
      [2, isFar ? VERSION_64 : VERSION],
      ...sharedFields(entry),
      [4, entry.crc],
      [4, entry.packedSize],
      [4, entry.size],
      [2, name.length],
      [2, extra.length],
      [2, 0],
      [2, 0],
      [2, 0],
      [4, 0],
      [4, Math.min(entry.offset, LONG_MAX)],
    ),
    name,
    extra,
  ])
}

/** What comes after the directory. */
export function endOfZip(directory: { entries: number; offset: number; size: number }): Uint8Array {
  const { entries, offset, size } = directory
  const isLarge = entries >= SHORT_MAX || offset >= LONG_MAX || size >= LONG_MAX
  const short = Math.min(entries, SHORT_MAX)
  const end = fieldsOf(
    [4, END],
    [2, 0],
    [2, 0],
    [2, short],
    [2, short],
    [4, Math.min(size, LONG_MAX)],
    [4, Math.min(offset, LONG_MAX)],
    [2, 0],
  )
  if (!isLarge) return end
  return Buffer.concat([
    fieldsOf(
      [4, END_64],
      [8, 44],
      [2, VERSION_64],
      [2, VERSION_64],
      [4, 0],
      [4, 0],
      [8, entries],
      [8, entries],
      [8, size],
      [8, offset],
    ),
    fieldsOf([4, END_64_LOCATOR], [4, 0], [8, offset + size], [4, 1]),
    end,
  ])
}

function localHeader(entry: ZipEntry): Buffer {
  const { isOpenEnded, crc, packedSize, size } = entry
  const name = Buffer.from(entry.name)
  const known = isOpenEnded ? [0, 0, 0] : [crc, packedSize, size]
  return Buffer.concat([
    fieldsOf(
      [4, LOCAL],
      [2, VERSION],
      ...sharedFields(entry),
      ...known.map((value): Field => [4, value]),
      [2, name.length],
      [2, 0],
    ),
    name,
  ])
}

type Field = readonly [bytes: 2 | 4 | 8, value: number]

const sharedFields = ({ isOpenEnded, isPacked, modified }: ZipEntry): Field[] => [
  [2, UTF8 | (isOpenEnded ? FOLLOWS : 0)],
  [2, isPacked ? DEFLATED : STORED],
  [2, timeOf(modified)],
  [2, dateOf(modified)],
]

function fieldsOf(...fields: readonly Field[]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0))
  let at = 0
  for (const [width, value] of fields) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), at)
    else bytes.writeUIntLE(value, at, width)
    at += width
  }
  return bytes
}

// Times are those of MS-DOS: two seconds, minutes and hours; days, months and years since 1980.
const timeOf = (moment: Date): number =>
  (moment.getUTCHours() << 11) | (moment.getUTCMinutes() << 5) | (moment.getUTCSeconds() >> 1)

const dateOf = (moment: Date): number =>
  (Math.min(Math.max(moment.getUTCFullYear() - 1980, 0), 127) << 9) |
  ((moment.getUTCMonth() + 1) << 5) |
  moment.getUTCDate()
