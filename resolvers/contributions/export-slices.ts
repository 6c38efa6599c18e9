// Builds the archive of an export, a slice in each step of work.
//
// 1. A slice is made outside a transaction and written in one, with the number of the next slice. A
//    process that dies in between leaves nothing of it, and the slice is made again.
// 2. The archive is its parts, one after the other. No part is changed once it is written.
// 3. What an export may tell is what its owner may see.
import type { Context } from '../kernel/context.ts'
import { NOBODY } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { maySee } from './access.ts'
import { filesOf, textOf } from './export-content.ts'
import { directoryKey, exportParts, exportJobs, partKey, type ExportJob } from './export-records.ts'
import { findAfter, type Position } from './connections.ts'
import { contributions, type Contribution } from './records.ts'
import {
  beginText,
  continueText,
  directoryLine,
  endOfZip,
  endText,
  zipFile,
  type ZipEntry,
  type ZipPiece,
} from './zip.ts'

const CONTRIBUTIONS_AT_ONCE = 100
const SLICE_BYTES = 4 * 1024 * 1024
const KEPT_MS = 7 * 24 * 60 * 60_000
const PARTS_AT_ONCE = 20
const TEXT_BYTES_MAX = 1024 ** 3
export const SLICE_STEP = 'buildExportSlice'
const EXPIRY_STEP = 'expireExport'

export const steps = { [SLICE_STEP]: buildSlice, [EXPIRY_STEP]: expire }

/** What a slice adds to the archive and to its directory, and the job after it. */
interface Slice {
  readonly bytes: readonly Uint8Array[]
  readonly directory: readonly Uint8Array[]
  readonly after: ExportJob
}

async function buildSlice({ id, slice }: { id: string; slice: number }, ctx: Context) {
  const job = await ctx.store.get(exportJobs, id)
  if (!job || job.slice !== slice || job.finished !== undefined) return
  const made = await makeSlice(job, ctx)
  await ctx.store.transaction((tx) => writeSlice(tx, slice, made, ctx))
}

function makeSlice(job: ExportJob, ctx: Context): Promise<Slice> {
  switch (job.step) {
    case 'text':
      return addText(job, asOwner(job, ctx))
    case 'files':
      return addFiles(job, asOwner(job, ctx))
    default:
      return addDirectory(job, ctx)
  }
}

/** The context in which the owner would read. */
const asOwner = ({ owner, credential, isAdmin }: ExportJob, ctx: Context): Context => ({
  ...ctx,
  caller: { ...NOBODY, kind: 'user', userId: owner, credentialId: credential, isAdmin },
})

interface Batch {
  readonly items: readonly { position: Position; contribution: Contribution | undefined }[]
  readonly isLast: boolean
}

async function nextBatch({ filter, position }: ExportJob, ctx: Context): Promise<Batch> {
  const limit = CONTRIBUTIONS_AT_ONCE
  const lines = await findAfter(filter, { after: position, limit }, ctx)
  const records = await ctx.store.getMany(
    contributions,
    lines.map(({ id }) => id),
  )
  const items = lines.map((position, at) => {
    const contribution = records[at]
    return { position, contribution: maySee(contribution, ctx) ? contribution : undefined }
  })
  return { items, isLast: lines.length < limit }
}

/** One pass writes all texts into one file, or into several where it would grow too large. */
async function addText(job: ExportJob, ctx: Context): Promise<Slice> {
  const { items, isLast } = await nextBatch(job, ctx)
  const pieces: ZipPiece[] = []
  if (!job.text) pieces.push(beginText(textName(job), new Date(job.started), job.sizeBytes))
  const begun = job.text ? withDate(job.text) : pieces[0]!.entry
  const texts = items.flatMap(({ contribution }) => (contribution ? [textOf(contribution)] : []))
  pieces.push(continueText(begun, Buffer.from(texts.join(''))))
  const isEnd = isLast || pieces.at(-1)!.entry.size >= TEXT_BYTES_MAX
  if (isEnd) pieces.push(endText(pieces.at(-1)!.entry))
  const { entry } = pieces.at(-1)!
  const bytes = pieces.map((piece) => piece.bytes)
  const directory = isEnd ? [directoryLine(entry)] : []
  const moved = advanced(job, bytes, directory, items.length)
  return {
    bytes,
    directory,
    after: {
      ...moved,
      ...(isEnd ? { text: undefined, texts: job.texts + 1 } : { text: withoutDate(entry) }),
      ...(isLast ? { step: 'files', position: undefined } : { position: items.at(-1)!.position }),
    },
  }
}

const textName = ({ texts }: ExportJob): string =>
  texts === 0 ? 'contributions.txt' : `contributions-${texts + 1}.txt`

const withDate = (kept: NonNullable<ExportJob['text']>): ZipEntry => ({
  ...kept,
  modified: new Date(kept.modified),
})
const withoutDate = (entry: ZipEntry): NonNullable<ExportJob['text']> => ({
  ...entry,
  modified: entry.modified.toISOString(),
})

