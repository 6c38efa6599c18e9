// Bytes under a key, every version of them until it is forgotten.
//
// 1. Bytes live in the service's own database, so that they are written in the transaction of the
//    records that speak of them, on either engine and from any process.
// 2. They are kept in parts. A version stores the parts in which it differs from the one before, so
//    that a small change of something large costs little.
// 3. A version does not change once it is written; it is there or it is gone.
import { createHash } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Migration, Records } from './store.ts'

/** Chosen: small against a database, large against a row. Stored versions depend on it. */
export const PART_BYTES = 32 * 1024
const BLOB_BYTES_MAX = 256 * 1024 * 1024

/** How many parts a statement reads at most, and how many keys one looks for. */
const READ_PARTS_MAX = 256
const KEYS_MAX = 50

export interface BlobVersion {
  /** 1 is the first; each is one more than the one before. */
  readonly version: number
  readonly sizeBytes: number
  /** SHA-256 of the bytes, in hex. */
  readonly digest: string
  /** When it was written, in milliseconds since 1970, by the clock that services live by. */
  readonly timeMs: number
}

export interface Blobs {
  /** The newest version. */
  latest(from: Records, key: string): Promise<BlobVersion | undefined>

  /** The newest versions of many keys, in their order, as a DataLoader needs them. */
  latestOf(from: Records, keys: readonly string[]): Promise<(BlobVersion | undefined)[]>

  /** The version that was the newest at a moment. */
  at(from: Records, key: string, moment: Date): Promise<BlobVersion | undefined>

  /** Undefined when that version is not there. */
  read(from: Records, key: string, version: number): Promise<Uint8Array | undefined>

  /** What lies in the range of a version, with the version. Undefined when it is not there. */
  readRange(from: Records, at: BlobAt, range: ByteRange): Promise<BlobRange | undefined>

  /** Adds a version, or returns the newest if the bytes are the same. */
  write(tx: Records, key: string, bytes: Uint8Array): Promise<BlobVersion>

  /** Makes a version of one key the next version of another. Undefined when it is not there. */
  copy(tx: Records, from: BlobAt, to: string): Promise<BlobVersion | undefined>

  /**
   * Forgets the oldest versions: those that were no longer the newest at `sinceMs`, those beyond
   * `versionsMax`, and those beyond `bytesMax` of stored parts. The newest stays. Returns the oldest
   * that is left, and whether it was one of the last two rules that decided.
   */
  trim(tx: Records, key: string, keep: BlobKeep): Promise<BlobTrim | undefined>

  /** Forgets all versions. Returns whether there were any. */
  remove(tx: Records, key: string): Promise<boolean>
}

export interface BlobAt {
  readonly key: string
  readonly version: number
}

export interface ByteRange {
  readonly offset: number
  readonly length: number
}

export interface BlobRange {
  readonly version: BlobVersion
  readonly bytes: Uint8Array
}

export interface BlobKeep {
  readonly sinceMs: number
  readonly versionsMax: number
  readonly bytesMax: number
}

export interface BlobTrim {
  readonly oldest: BlobVersion
  readonly isCutShort: boolean
}

export const blobsMigration: Migration = {
  number: 3,
  name: 'blobs',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const integer = engine === 'postgres' ? 'bigint' : 'INTEGER'
    const bytes = engine === 'postgres' ? 'bytea' : 'BLOB'
    await tx.sql(`CREATE TABLE blob_version (
      key ${text} NOT NULL,
      version ${integer} NOT NULL,
      size_bytes ${integer} NOT NULL,
      parts ${integer} NOT NULL,
      stored_bytes ${integer} NOT NULL,
      digest ${text} NOT NULL,
      time_ms ${integer} NOT NULL,
      PRIMARY KEY (key, version))`)
    await tx.sql(`CREATE TABLE blob_part (
      key ${text} NOT NULL,
      part ${integer} NOT NULL,
      version ${integer} NOT NULL,
      digest ${text} NOT NULL,
      bytes ${bytes} NOT NULL,
      PRIMARY KEY (key, part, version))`)
  },
}

