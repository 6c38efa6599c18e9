// Media: files that are uploaded first and then used in a contribution, or as the cover of an
// assignment. Specification 1, service S2.
//
// 1. Bytes are kept once under their SHA-256, however many files have them. A use says which file
//    still needs them; the last one that goes takes the bytes along.
// 2. What the bytes are is read from them, and not from what the sender says.
// 3. The bytes as they came are for exports of those who may. The public gets copies.
// 4. A file is used in one place. One that nobody uses within a day goes away.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { TooLarge, TooMany, WrongMediaType } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { operation, post } from '../kernel/operation.ts'
import { kind, type Records } from '../kernel/store.ts'
import { FULL, isInsider, maySee, personOf } from './access.ts'
import { ARTIFACT, IMAGE_SIDES, showArtifacts, VIDEO_LABEL } from './artifacts.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { copyImage, readImage } from './images.ts'
import { completePlace, type Place } from './places.ts'
import { contributions, isUsed, mediaFiles, type Artifact, type MediaFile } from './records.ts'
import { id } from './shapes.ts'
import { copyVideo, readVideo } from './videos.ts'

const FILE_BYTES_MAX = 32 * 1024 * 1024
/** The same in base64, with room for line ends. */
const BODY_BYTES_MAX = 46 * 1024 * 1024
const UNUSED_MAX = 100
const UNUSED_MS = 24 * 60 * 60_000
const IMAGES = ['image/jpeg', 'image/png', 'image/webp', 'image/gif']
const VIDEOS = ['video/mp4', 'video/quicktime', 'video/x-m4v']
const MAKE_STEP = 'makeArtifacts'
const UNUSED_STEP = 'dropUnusedMedia'

/** One file that needs the bytes of a digest. */
interface BlobUse {
  readonly digest: string
  readonly file: string
}

const blobUses = kind<BlobUse>('blob_use', { key: ({ digest, file }) => `${digest}/${file}` })
export const kinds = [blobUses]

const PLACE = z.looseObject({})
const MEDIA = z.object({
  id: z.string(),
  type: z.enum(['image', 'video']),
  duration: z.number().optional(),
  place: PLACE.optional(),
})
export const MEDIA_USAGE = z.object({
  id: z.string(),
  media: MEDIA,
  artifacts: z.array(ARTIFACT),
})

export const operations = [
  operation({
    name: 'createMedia',
    rest: post('/media', {
      body: 'content',
      media: 'bytes',
      bodyMax: BODY_BYTES_MAX,
      show: showMedia,
      answer: MEDIA,
    }),
    refuses: {
      400: 'The file cannot be read.',
      413: 'The file is too large.',
      415: 'The file is of a type that is not taken.',
      429: 'Too many files of yours are not used.',
    },
    needs: FULL,
    input: { content: z.union([z.instanceof(Uint8Array), z.string()]) },
    run: async ({ content }, ctx) => createMedia(bytesOf(content, ctx), ctx),
  }),
  operation({
    name: 'mediaFile',
    input: { id },
    async run({ id }, ctx) {
      const file = await load(ctx, mediaFiles, id)
      if (!file || !(await maySeeFile(file, ctx))) throw missing('media file', id)
      return file
    },
  }),
]

export const steps = { [MAKE_STEP]: makeArtifacts, [UNUSED_STEP]: dropUnused }

export const fields = {
  MediaFile: {
    artifacts: (file: MediaFile, _args: unknown, ctx: Context) => showArtifacts(file, ctx),
    place: (file: MediaFile, _args: unknown, ctx: Context) => placeFor(file, ctx),
    owner: (file: MediaFile, _args: unknown, ctx: Context) =>
      file.owner === ctx.caller.userId ? { __typename: 'User', id: file.owner } : null,
    contribution: async (file: MediaFile, _args: unknown, ctx: Context) => {
      if (file.contribution === undefined) return null
      const contribution = await load(ctx, contributions, file.contribution)
      return maySee(contribution, ctx) ? contribution : null
    },
  },
}

/** A file as REST shows it. */
async function showMedia(file: MediaFile, ctx: Context) {
  const place = await placeFor(file, ctx)
  return {
    id: file.id,
    type: file.type,
    ...(file.duration !== undefined && { duration: file.duration }),
    ...(place && { place }),
  }
}

