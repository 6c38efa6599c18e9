// Public attachments: files that everyone who has their address may see. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import { LimitExceeded } from './errors.ts'
import { readImage } from './images.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { idShape, momentOf, moments } from './shapes.ts'
import {
  attachmentShape,
  descriptionOf,
  digested,
  idOrUuid,
  needByEither,
  readContent,
  showBytes,
  uploadInput,
  uploadRefuses,
  uploadRoute,
  uuid,
  viewAttachment,
  type KeptFile,
  type Upload,
} from './uploads.ts'

const ATTACHMENTS_MAX = 2000

export interface PublicAttachment extends KeptFile {
  readonly uuid: string
  readonly owner: string
}

export const publicAttachments = kind<PublicAttachment>('attachment_public', {
  key: ({ id }) => String(id),
  columns: { uuid: textOf(({ uuid }) => uuid), owner: textOf(({ owner }) => owner) },
  indexes: [['uuid'], ['owner']],
})
export const kinds = [publicAttachments]

const MANY = '/attachment-public'
const WHAT = 'public attachment'

export const operations = [
  operation({
    name: 'createPublicAttachment',
    rest: post(MANY, {
      ...uploadRoute,
      // The document shows the number, and clients make avatars of the uuid.
      show: ({ id, uuid }) => ({ Id: { id }, uuid }),
      answer: z.object({ Id: idShape, uuid: z.string() }),
    }),
    input: uploadInput,
    refuses: uploadRefuses,
    run: createPublicAttachment,
  }),
  operation({
    name: 'publicAttachment',
    rest: get(`${MANY}/{itemId}`, {
      show: ({ uuid, created, updated, attachment }) => ({ uuid, created, updated, attachment }),
      answer: z.object({
        uuid: z.string(),
        created: z.string(),
        updated: z.string(),
        attachment: attachmentShape,
      }),
    }),
    input: { itemId: idOrUuid },
    run: async ({ itemId }, ctx) =>
      view(ctx, await needByEither(ctx.store, publicAttachments, itemId, WHAT)),
  }),
  operation({
    name: 'publicAttachmentContent',
    // Chosen: a browser sends no key for an image on a page. The uuid cannot be guessed, as a number can.
    access: 'anyone',
    rest: get(`${MANY}/{itemId}/content`, { isBeyond: true, show: showBytes }),
    input: { itemId: uuid },
    async run({ itemId }, ctx) {
      const found = await needByEither(ctx.store, publicAttachments, itemId, WHAT)
      return readContent(ctx, found, blobOf(found))
    },
  }),
]

export const fields = { PublicAttachment: moments('created', 'updated') }

const blobOf = ({ id }: Pick<PublicAttachment, 'id'>): string => `attachment-public/${id}`

/** Where the bytes of a public attachment are. */
export const contentPathOf = (uuid: string): string => `${MANY}/${uuid}/content`

const view = (ctx: Context, found: PublicAttachment) => ({
  ...found,
  attachment: viewAttachment(ctx, found, contentPathOf(found.uuid)),
})

async function createPublicAttachment(input: Upload, ctx: Context) {
  const image = await readImage(input.content, input['Content-Type'])
  const file = { ...image, description: descriptionOf(ctx, input), bytes: input.content }
  const made = await ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createPublicAttachment', input: digested(input) },
      {
        make: () => addPublic(ctx, tx, file),
        recall: async (id) => (await tx.get(publicAttachments, String(id)))!,
      },
    ),
  )
  return view(ctx, made)
}

/** Keeps a file that everyone may see. */
export async function addPublic(
  ctx: Context,
  tx: Records,
  {
    bytes,
    ...file
  }: Omit<KeptFile, 'id' | 'created' | 'updated' | 'size_bytes'> & {
    bytes: Uint8Array
  },
): Promise<PublicAttachment> {
  const owner = ctx.caller.userId
  if ((await tx.count(publicAttachments, { where: { owner } })) >= ATTACHMENTS_MAX) {
    throw LimitExceeded(`Nobody has more than ${ATTACHMENTS_MAX} public attachments.`)
  }
  const now = momentOf(ctx.clock.now())
  const attachment: PublicAttachment = {
    id: await nextId(tx, 'attachment-public'),
    uuid: ctx.newId(),
    owner,
    created: now,
    updated: now,
    size_bytes: bytes.length,
    ...file,
  }
  await tx.insert(publicAttachments, attachment)
  await ctx.blobs.write(tx, blobOf(attachment), bytes)
  await ctx.events.announce(tx, {
    type: 'banking.attachment-public.created',
    subject: attachment.uuid,
    body: { id: attachment.id },
  })
  return attachment
}

export const idOfPublic = async (from: Records, uuid: string): Promise<number> =>
  (await needByEither(from, publicAttachments, uuid, WHAT)).id

/** What a public attachment is and where its bytes are, read together with others of the same tick. */
export async function viewPublic(ctx: Context, id: number) {
  const found = (await load(ctx, publicAttachments, String(id)))!
  return view(ctx, found).attachment
}

/** A public attachment with its bytes. */
export async function readPublic(ctx: Context, uuid: string) {
  const found = await needByEither(ctx.store, publicAttachments, uuid, WHAT)
  return { ...found, bytes: (await ctx.blobs.read(ctx.store, blobOf(found), 1))! }
}
