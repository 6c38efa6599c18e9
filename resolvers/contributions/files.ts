// Files that a link opens: public copies of media, and finished exports.
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { checkLink } from './artifacts.ts'
import { missing } from './errors.ts'
import { exportJobs, exportParts, partKey, type ExportPart } from './export-records.ts'
import { blobKeyOf } from './media.ts'
import { mediaFiles } from './records.ts'

const READ_BYTES = 1024 * 1024
const PARTS_AT_ONCE = 100

export interface StoredFile {
  readonly contentType: string
  readonly sizeBytes: number
  /** Two files with the same tag are the same. */
  readonly tag: string
  /** What it is called where it is saved; it is shown where it has no name. */
  readonly saveAs?: string
  /** The bytes from one place up to another, some at a time. */
  read(from: number, below: number): AsyncIterable<Uint8Array>
}

export async function openArtifact(
  { id, label, key }: { id: string; label: string; key: string },
  ctx: Context,
): Promise<StoredFile> {
  checkLink(`/media/${id}/${label}`, key, ctx)
  const file = await ctx.store.get(mediaFiles, id)
  const artifact = file?.artifacts?.find((one) => one.label === label)
  if (!artifact) throw missing(`copy ${label} of the media file`, id)
  const { contentType, contentLength, digest } = artifact
  return {
    contentType,
    sizeBytes: contentLength,
    tag: digest,
    read: (from, below) => readBlob(blobKeyOf(digest), { from, below }, ctx),
  }
}

export async function openDownload(
  { id, key }: { id: string; key: string },
  ctx: Context,
): Promise<StoredFile> {
  checkLink(`/exports/${id}/download`, key, ctx)
  const job = await ctx.store.get(exportJobs, id)
  if (job?.finished === undefined) throw missing('finished export', id)
  return {
    contentType: 'application/zip',
    sizeBytes: job.sizeBytes,
    tag: id,
    saveAs: `contributions-${job.started.slice(0, 10)}.zip`,
    read: (from, below) => readParts(id, { from, below }, ctx),
  }
}

interface Stretch {
  readonly from: number
  readonly below: number
}

async function* readBlob(key: string, { from, below }: Stretch, ctx: Context) {
  for (let at = from; at < below; at += READ_BYTES) {
    const length = Math.min(READ_BYTES, below - at)
    const read = await ctx.blobs.readRange(ctx.store, { key, version: 1 }, { offset: at, length })
    if (!read) throw new Error(`${key} went away while it was read`)
    yield read.bytes
  }
}

async function* readParts(id: string, { from, below }: Stretch, ctx: Context) {
  let at = from
  while (at < below) {
    const parts = await partsFrom(ctx.store, id, at)
    if (parts.length === 0) throw new Error(`the export ${id} went away while it was read`)
    for (const { start, sizeBytes } of parts) {
      if (at >= below) return
      const end = Math.min(start + sizeBytes, below)
      yield* readBlob(partKey(id, start), { from: at - start, below: end - start }, ctx)
      at = end
    }
  }
}

/** The parts from the one that holds a place on. */
async function partsFrom(store: Records, id: string, at: number): Promise<readonly ExportPart[]> {
  const query = { where: { export: id }, order: 'start' }
  const holding = await store.list(exportParts, {
    ...query,
    below: at + 1,
    descending: true,
    limit: 1,
  })
  const [first] = holding.items
  if (!first) return []
  const { items } = await store.list(exportParts, {
    ...query,
    from: first.start,
    limit: PARTS_AT_ONCE,
  })
  return items
}