/** A file where it is used, with its artifacts. */
export const showUsage = async (file: MediaFile, ctx: Context) => ({
  id: file.id,
  media: await showMedia(file, ctx),
  artifacts: showArtifacts(file, ctx),
})

/** A file is seen by its owner, and by who sees what it is used in. */
export async function maySeeFile(file: MediaFile, ctx: Context): Promise<boolean> {
  if (file.owner === ctx.caller.userId || file.assignment !== undefined) return true
  if (file.contribution === undefined) return false
  return maySee(await load(ctx, contributions, file.contribution), ctx)
}

/** Where it was taken, for the owner and for those who decide about it. */
async function placeFor(file: MediaFile, ctx: Context): Promise<Place | undefined> {
  if (!file.place || file.owner === ctx.caller.userId) return file.place
  const contribution = file.contribution && (await load(ctx, contributions, file.contribution))
  return contribution && isInsider(contribution, ctx) ? file.place : undefined
}

/** The bytes as they are, or in base64 where text was sent. */
function bytesOf(content: Uint8Array | string, { headers }: Context): Uint8Array {
  const isText = /^(text\/|application\/json)/.test(headers['content-type'] ?? '')
  if (typeof content !== 'string' && !isText) return content
  const text = (typeof content === 'string' ? content : Buffer.from(content).toString('latin1'))
    .trim()
    .replace(/^"|"$/g, '')
    .replace(/\s+/g, '')
  if (/^[A-Za-z0-9+/_-]+={0,2}$/.test(text)) return Buffer.from(text, 'base64')
  throw invalidField('content', 'is text, and not in base64')
}

export async function createMedia(bytes: Uint8Array, ctx: Context): Promise<MediaFile> {
  const owner = personOf(ctx)
  if (bytes.length === 0) throw invalidField('content', 'is empty')
  if (bytes.length > FILE_BYTES_MAX) {
    throw TooLarge(`A file has at most ${FILE_BYTES_MAX} bytes; this one has ${bytes.length}.`)
  }
  const file: MediaFile = {
    id: ctx.newId(),
    owner,
    created: ctx.clock.now().toISOString(),
    ...(await factsOf(bytes)),
    contentLength: bytes.length,
    digest: digestOf(bytes),
  }
  const { id } = file
  await ctx.store.transaction(async (tx) => {
    if ((await tx.count(mediaFiles, { where: { unusedOf: owner } })) >= UNUSED_MAX) {
      throw TooMany(`You have ${UNUSED_MAX} files that you do not use. Contribute some first.`)
    }
    await meet(tx, ctx)
    await tx.insert(mediaFiles, file)
    await keep(tx, file.digest, { file: id, bytes }, ctx)
    await ctx.work.later(tx, 0, MAKE_STEP, { id })
    await ctx.work.later(tx, UNUSED_MS, UNUSED_STEP, { id })
    await ctx.events.announce(tx, {
      type: 'contributions.media.created',
      subject: id,
      body: { id },
    })
  })
  return file
}

type Facts = Pick<MediaFile, 'type' | 'contentType' | 'width' | 'height' | 'duration' | 'place'>

/** What the file is, out of its bytes. Refuses what is neither an image nor a video that we read. */
async function factsOf(bytes: Uint8Array): Promise<Facts> {
  const { fileTypeFromBuffer } = await import('file-type')
  const contentType = (await fileTypeFromBuffer(bytes))?.mime ?? 'unknown'
  const isImage = IMAGES.includes(contentType)
  if (!isImage && !VIDEOS.includes(contentType)) {
    throw WrongMediaType(
      `The file is of the type ${contentType}. Send one of ${[...IMAGES, ...VIDEOS].join(', ')}.`,
    )
  }
  const facts = isImage ? await readImage(bytes) : readVideo(bytes)
  if (!facts) {
    throw invalidField(
      'content',
      `is ${contentType}, but damaged, cut short or too large to be read`,
    )
  }
  const { place, ...others } = facts
  return {
    type: isImage ? 'image' : 'video',
    contentType,
    ...others,
    ...(place && { place: await completePlace(place) }),
  }
}

