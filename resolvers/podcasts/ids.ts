// Short ids, as curated lists and playlists have them: eleven characters that are safe in an address.
import { createHash } from 'node:crypto'
import type { Context } from '../kernel/context.ts'

const SHORT_CHARS = 11

export const shortId = (ctx: Context): string =>
  createHash('sha256').update(ctx.newId()).digest('base64url').slice(0, SHORT_CHARS)
