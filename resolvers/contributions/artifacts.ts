// Artifacts: public copies of media, the formats that they come in, and the links that lead to them.
//
// A link is for whoever holds it, as pictures on pages need it, and ends after a day or two. It is
// given out to those alone who may see what it shows.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { get, operation } from '../kernel/operation.ts'
import type { Artifact, MediaFile } from './records.ts'

/** What the specification puts before every path. */
export const BASE_PATH = '/1'
const DAY_MS = 24 * 60 * 60_000
const LINK_DAYS = 2

interface Format {
  readonly label: string
  readonly contentType: string
  readonly fileExtension: string
  /** What kind of file it is made of. */
  readonly forContentType: string
  readonly preserveAspectRatio: boolean
  readonly upscaleAllowed: boolean
  readonly public: boolean
}

const jpeg = (label: string): Format => ({
  label,
  contentType: 'image/jpeg',
  fileExtension: 'jpg',
  forContentType: 'image',
  preserveAspectRatio: true,
  upscaleAllowed: false,
  public: true,
})
const video: Format = {
  ...jpeg('fullsize'),
  contentType: 'video/mp4',
  fileExtension: 'mp4',
  forContentType: 'video',
}

/** The longest side of an image in each format, in pixels. */
export const IMAGE_SIDES: Readonly<Record<string, number | undefined>> = {
  thumbnail: 160,
  medium: 640,
  large: 1_920,
  fullsize: undefined,
}
export const VIDEO_LABEL = 'fullsize'

const images = Object.keys(IMAGE_SIDES).map(jpeg)
// Chosen: the map of three lists. People have no pictures of their own here, so that list is empty.
const FORMATS = { contribution: [...images, video], cover: images, profileImage: [] }

const FORMAT = z.object({
  label: z.string(),
  contentType: z.string(),
  fileExtension: z.string(),
  forContentType: z.string(),
  preserveAspectRatio: z.boolean(),
  upscaleAllowed: z.boolean(),
  public: z.boolean(),
})

export const operations = [
  operation({
    name: 'artifactFormats',
    rest: get('/artifact-formats', {
      answer: z.object({
        contribution: z.array(FORMAT),
        cover: z.array(FORMAT),
        profileImage: z.array(FORMAT),
      }),
    }),
    input: {},
    run: async () => FORMATS,
  }),
]

export const ARTIFACT = z.object({
  label: z.string(),
  contentType: z.string(),
  url: z.string(),
  width: z.number().optional(),
  height: z.number().optional(),
  contentLength: z.number(),
})

/** The artifacts of a file with links to them. */
export const showArtifacts = (file: MediaFile, ctx: Context) =>
  (file.artifacts ?? []).map(({ digest: _digest, ...artifact }: Artifact) => ({
    ...artifact,
    url: linkTo(`/media/${file.id}/${artifact.label}`, ctx),
  }))

/** An address that opens something for whoever holds it. It stays the same for a day. */
export function linkTo(path: string, ctx: Context): string {
  const today = Math.floor(ctx.wallClock.now().getTime() / DAY_MS)
  const key = ctx.cursors.seal(`link ${path}`, String((today + LINK_DAYS) * DAY_MS))
  return `${ctx.address}${BASE_PATH}${path}?key=${key}`
}

/** Refuses a link that was not given out, or that has ended. */
export function checkLink(path: string, key: string, ctx: Context): void {
  const ended = NotFound('This link was not given out, or has ended. Ask for it again.')
  let endsMs: number
  try {
    endsMs = Number(ctx.cursors.open(`link ${path}`, key))
  } catch {
    // It says that a page token is wrong, which this is not.
    throw ended
  }
  if (endsMs <= ctx.wallClock.now().getTime()) throw ended
}
