// Files as they are sent and handed out, whoever may see them. Specification 2, service B.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { reply, type Reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Kind, Records } from '../kernel/store.ts'
import { NoSuch } from './errors.ts'
import { FILE_BYTES_MAX, type Image } from './images.ts'
import { onceHeaders, onceInput } from './shapes.ts'

const DESCRIPTION = 'X-Vendor-Attachment-Description'
const DESCRIPTION_MAX = 1000
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const NUMBER = /^[1-9]\d{0,15}$/

/** Bytes at REST, and the same in base64 in the graph. */
const content = z.preprocess(
  (sent) => (typeof sent === 'string' && BASE64.test(sent) ? Buffer.from(sent, 'base64') : sent),
  z.instanceof(Uint8Array, { error: 'must be bytes, and base64 in the graph' }),
)

export const uploadInput = {
  content,
  [DESCRIPTION]: text.min(1).max(DESCRIPTION_MAX),
  'Content-Type': optional(text.max(200)),
  ...onceInput,
}
export const uploadRoute = {
  body: 'content',
  media: 'bytes',
  bodyMax: FILE_BYTES_MAX,
  headers: [DESCRIPTION, 'Content-Type', ...onceHeaders],
} as const
export const uploadRefuses = {
  413: 'The file is too large.',
  415: 'The file is of a type that is not taken.',
}

export interface Upload {
  readonly content: Uint8Array
  readonly [DESCRIPTION]: string
  readonly 'Content-Type'?: string | undefined
}

/** Header fields come as bytes, a letter for each; where those are UTF-8, they are read as such. */
export function descriptionOf({ headers }: Context, upload: Upload): string {
  const sent = upload[DESCRIPTION]
  if (headers[DESCRIPTION.toLowerCase()] !== sent) return sent
  const bytes = Buffer.from(sent, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : sent
}

/** What was sent, with a digest in place of the bytes. */
export const digested = (upload: Upload) => ({
  ...upload,
  content: createHash('sha256').update(upload.content).digest('base64url'),
})

/** A file that is kept, whoever may see it. */
export interface KeptFile extends Image {
  readonly id: number
  readonly created: string
  readonly updated: string
  readonly description: string
  readonly size_bytes: number
}

export const attachmentShape = z.object({
  description: z.string(),
  content_type: z.string(),
  urls: z.array(z.object({ type: z.string(), url: z.string() })),
})

/** Chosen: one address of each file, that of the bytes as they came. */
export const viewAttachment = (
  { address }: Context,
  { description, content_type }: KeptFile,
  path: string,
) => ({ description, content_type, urls: [{ type: 'ORIGINAL', url: `${address}/v1${path}` }] })

/** The bytes of a file, for browsers too: they may look at it, and do nothing else. */
export async function readContent(
  { store, blobs }: Context,
  { content_type }: KeptFile,
  key: string,
): Promise<Reply> {
  const bytes = (await blobs.read(store, key, 1))!
  return reply(
    200,
    { content_type, bytes },
    {
      'content-type': content_type,
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
      // The bytes of a file never change.
      'cache-control': 'private, max-age=31536000, immutable',
    },
  )
}
export const showBytes = ({ bytes }: { bytes: Uint8Array }) => bytes

export const fields = {
  BankFileContent: {
    base64: ({ bytes }: { bytes: Uint8Array }) => Buffer.from(bytes).toString('base64'),
  },
}

export const uuid = text.regex(UUID, 'must be a UUID').transform((sent) => sent.toLowerCase())

/** What has both: the document addresses it by its number, and clients by its uuid. */
export const idOrUuid = z
  .union([z.string(), z.int().transform(String)])
  .refine((sent) => NUMBER.test(sent) || UUID.test(sent), 'must be an id or a UUID')

/** What has this number or uuid. The kind must have the column `uuid`, and the number as its key. */
export async function needByEither<T extends object>(
  from: Records,
  kind: Kind<T>,
  sent: string,
  what: string,
): Promise<T> {
  const found = NUMBER.test(sent)
    ? await from.get(kind, sent)
    : (await from.list(kind, { where: { uuid: sent.toLowerCase() }, limit: 1 })).items[0]
  if (!found) throw NoSuch(what, sent)
  return found
}
