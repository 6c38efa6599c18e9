// Taking the content of a database out and putting it in. Beside specification 3, service Q.
// In the graph alone, in parts, for backups among others.
//
// 1. What is taken out is one version: the first part names it, and the next are asked of the same.
// 2. What is put in is named by its digest. Parts may come in any order and more than once; the
//    content changes when the last is there, and the whole has that digest.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Invalid, NotFound } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { replaceContent, shownVersion } from './console.ts'
import { blobKeyOf, checkReadable, checkWritable, CONTENT_BYTES_MAX, EMPTY } from './content.ts'
import { ContentConflict, InvalidContent, QuotaExceeded } from './errors.ts'
import { databaseKeyOf, databases, missing } from './places.ts'
import type { SqlDatabase } from './shapes.ts'

/** A part, in base64 and with what is around it, fits the body of a request. */
const TRANSFER_PART_BYTES = 512 * 1024
const BASE64_MAX = Math.ceil(TRANSFER_PART_BYTES / 3) * 4
const UPLOADS_MAX = 4
const UPLOAD_MS = 60 * 60 * 1000
const FORGET = 'forget upload'

/** Parts that have come. */
interface Upload {
  databaseId: string
  sha256: string
  sizeBytes: number
  received: number[]
}

const uploads = kind<Upload>('sql_uploads', {
  key: ({ databaseId, sha256 }) => `${databaseId}/${sha256}`,
})

const base64 = z
  .string()
  .max(BASE64_MAX, `must be at most ${BASE64_MAX} characters`)
  .regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64')
const digest = text.regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex')

export const operations = [
  operation({
    name: 'sqlDatabaseContent',
    input: { id: text, part: optional(whole), version: optional(whole) },
    run: (input, ctx) => exportPart(input, ctx),
  }),
  operation({
    name: 'importSqlDatabaseContent',
    input: {
      id: text,
      sha256: digest,
      sizeBytes: whole,
      part: whole,
      bytes: base64,
    },
    run: (input, ctx) => importPart(input, ctx),
  }),
]

export const kinds = [uploads]

interface Export {
  readonly id: string
  readonly part?: number | undefined
  readonly version?: number | undefined
}

/** One part of the newest version, or of the one that is named and still kept. */
async function exportPart({ id, part = 0, version: asked }: Export, ctx: Context) {
  const database = await find(id, ctx)
  checkReadable(database)
  const key = blobKeyOf(database)
  const version = asked ?? (await ctx.blobs.latest(ctx.store, key))?.version ?? EMPTY
  const range = { offset: Math.max(part, 0) * TRANSFER_PART_BYTES, length: TRANSFER_PART_BYTES }
  const found = await ctx.blobs.readRange(ctx.store, { key, version }, range)
  if (!found && version !== EMPTY) {
    throw NotFound(`Version ${version} of ${database.name} is not kept. Begin without a version.`)
  }
  const parts = partsOf(found?.version.sizeBytes ?? 0)
  if (part < 0 || part >= Math.max(parts, 1)) throw Invalid(`part must be 0 to ${parts - 1}.`)
  return {
    ...shownVersion(found?.version),
    sha256: found?.version.digest ?? sha256Of(new Uint8Array(0)),
    part,
    parts,
    bytes: Buffer.from(found?.bytes ?? []).toString('base64'),
  }
}

interface Import {
  readonly id: string
  readonly sha256: string
  readonly sizeBytes: number
  readonly part: number
  readonly bytes: string
}

async function importPart({ id, sha256, sizeBytes, part, bytes }: Import, ctx: Context) {
  const database = await find(id, ctx)
  checkWritable(database)
  const parts = partsOf(sizeBytes)
  const { databaseId, maxSizeBytes } = database.properties
  const most = Math.min(maxSizeBytes, CONTENT_BYTES_MAX)
  if (sizeBytes < 1 || sizeBytes > most) throw Invalid(`sizeBytes must be 1 to ${most}.`)
  if (part < 0 || part >= parts) throw Invalid(`part must be 0 to ${parts - 1}.`)
  const own = Buffer.from(bytes, 'base64')
  const expected = Math.min(TRANSFER_PART_BYTES, sizeBytes - part * TRANSFER_PART_BYTES)
  if (own.length !== expected) {
    throw Invalid(`bytes of part ${part} must be ${expected} bytes, in base64.`)
  }
  const upload = await keepPart({ databaseId, sha256, sizeBytes, received: [] }, part, own, ctx)
  if (upload.received.length < parts) {
    return { parts, receivedParts: upload.received.length, isComplete: false, contentVersion: null }
  }
  const whole = await assemble(upload, ctx)
  await forgetUpload(upload, ctx)
  if (sha256Of(whole) !== sha256)
    throw InvalidContent('The parts together do not have this sha256.')
  const written = await replaceContent(databaseKeyOf(id, ctx), whole, ctx)
  const { contentVersion } = shownVersion(written)
  return { parts, receivedParts: parts, isComplete: true, contentVersion }
}

const keepPart = (fresh: Upload, part: number, bytes: Buffer, ctx: Context): Promise<Upload> =>
  ctx.store.transaction(async (tx) => {
    const key = uploads.key(fresh)
    const before = await tx.get(uploads, key)
    if (before && before.sizeBytes !== fresh.sizeBytes) {
      throw Invalid('sizeBytes must be the same for all parts.')
    }
    if (!before) {
      const begun = await tx.count(uploads, { prefix: `${fresh.databaseId}/` })
      if (begun >= UPLOADS_MAX) {
        throw QuotaExceeded(`${begun} uploads to this database are under way. Finish one first.`)
      }
      await ctx.work.later(tx, UPLOAD_MS, FORGET, { key })
    }
    const received = [...new Set([...(before?.received ?? []), part])].sort((a, b) => a - b)
    const upload = { ...fresh, received }
    await tx.save(uploads, upload)
    await ctx.blobs.write(tx, partKey(key, part), bytes)
    await ctx.blobs.trim(tx, partKey(key, part), { sinceMs: 0, versionsMax: 1, bytesMax: Infinity })
    return upload
  })

async function assemble(upload: Upload, ctx: Context): Promise<Uint8Array> {
  const whole = new Uint8Array(upload.sizeBytes)
  for (const part of upload.received) {
    const key = partKey(uploads.key(upload), part)
    const latest = await ctx.blobs.latest(ctx.store, key)
    const bytes = latest && (await ctx.blobs.read(ctx.store, key, latest.version))
    if (!bytes) throw ContentConflict('The upload was ended meanwhile. Begin again.')
    whole.set(bytes, part * TRANSFER_PART_BYTES)
  }
  return whole
}

const forgetUpload = (upload: Upload, ctx: Context): Promise<void> =>
  ctx.store.transaction(async (tx) => {
    const key = uploads.key(upload)
    for (const part of upload.received) await ctx.blobs.remove(tx, partKey(key, part))
    await tx.remove(uploads, key)
  })

const forget: Step = async ({ key }: { key: string }, ctx) => {
  const upload = await ctx.store.get(uploads, key)
  // It was finished.
  if (upload) await forgetUpload(upload, ctx)
}

export const steps = { [FORGET]: forget }

async function find(id: string, ctx: Context): Promise<SqlDatabase> {
  const database = await ctx.store.get(databases, databaseKeyOf(id, ctx))
  if (!database) throw missing(id)
  return database
}

const partKey = (upload: string, part: number) => `upload/${upload}/${part}`
const partsOf = (sizeBytes: number) => Math.ceil(sizeBytes / TRANSFER_PART_BYTES)
const sha256Of = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
