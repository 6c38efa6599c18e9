// What an export holds of a contribution: text, JSON and media.
import type { Context } from '../kernel/context.ts'
import { isInsider } from './access.ts'
import { loadMedia, showContribution } from './contribution-views.ts'
import type { ExportOptions, MediaFormat } from './export-records.ts'
import { copyImage } from './images.ts'
import { readBytes } from './media.ts'
import type { Contribution, MediaFile } from './records.ts'

const EXTENSIONS: Readonly<Record<string, string>> = {
  'image/jpeg': '.jpg',
  'image/png': '.png',
  'image/webp': '.webp',
  'image/gif': '.gif',
  'video/mp4': '.mp4',
  'video/quicktime': '.mov',
  'video/x-m4v': '.m4v',
}
const RULE = '-'.repeat(72)

/** A file of the archive, whose content is read when its turn comes. */
export interface PlannedFile {
  readonly name: string
  /** Whether it is worth packing. */
  readonly isPacked: boolean
  /** Undefined when the content has gone since. */
  readonly read: () => Promise<Uint8Array | undefined>
}

/** A contribution as text. */
export function textOf({ headline, body, attribution, created, place }: Contribution): string {
  const { latitude, longitude } = place?.latLong ?? {}
  const lines = [
    headline,
    `By ${attribution ?? 'someone who gave no name'}, ${created}`,
    ...(place?.name === undefined ? [] : [`At ${place.name}`]),
    ...(latitude === undefined ? [] : [`At ${latitude}, ${longitude}`]),
    ...(body === undefined ? [] : ['', body]),
  ]
  return `${lines.join('\n')}\n\n${RULE}\n\n`
}

/** The files of a contribution, in a folder of its own. */
export async function filesOf(
  contribution: Contribution,
  { individual, json, format }: ExportOptions,
  ctx: Context,
): Promise<PlannedFile[]> {
  const { id, urlWords, created } = contribution
  const folder = `${created.slice(0, 10)}-${urlWords}-${id}`
  const media = await loadMedia(format === 'none' ? [] : contribution.media, ctx)
  const copies = media.flatMap((file, at) => {
    const copy = copyOf(file, contribution, format, ctx)
    return copy
      ? [{ ...copy, id: file.id, name: `media-${at + 1}${EXTENSIONS[copy.contentType]}` }]
      : []
  })
  const names = new Map(copies.map((copy) => [copy.id, copy.name]))
  return [
    ...(individual ? [packed(`${folder}/contribution.txt`, async () => textOf(contribution))] : []),
    ...copies.map(({ name, read }) => ({ name: `${folder}/${name}`, isPacked: false, read })),
    ...(json
      ? [packed(`${folder}/contribution.json`, () => jsonOf(contribution, names, ctx))]
      : []),
  ]
}

const packed = (name: string, read: () => Promise<string>): PlannedFile => ({
  name,
  isPacked: true,
  read: async () => Buffer.from(await read()),
})

/** As REST shows it, with the files of the archive instead of links, which end. */
async function jsonOf(
  contribution: Contribution,
  names: ReadonlyMap<string, string>,
  ctx: Context,
): Promise<string> {
  const shown = await showContribution(contribution, ctx)
  const mediaUsages = shown.mediaUsages.map(({ id, media }) => ({
    id,
    media,
    ...(names.has(id) && { file: names.get(id) }),
  }))
  return JSON.stringify({ ...shown, mediaUsages }, null, 2)
}

interface Copy {
  readonly contentType: string
  readonly read: PlannedFile['read']
}

/** A media file in a format. What lies beside a picture is for those who may know it. */
function copyOf(
  file: MediaFile,
  contribution: Contribution,
  format: MediaFormat,
  ctx: Context,
): Copy | undefined {
  if (format === 'original' && isInsider(contribution, ctx)) {
    return { contentType: file.contentType, read: () => readBytes(file.digest, ctx) }
  }
  const artifact = file.artifacts?.find(({ label }) => label === 'fullsize')
  if (!artifact) return undefined
  const { contentType, digest } = artifact
  if (format !== 'tagged' || file.type !== 'image') {
    return { contentType, read: () => readBytes(digest, ctx) }
  }
  const tell = { what: contribution.headline, who: contribution.attribution ?? '' }
  const read = async () => {
    const bytes = await readBytes(digest, ctx)
    return bytes && (await copyImage(bytes, { tell }))?.bytes
  }
  return { contentType, read }
}