export const openBlobs = ({ clock }: { clock: Clock }): Blobs => ({
  latest: (from, key) => findVersion(from, 'key = ?', [key]),
  latestOf: findLatest,
  at: (from, key, moment) => findVersion(from, 'key = ? AND time_ms <= ?', [key, moment.getTime()]),
  read: readVersion,
  readRange: readVersionRange,
  write: (tx, key, bytes) => writeVersion(tx, key, bytes, clock.now().getTime()),

  async copy(tx, from, to) {
    const bytes = await readVersion(tx, from.key, from.version)
    return bytes && writeVersion(tx, to, bytes, clock.now().getTime())
  },

  trim: trimVersions,

  async remove(tx, key) {
    await tx.sql('DELETE FROM blob_part WHERE key = ?', [key])
    const gone = await tx.sql('DELETE FROM blob_version WHERE key = ? RETURNING version', [key])
    return gone.length > 0
  },
})

const VERSION_COLUMNS =
  'version, size_bytes AS "sizeBytes", digest, time_ms AS "timeMs", parts, stored_bytes AS "storedBytes"'

interface KeptVersion extends BlobVersion {
  readonly parts: number
  readonly storedBytes: number
}

async function findVersion(
  from: Records,
  condition: string,
  values: (string | number)[],
): Promise<KeptVersion | undefined> {
  const [row] = await from.sql(
    `SELECT ${VERSION_COLUMNS} FROM blob_version WHERE ${condition} ORDER BY version DESC LIMIT 1`,
    values,
  )
  return row as KeptVersion | undefined
}

const LATEST = `SELECT key, ${VERSION_COLUMNS} FROM blob_version AS own
  WHERE key IN (${Array(KEYS_MAX).fill('?').join(', ')}) AND version = (
    SELECT max(other.version) FROM blob_version AS other WHERE other.key = own.key)`

async function findLatest(from: Records, keys: readonly string[]) {
  const found = new Map<string, KeptVersion>()
  for (let first = 0; first < keys.length; first += KEYS_MAX) {
    const some = keys.slice(first, first + KEYS_MAX)
    // The statement has places for KEYS_MAX keys, of which the last may stand there again.
    const padded = Array.from({ length: KEYS_MAX }, (_, at) => some[at] ?? some.at(-1)!)
    for (const row of await from.sql(LATEST, padded)) found.set(row['key'], row as KeptVersion)
  }
  return keys.map((key) => {
    const version = found.get(key)
    return version && shown(version)
  })
}

/** Of each part, the newest row that is not newer than the version. */
const partsOf = (columns: string) =>
  `SELECT ${columns} FROM blob_part AS own WHERE own.key = ? AND own.part >= ? AND own.part < ?
   AND own.version = (SELECT max(other.version) FROM blob_part AS other
     WHERE other.key = own.key AND other.part = own.part AND other.version <= ?)
   ORDER BY own.part`
const READ_PARTS = partsOf('own.part AS part, own.bytes AS bytes')
const READ_CHECKED_PARTS = partsOf('own.part AS part, own.digest AS digest, own.bytes AS bytes')
const READ_DIGESTS = partsOf('own.part AS part, own.digest AS digest')

async function readVersion(from: Records, key: string, version: number) {
  const kept = await findVersion(from, 'key = ? AND version = ?', [key, version])
  if (!kept) return undefined
  const bytes = new Uint8Array(kept.sizeBytes)
  for (let first = 0; first < kept.parts; first += READ_PARTS_MAX) {
    const end = Math.min(first + READ_PARTS_MAX, kept.parts)
    const rows = await from.sql(READ_PARTS, [key, first, end, version])
    for (const row of rows) bytes.set(row['bytes'], row['part'] * PART_BYTES)
  }
  if (digestOf(bytes) === kept.digest) return bytes
  // Outside a transaction a version may be forgotten while it is read.
  if (await findVersion(from, 'key = ? AND version = ?', [key, version])) {
    throw new Error(`version ${version} of the blob ${key} is damaged`)
  }
  return undefined
}

