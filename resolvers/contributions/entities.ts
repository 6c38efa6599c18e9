// What other services refer to, beside assignments, contributions and forms: people, tags, media.
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { maySeeFile } from './media.ts'
import { mediaFiles } from './records.ts'
import { tags } from './tags.ts'

export const entities = {
  // Each field of a person decides by itself who sees it.
  User: ({ id }: { id: string }) => ({ id }),
  Tag: ({ id }: { id: string }, ctx: Context) => load(ctx, tags, id),
  MediaFile: async ({ id }: { id: string }, ctx: Context) => {
    const file = await load(ctx, mediaFiles, id)
    return file && (await maySeeFile(file, ctx)) ? file : null
  },
}
