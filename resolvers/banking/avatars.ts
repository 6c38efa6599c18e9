// Avatars: a picture of someone or something, in the sizes in which it is shown. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import { BadRequest, LimitExceeded } from './errors.ts'
import { squareOf, type Image, type ImageCopy } from './images.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { addPublic, contentPathOf, readPublic } from './public-attachments.ts'
import type { PublicAttachment } from './public-attachments.ts'
import { momentOf, moments, onceHeaders, onceInput } from './shapes.ts'
import { idOrUuid, needByEither, uuid } from './uploads.ts'

const AVATARS_MAX = 200
const IMAGES_MAX = 10
/** Chosen: as an avatar is shown on a page of its own, in a list and beside a line of text. */
const SIDES = [512, 128, 48]
const STYLE_DEFAULT = 'NONE'

interface AvatarImage extends Image {
  readonly attachment_public_uuid: string
}

export interface Avatar {
  readonly id: number
  readonly uuid: string
  readonly owner: string
  readonly created: string
  readonly updated: string
  readonly anchor_uuid: string | null
  readonly style: string
  /** The picture as it came, then the squares made of it. */
  readonly image: readonly AvatarImage[]
}

export const avatars = kind<Avatar>('avatar', {
  key: ({ id }) => String(id),
  columns: { uuid: textOf(({ uuid }) => uuid), owner: textOf(({ owner }) => owner) },
  indexes: [['uuid'], ['owner']],
})
export const kinds = [avatars]

const sentImage = z.object({
  attachment_public_uuid: uuid,
  content_type: optional(text.max(100)),
  height: optional(whole),
  width: optional(whole),
})
const imageShape = z.object({
  attachment_public_uuid: z.string(),
  content_type: z.string(),
  height: z.int(),
  width: z.int(),
})

export const operations = [
  operation({
    name: 'createBankAvatar',
    rest: post('/avatar', {
      show: ({ uuid }) => ({ uuid }),
      answer: z.object({ uuid: z.string() }),
      headers: onceHeaders,
    }),
    input: {
      uuid: optional(uuid),
      anchor_uuid: optional(uuid),
      image: optional(z.array(sentImage).max(IMAGES_MAX)),
      style: optional(text.min(1).max(50)),
      attachment_public_uuid: optional(uuid),
      ...onceInput,
    },
    run: createAvatar,
  }),
  operation({
    name: 'bankAvatar',
    rest: get('/avatar/{itemId}', {
      show: ({ uuid, image }) => ({ uuid, image }),
      answer: z.object({ uuid: z.string(), image: z.array(imageShape) }),
    }),
    input: { itemId: idOrUuid },
    run: ({ itemId }, ctx) => needByEither(ctx.store, avatars, itemId, 'avatar'),
  }),
]

export const fields = {
  BankAvatar: moments('created', 'updated'),
  BankImage: {
    url: ({ attachment_public_uuid }: AvatarImage, _: unknown, { address }: Context) =>
      `${address}/v1${contentPathOf(attachment_public_uuid)}`,
  },
}

interface CreateInput {
  readonly uuid?: string | undefined
  readonly anchor_uuid?: string | undefined
  readonly image?: readonly { attachment_public_uuid: string }[] | undefined
  readonly style?: string | undefined
  readonly attachment_public_uuid?: string | undefined
}

async function createAvatar(input: CreateInput, ctx: Context): Promise<Avatar> {
  // Chosen: where images are listed, the first is the picture; the sizes of it are made here.
  const source = input.attachment_public_uuid ?? input.image?.[0]?.attachment_public_uuid
  if (source === undefined) {
    throw BadRequest(
      'attachment_public_uuid is required: an avatar is made of a public attachment.',
    )
  }
  const picture = await readPublic(ctx, source)
  const { content_type, width, height } = picture
  const sides = SIDES.filter((side) => side <= Math.min(width, height))
  const squares = await Promise.all(
    sides.map((side) => squareOf(picture.bytes, { content_type, side })),
  )
  return ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createBankAvatar', input },
      {
        make: () => addAvatar(ctx, tx, { input, picture, squares }),
        recall: async (id) => (await tx.get(avatars, String(id)))!,
      },
    ),
  )
}

async function addAvatar(
  ctx: Context,
  tx: Records,
  {
    input,
    picture,
    squares,
  }: { input: CreateInput; picture: PublicAttachment; squares: readonly ImageCopy[] },
): Promise<Avatar> {
  await checkNew(ctx, tx, input.uuid)
  const image = [imageOf(picture)]
  for (const square of squares) {
    const { description } = picture
    image.push(imageOf(await addPublic(ctx, tx, { ...square, description })))
  }
  const now = momentOf(ctx.clock.now())
  const avatar: Avatar = {
    id: await nextId(tx, 'avatar'),
    uuid: input.uuid ?? ctx.newId(),
    owner: ctx.caller.userId,
    created: now,
    updated: now,
    anchor_uuid: input.anchor_uuid ?? null,
    style: input.style ?? STYLE_DEFAULT,
    image,
  }
  await tx.insert(avatars, avatar)
  await ctx.events.announce(tx, {
    type: 'banking.avatar.created',
    subject: avatar.uuid,
    body: { id: avatar.id },
  })
  return avatar
}

const imageOf = ({ uuid, content_type, width, height }: PublicAttachment): AvatarImage => ({
  attachment_public_uuid: uuid,
  content_type,
  width,
  height,
})

async function checkNew(ctx: Context, tx: Records, uuid: string | undefined): Promise<void> {
  if (uuid !== undefined && (await isAvatar(tx, uuid))) {
    throw BadRequest(`There is an avatar ${uuid} already.`)
  }
  const count = await tx.count(avatars, { where: { owner: ctx.caller.userId } })
  if (count >= AVATARS_MAX) throw LimitExceeded(`Nobody has more than ${AVATARS_MAX} avatars.`)
}

/** Refuses the uuid of an avatar that is not there. */
export async function checkAvatar(from: Records, uuid: string | undefined): Promise<void> {
  if (uuid === undefined || (await isAvatar(from, uuid))) return
  throw BadRequest(`avatar_uuid: there is no avatar ${uuid}.`)
}

const isAvatar = async (from: Records, uuid: string): Promise<boolean> =>
  (await from.list(avatars, { where: { uuid: uuid.toLowerCase() }, limit: 1 })).items.length > 0