async function readVersionRange(
  from: Records,
  { key, version }: BlobAt,
  { offset, length }: ByteRange,
): Promise<BlobRange | undefined> {
  const kept = await findVersion(from, 'key = ? AND version = ?', [key, version])
  if (!kept) return undefined
  const end = Math.min(offset + length, kept.sizeBytes)
  const first = Math.floor(offset / PART_BYTES)
  const last = Math.ceil(end / PART_BYTES)
  const rows = await from.sql(READ_CHECKED_PARTS, [key, first, last, version])
  // Outside a transaction a version may be forgotten while it is read.
  if (rows.length < last - first) return undefined
  for (const row of rows) {
    if (digestOf(row['bytes']) !== row['digest']) {
      throw new Error(`part ${row['part']} of version ${version} of the blob ${key} is damaged`)
    }
  }
  const bytes = Buffer.concat(rows.map((row) => row['bytes'] as Uint8Array))
  const begin = offset - first * PART_BYTES
  return { version: shown(kept), bytes: bytes.subarray(begin, begin + end - offset) }
}

async function writeVersion(
  tx: Records,
  key: string,
  bytes: Uint8Array,
  timeMs: number,
): Promise<BlobVersion> {
  if (bytes.length > BLOB_BYTES_MAX) throw new Error(`a blob holds at most ${BLOB_BYTES_MAX} bytes`)
  const before = await findVersion(tx, 'key = ?', [key])
  const digest = digestOf(bytes)
  if (before?.digest === digest) return shown(before)
  const known = before ? await digestsOf(tx, key, before) : new Map<number, string>()
  const version = (before?.version ?? 0) + 1
  const parts = Math.ceil(bytes.length / PART_BYTES)
  let storedBytes = 0
  for (let part = 0; part < parts; part += 1) {
    const piece = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)
    const pieceDigest = digestOf(piece)
    if (known.get(part) === pieceDigest) continue
    storedBytes += piece.length
    await tx.sql(
      'INSERT INTO blob_part (key, part, version, digest, bytes) VALUES (?, ?, ?, ?, ?)',
      [key, part, version, pieceDigest, piece],
    )
  }
  await tx.sql(
    `INSERT INTO blob_version (key, version, size_bytes, parts, stored_bytes, digest, time_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [key, version, bytes.length, parts, storedBytes, digest, timeMs],
  )
  return { version, sizeBytes: bytes.length, digest, timeMs }
}

async function digestsOf(tx: Records, key: string, { version, parts }: KeptVersion) {
  const rows = await tx.sql(READ_DIGESTS, [key, 0, parts, version])
  return new Map(rows.map((row) => [row['part'] as number, row['digest'] as string]))
}

async function trimVersions(
  tx: Records,
  key: string,
  { sinceMs, versionsMax, bytesMax }: BlobKeep,
): Promise<BlobTrim | undefined> {
  const rows = await tx.sql(
    `SELECT ${VERSION_COLUMNS} FROM blob_version WHERE key = ? ORDER BY version DESC`,
    [key],
  )
  const newestFirst = rows as KeptVersion[]
  let storedBytes = 0
  let kept = 0
  let isCutShort = false
  for (const version of newestFirst) {
    const next = newestFirst[kept - 1]
    if (next && next.timeMs <= sinceMs) break
    storedBytes += version.storedBytes
    isCutShort = kept >= 1 && (kept >= versionsMax || storedBytes > bytesMax)
    if (isCutShort) break
    kept += 1
  }
  const oldest = newestFirst[kept - 1]
  if (!oldest) return undefined
  if (kept < newestFirst.length) await forgetBefore(tx, key, oldest.version)
  return { oldest: shown(oldest), isCutShort }
}

async function forgetBefore(tx: Records, key: string, version: number): Promise<void> {
  // A part goes when a newer one stands for it in every version that is left.
  await tx.sql(
    `DELETE FROM blob_part WHERE key = ? AND version < ? AND EXISTS (
       SELECT 1 FROM blob_part AS newer WHERE newer.key = blob_part.key
       AND newer.part = blob_part.part AND newer.version > blob_part.version AND newer.version <= ?)`,
    [key, version, version],
  )
  await tx.sql('DELETE FROM blob_version WHERE key = ? AND version < ?', [key, version])
  // So does one that lies beyond the end of all that are left.
  await tx.sql(
    `DELETE FROM blob_part WHERE key = ? AND part >= (
       SELECT max(parts) FROM blob_version WHERE key = ?)`,
    [key, key],
  )
}

const shown = ({ version, sizeBytes, digest, timeMs }: BlobVersion): BlobVersion => ({
  version,
  sizeBytes,
  digest,
  timeMs,
})

const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
