// Taking the content of a database out and putting it in. Beside specification 3, service Q.
// In the graph alone, in parts, for backups among others.
//
// 1. What is taken out is one version: the first part names it, and the next are asked of the same.
// 2. What is put in is named by its digest. Parts may come in any order and more than once; the
//    content changes when the last is there, and the whole has that digest.
import {
  base64,
  digest,
  PART_BYTES,
  partsOf,
  partUploads,
  rangeOf,
  sha256Of,
} from '../families/parts.ts'
import type { Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { replaceContent, shownVersion } from './console.ts'
import {
  blobKeyOf,
  checkReadable,
  checkWritable,
  CONTENT_BYTES_MAX,
  contentMaxOf,
  EMPTY,
} from './content.ts'
import { ContentConflict, InvalidContent, QuotaExceeded } from './errors.ts'
import { databaseKeyOf, databases, missing } from './places.ts'
import type { SqlDatabase } from './shapes.ts'

const uploads = partUploads({
  name: 'sql_uploads',
  sizeBytesMax: CONTENT_BYTES_MAX,
  damaged: InvalidContent,
  tooMany: QuotaExceeded,
})

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

export const { kinds, steps } = uploads

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
  const range = { offset: Math.max(part, 0) * PART_BYTES, length: PART_BYTES }
  const found = await ctx.blobs.readRange(ctx.store, { key, version }, range)
  if (!found && version !== EMPTY) {
    throw NotFound(`Version ${version} of ${database.name} is not kept. Begin without a version.`)
  }
  const sizeBytes = found?.version.sizeBytes ?? 0
  // It is known only now whether there is such a part.
  rangeOf(part, sizeBytes)
  return {
    ...shownVersion(found?.version),
    sha256: found?.version.digest ?? sha256Of(new Uint8Array(0)),
    part,
    parts: partsOf(sizeBytes),
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

async function importPart({ id, ...part }: Import, ctx: Context) {
  const database = await find(id, ctx)
  checkWritable(database)
  const parts = partsOf(part.sizeBytes)
  const to = database.properties.databaseId
  const upload = await uploads.receive({ to, ...part }, ctx, contentMaxOf(database))
  const receivedParts = upload.received.length
  if (!uploads.isWhole(upload)) {
    return { parts, receivedParts, isComplete: false, contentVersion: null }
  }
  const whole = await uploads.assemble(upload, ctx)
  if (!whole) throw ContentConflict('The upload was ended meanwhile. Begin again.')
  await ctx.store.transaction((tx) => uploads.forget(upload, tx, ctx))
  const written = await replaceContent(databaseKeyOf(id, ctx), whole, ctx)
  const { contentVersion } = shownVersion(written)
  return { parts, receivedParts, isComplete: true, contentVersion }
}

async function find(id: string, ctx: Context): Promise<SqlDatabase> {
  const database = await ctx.store.get(databases, databaseKeyOf(id, ctx))
  if (!database) throw missing(id)
  return database
}
