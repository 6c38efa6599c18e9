// The first person of an installation, who registers by a link that the log shows.
//
// The link lives until someone registers or a day has passed. It is the same for all processes of an
// installation, and a new one is made when it is asked for after that.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Forbidden, Invalid } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { kind } from '../kernel/store.ts'
import { checkPassword, keepPassword } from './passwords.ts'
import { isSecretOf, hashOf, newSecret } from './secret-text.ts'
import { createUser, users, type User } from './users.ts'

const LIFE_MS = 24 * 60 * 60_000
const NAME_MAX = 200
const ABOUT = 'first user'

interface Invitation {
  readonly sealed: string
  readonly expiresMs: number
}

const invitations = kind<Invitation>('first_user', { key: () => ABOUT })
export const kinds = [invitations]

export const operations = [
  operation({ name: 'firstUserPath', access: 'services', input: {}, run: firstUserPath }),
]

async function firstUserPath(_input: object, ctx: Context): Promise<string | null> {
  const nowMs = ctx.wallClock.now().getTime()
  const secret = newSecret('pgw')
  const kept = await ctx.store.transaction(async (tx) => {
    if ((await tx.list(users, { limit: 1 })).items.length > 0) return undefined
    const open = await tx.get(invitations, ABOUT)
    if (open && open.expiresMs > nowMs) return open
    const made = { sealed: ctx.secrets.seal(secret, ABOUT), expiresMs: nowMs + LIFE_MS }
    await tx.save(invitations, made)
    return made
  })
  return kept ? `/welcome/${ctx.secrets.open(kept.sealed, ABOUT)}` : null
}

/** Whether this is the secret of the link, and nobody has used it. */
export async function isInvited(ctx: Context, secret: string): Promise<boolean> {
  const kept = await ctx.store.get(invitations, ABOUT)
  if (!kept || kept.expiresMs <= ctx.wallClock.now().getTime()) return false
  return isSecretOf(hashOf(ctx.secrets.open(kept.sealed, ABOUT)), secret)
}

/** Registers the first person, as an administrator, and ends the link. */
export async function registerFirst(
  ctx: Context,
  { secret, name, email, password }: Record<'secret' | 'name' | 'email' | 'password', string>,
): Promise<User> {
  // Nothing may be wrong with the rest, since the link works once.
  checkPassword(password)
  if (!z.email().safeParse(email).success) throw Invalid('Write an e-mail address.')
  if (name === '' || name.length > NAME_MAX) throw Invalid('Write your name.')
  const isFirst = (await isInvited(ctx, secret)) && (await ctx.store.remove(invitations, ABOUT))
  if (!isFirst) throw Forbidden('This link was used or has ended.')
  const user = await createUser({ name, email, isAdmin: true }, ctx)
  await keepPassword(ctx, user.id, password)
  return user
}