/** The other pass adds the files of each contribution, until the slice is large enough. */
async function addFiles(job: ExportJob, ctx: Context): Promise<Slice> {
  const { items, isLast } = await nextBatch(job, ctx)
  const bytes: Uint8Array[] = []
  const directory: Uint8Array[] = []
  const isFull = () => sizeOf(bytes) >= SLICE_BYTES
  let { sizeBytes: offset, position, files } = job
  let seen = 0
  for (const { position: at, contribution } of items) {
    const planned = contribution ? await filesOf(contribution, job.options, ctx) : []
    while (files < planned.length && !isFull()) {
      const { name, read, isPacked } = planned[files]!
      const content = await read()
      files += 1
      if (!content) continue
      const modified = new Date(contribution!.created)
      const piece = zipFile({ name, modified, offset, isPacked }, content)
      bytes.push(piece.bytes)
      directory.push(directoryLine(piece.entry))
      offset += piece.bytes.length
    }
    if (files < planned.length) break
    seen += 1
    position = at
    files = 0
    if (isFull()) break
  }
  const isDone = isLast && seen === items.length
  const moved = { ...advanced(job, bytes, directory, seen), position, files }
  return { bytes, directory, after: isDone ? { ...moved, step: 'directory' } : moved }
}

/** The directory comes last: some pieces of it in each slice, then its end. */
async function addDirectory(job: ExportJob, ctx: Context): Promise<Slice> {
  const { id, directoryParts, directoryWritten, directoryBytes, entries } = job
  const until = Math.min(directoryWritten + PARTS_AT_ONCE, directoryParts)
  const bytes: Uint8Array[] = []
  for (let at = directoryWritten; at < until; at += 1) {
    const piece = await ctx.blobs.read(ctx.store, directoryKey(id, at), 1)
    if (!piece) throw new Error(`piece ${at} of the directory of the export ${id} is missing`)
    bytes.push(piece)
  }
  if (until < directoryParts) {
    return {
      bytes,
      directory: [],
      after: { ...advanced(job, bytes, [], 0), directoryWritten: until },
    }
  }
  const offset = job.sizeBytes + sizeOf(bytes) - directoryBytes
  bytes.push(endOfZip({ entries, offset, size: directoryBytes }))
  const finished = ctx.clock.now().toISOString()
  return {
    bytes,
    directory: [],
    after: { ...advanced(job, bytes, [], 0), step: 'finished', finished },
  }
}

function advanced(
  job: ExportJob,
  bytes: readonly Uint8Array[],
  directory: readonly Uint8Array[],
  done: number,
): ExportJob {
  return {
    ...job,
    slice: job.slice + 1,
    done: job.done + done,
    sizeBytes: job.sizeBytes + sizeOf(bytes),
    entries: job.entries + directory.length,
    directoryParts: job.directoryParts + (directory.length > 0 ? 1 : 0),
    directoryBytes: job.directoryBytes + sizeOf(directory),
  }
}

const sizeOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0)

async function writeSlice(
  tx: Records,
  slice: number,
  { bytes, directory, after }: Slice,
  ctx: Context,
): Promise<void> {
  const { id } = after
  const job = await tx.get(exportJobs, id)
  if (!job || job.slice !== slice) return
  const sizeBytes = sizeOf(bytes)
  if (sizeBytes > 0) {
    const start = job.sizeBytes
    await ctx.blobs.write(tx, partKey(id, start), Buffer.concat(bytes))
    await tx.insert(exportParts, { export: id, start, sizeBytes })
  }
  if (directory.length > 0) {
    await ctx.blobs.write(tx, directoryKey(id, job.directoryParts), Buffer.concat(directory))
  }
  await tx.save(exportJobs, after)
  if (after.finished === undefined) {
    await ctx.work.later(tx, 0, SLICE_STEP, { id, slice: after.slice })
    return
  }
  await ctx.work.later(tx, KEPT_MS, EXPIRY_STEP, { id })
  await ctx.events.announce(tx, {
    type: 'contributions.export.finished',
    subject: id,
    body: { id },
  })
}

/** An export that nobody needs any more goes, part by part, and its record first. */
function expire({ id, directoryParts }: { id: string; directoryParts?: number }, ctx: Context) {
  return ctx.store.transaction(async (tx) => {
    const job = await tx.get(exportJobs, id)
    const pieces = directoryParts ?? job?.directoryParts ?? 0
    await tx.remove(exportJobs, id)
    const { items } = await tx.list(exportParts, { where: { export: id }, limit: PARTS_AT_ONCE })
    for (const part of items) {
      await ctx.blobs.remove(tx, partKey(id, part.start))
      await tx.remove(exportParts, exportParts.key(part))
    }
    const left = Math.max(pieces - PARTS_AT_ONCE, 0)
    for (let at = left; at < pieces; at += 1) await ctx.blobs.remove(tx, directoryKey(id, at))
    if (items.length > 0 || left > 0) {
      await ctx.work.later(tx, 0, EXPIRY_STEP, { id, directoryParts: left })
    }
  })
}