/** Makes the public copies. */
async function makeArtifacts({ id }: { id: string }, ctx: Context): Promise<void> {
  const file = await ctx.store.get(mediaFiles, id)
  if (!file || file.artifacts) return
  const bytes = await readBytes(file.digest, ctx)
  if (!bytes) return
  const copies = file.type === 'image' ? await copiesOfImage(bytes) : copiesOfVideo(file, bytes)
  const problem = copies ? undefined : 'The picture behind the header cannot be read.'
  await ctx.store.transaction(async (tx) => {
    const current = await tx.get(mediaFiles, id)
    if (!current || current.artifacts) return
    for (const { artifact, bytes } of copies ?? []) {
      await keep(tx, artifact.digest, { file: id, bytes }, ctx)
    }
    const artifacts = (copies ?? []).map(({ artifact }) => artifact)
    await tx.save(mediaFiles, { ...current, artifacts, ...(problem && { problem }) })
    await ctx.events.announce(tx, { type: 'contributions.media.ready', subject: id, body: { id } })
  })
}

interface Copy {
  readonly artifact: Artifact
  readonly bytes: Uint8Array
}

async function copiesOfImage(original: Uint8Array): Promise<Copy[] | undefined> {
  const copies: Copy[] = []
  for (const [label, sideMax] of Object.entries(IMAGE_SIDES)) {
    const copy = await copyImage(original, { sideMax })
    if (!copy) return undefined
    const { bytes, width, height } = copy
    const about = { label, contentType: 'image/jpeg', contentLength: bytes.length }
    copies.push({ artifact: { ...about, width, height, digest: digestOf(bytes) }, bytes })
  }
  return copies
}

function copiesOfVideo({ contentType, width, height }: MediaFile, original: Uint8Array): Copy[] {
  const bytes = copyVideo(original)
  const about = { label: VIDEO_LABEL, contentType, contentLength: bytes.length, width, height }
  return [{ artifact: { ...about, digest: digestOf(bytes) }, bytes }]
}

/** The key under which bytes are kept. */
export const blobKeyOf = (digest: string): string => `media/${digest}`

/** Bytes do not change under their digest, so there is one version of them. */
export const readBytes = (digest: string, ctx: Context): Promise<Uint8Array | undefined> =>
  ctx.blobs.read(ctx.store, blobKeyOf(digest), 1)

async function keep(
  tx: Records,
  digest: string,
  { file, bytes }: { file: string; bytes: Uint8Array },
  ctx: Context,
): Promise<void> {
  await tx.insert(blobUses, { digest, file })
  await ctx.blobs.write(tx, blobKeyOf(digest), bytes)
}

/** Forgets a file, and its bytes where no other file has the same. */
export async function removeMedia(tx: Records, id: string, ctx: Context): Promise<void> {
  const file = await tx.get(mediaFiles, id)
  if (!file) return
  const digests = new Set([file.digest, ...(file.artifacts ?? []).map(({ digest }) => digest)])
  for (const digest of digests) {
    await tx.remove(blobUses, `${digest}/${id}`)
    const { items } = await tx.list(blobUses, { prefix: `${digest}/`, limit: 1 })
    if (items.length === 0) await ctx.blobs.remove(tx, blobKeyOf(digest))
  }
  await tx.remove(mediaFiles, id)
  await ctx.events.announce(tx, { type: 'contributions.media.deleted', subject: id, body: { id } })
}

function dropUnused({ id }: { id: string }, ctx: Context): Promise<void> {
  return ctx.store.transaction(async (tx) => {
    const file = await tx.get(mediaFiles, id)
    if (file && !isUsed(file)) await removeMedia(tx, id, ctx)
  })
}

/** Files of the caller that are about to be used. Refuses what is not theirs or is used already. */
export async function useMedia(
  tx: Records,
  ids: readonly string[],
  use: Pick<MediaFile, 'contribution' | 'assignment'>,
  { caller }: Context,
): Promise<MediaFile[]> {
  const name = use.assignment === undefined ? 'mediaUsages' : 'cover'
  const files = await tx.getMany(mediaFiles, ids)
  const used: MediaFile[] = []
  for (const [at, file] of files.entries()) {
    if (file?.owner !== caller.userId)
      throw invalidField(name, `name ${ids[at]}, which is no file of yours`)
    if (isUsed(file)) {
      throw invalidField(name, `name ${ids[at]}, which is used elsewhere; upload it again`)
    }
    used.push({ ...file, ...use })
    await tx.save(mediaFiles, { ...file, ...use })
  }
  return used
}

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
