// Bytes in parts, for what is larger than one request takes. Of the graph alone.
//
// 1. What is sent is named by its digest. Its parts may come in any order and more than once.
// 2. Parts are kept until the whole is used or refused, and for UPLOAD_MS at most.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ByteRange } from '../kernel/blobs.ts'
import type { Context } from '../kernel/context.ts'
import { Invalid, TooMany, type Fault } from '../kernel/fault.ts'
import { text } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'

/** A part, in base64 and with what is around it, fits the body of a request. */
export const PART_BYTES = 512 * 1024
const BASE64_MAX = Math.ceil(PART_BYTES / 3) * 4
/** How many uploads to one place may be under way. */
const UPLOADS_MAX = 4
export const UPLOAD_MS = 60 * 60 * 1000

export const base64 = z
  .string()
  .max(BASE64_MAX, `must be at most ${BASE64_MAX} characters`)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
export const digest = text.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex')

export const sha256Of = (bytes: Uint8Array): string =>
  createHash('sha256').update(bytes).digest('hex')

export const partsOf = (sizeBytes: number): number => Math.ceil(sizeBytes / PART_BYTES)

/** Where a part lies. Refuses one that is not there; of what is empty there is the first. */
export function rangeOf(part: number, sizeBytes: number): ByteRange {
  const last = Math.max(partsOf(sizeBytes) - 1, 0)
  if (part < 0 || part > last) throw Invalid(`part must be 0 to ${last}.`)
  const offset = part * PART_BYTES
  return { offset, length: Math.min(PART_BYTES, sizeBytes - offset) }
}

/** One part as it is sent. */
export interface SentPart {
  /** What the bytes are for: a key, of which no other begins with this one and a slash. */
  readonly to: string
  readonly sha256: string
  readonly sizeBytes: number
  readonly part: number
  /** In base64. */
  readonly bytes: string
}

/** What has come so far. */
export interface Upload {
  to: string
  sha256: string
  sizeBytes: number
  received: number[]
  /** Tells this upload from an earlier one of the same bytes. */
  serial: string
}

interface UploadsOptions {
  /** The kind that uploads are kept in. */
  readonly name: string
  /** The largest that is taken. */
  readonly sizeBytesMax: number
  /** How the service refuses bytes that do not have their digest, and one upload too many. */
  readonly damaged?: (message: string) => Fault
  readonly tooMany?: (message: string) => Fault
}

export type PartUploads = ReturnType<typeof partUploads>

/** What a service needs to take bytes in parts. */
export function partUploads(options: UploadsOptions) {
  const { name, sizeBytesMax, damaged = Invalid, tooMany = TooMany } = options
  const FORGET = `forget ${name}`
  const uploads = kind<Upload>(name, { key: ({ to, sha256 }) => `${to}/${sha256}` })
  const partKey = (upload: Upload, part: number) => `upload/${uploads.key(upload)}/${part}`

  /** Keeps a part. Refuses one that does not fit what is said of the whole. */
  async function receive(sent: SentPart, ctx: Context, most = sizeBytesMax): Promise<Upload> {
    const { to, sha256, sizeBytes, part } = sent
    if (sizeBytes < 1 || sizeBytes > most) throw Invalid(`sizeBytes must be 1 to ${most}.`)
    const { length } = rangeOf(part, sizeBytes)
    const bytes = Buffer.from(sent.bytes, 'base64')
    if (bytes.length !== length) {
      throw Invalid(`bytes of part ${part} must be ${length} bytes, in base64.`)
    }
    return ctx.store.transaction(async (tx) => {
      const before = await tx.get(uploads, `${to}/${sha256}`)
      if (before && before.sizeBytes !== sizeBytes) {
        throw Invalid('sizeBytes must be the same for all parts.')
      }
      const upload = before ?? (await begin({ to, sha256, sizeBytes }, tx, ctx))
      const received = [...new Set([...upload.received, part])].sort((a, b) => a - b)
      const after = { ...upload, received }
      await tx.save(uploads, after)
      const key = partKey(after, part)
      await ctx.blobs.write(tx, key, bytes)
      await ctx.blobs.trim(tx, key, { sinceMs: 0, versionsMax: 1, bytesMax: Infinity })
      return after
    })
  }

  async function begin(
    fresh: Pick<Upload, 'to' | 'sha256' | 'sizeBytes'>,
    tx: Records,
    ctx: Context,
  ): Promise<Upload> {
    const begun = await tx.count(uploads, { prefix: `${fresh.to}/` })
    if (begun >= UPLOADS_MAX) {
      throw tooMany(`${begun} uploads to this resource are under way. Finish one first.`)
    }
    const upload = { ...fresh, received: [], serial: ctx.newId() }
    await ctx.work.later(tx, UPLOAD_MS, FORGET, upload)
    return upload
  }

  /**
   * The whole, once all of it is there; undefined where the upload was ended meanwhile. What does not
   * have its digest is refused and forgotten.
   */
  async function assemble(upload: Upload, ctx: Context): Promise<Uint8Array | undefined> {
    const whole = new Uint8Array(upload.sizeBytes)
    for (const part of upload.received) {
      const key = partKey(upload, part)
      const latest = await ctx.blobs.latest(ctx.store, key)
      const bytes = latest && (await ctx.blobs.read(ctx.store, key, latest.version))
      if (!bytes) return undefined
      whole.set(bytes, part * PART_BYTES)
    }
    if (sha256Of(whole) === upload.sha256) return whole
    await ctx.store.transaction((tx) => forget(upload, tx, ctx))
    throw damaged('The parts together do not have this sha256.')
  }

  async function forget(upload: Upload, tx: Records, ctx: Context): Promise<void> {
    const key = uploads.key(upload)
    const kept = await tx.get(uploads, key)
    // It was ended, and perhaps begun anew.
    if (kept?.serial !== upload.serial) return
    for (const part of kept.received) await ctx.blobs.remove(tx, partKey(kept, part))
    await tx.remove(uploads, key)
  }

  return {
    kinds: [uploads],
    steps: {
      [FORGET]: (upload: Upload, ctx: Context) =>
        ctx.store.transaction((tx) => forget(upload, tx, ctx)),
    },
    receive,
    isWhole: ({ received, sizeBytes }: Upload): boolean => received.length === partsOf(sizeBytes),
    assemble,
    forget,
  }
}
