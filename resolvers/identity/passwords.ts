// Passwords of people: kept as scrypt hashes that take memory and time to guess.
import { randomBytes, scrypt, timingSafeEqual, type ScryptOptions } from 'node:crypto'
import type { Context } from '../kernel/context.ts'
import { Invalid, Unavailable } from '../kernel/fault.ts'
import { operation } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind } from '../kernel/store.ts'
import { WrongPassword } from './errors.ts'
import { checkGuesses, countFailure } from './throttle.ts'
import { ownerOf, userByEmail, type User } from './users.ts'

export const PASSWORD_LENGTH_MIN = 10
const PASSWORD_LENGTH_MAX = 200
const SALT_BYTES = 16
const HASH_BYTES = 32
/** 32 MiB and three rounds, as OWASP advises. */
const COST: Cost = { N: 2 ** 15, r: 8, p: 3 }
const MEMORY_MAX = 256 * 1024 * 1024
const AT_ONCE_MAX = 4
const WAITING_MAX = 64

const ACCOUNT_GUESSES_MAX = 10
const ADDRESS_GUESSES_MAX = 100
/** From all addresses together; many, since whoever guesses also keeps the person out. */
const EVERYWHERE_GUESSES_MAX = 200

interface Cost {
  readonly N: number
  readonly r: number
  readonly p: number
}

interface Password {
  readonly userId: string
  readonly hash: string
  readonly changed: string
}

export const passwords = kind<Password>('password', { key: ({ userId }) => userId })
export const kinds = [passwords]

const password = text.min(PASSWORD_LENGTH_MIN).max(PASSWORD_LENGTH_MAX)

export const operations = [
  operation({
    name: 'setPassword',
    needs: 'identity:ManageCredentials',
    input: { password, current: optional(text.max(PASSWORD_LENGTH_MAX)) },
    run: setPassword,
  }),
]

/** A person who has a password shows it before they change it. */
async function setPassword(
  input: { password: string; current?: string | undefined },
  ctx: Context,
): Promise<true> {
  const userId = ownerOf(ctx)
  const before = await ctx.store.get(passwords, userId)
  if (before) {
    const guessed = [{ what: `password ${userId}`, max: ACCOUNT_GUESSES_MAX }]
    await checkGuesses(ctx, guessed)
    if (!(await isPasswordOf(before.hash, input.current ?? ''))) {
      await countFailure(ctx, guessed)
      throw WrongPassword('current must be the password that you have now.')
    }
  }
  await keepPassword(ctx, userId, input.password)
  return true
}

export async function keepPassword(
  { store, wallClock }: Pick<Context, 'store' | 'wallClock'>,
  userId: string,
  password: string,
): Promise<void> {
  checkPassword(password)
  const hash = await hashPassword(password)
  await store.save(passwords, { userId, hash, changed: wallClock.now().toISOString() })
}

export function checkPassword(password: string): void {
  if (password.length >= PASSWORD_LENGTH_MIN && password.length <= PASSWORD_LENGTH_MAX) return
  throw Invalid(
    `A password has between ${PASSWORD_LENGTH_MIN} and ${PASSWORD_LENGTH_MAX} characters.`,
  )
}

export interface Attempt {
  readonly email: string
  readonly password: string
  /** The network address that it came from. */
  readonly remote: string
}

/**
 * The person whose e-mail address and password these are, or undefined. Refuses when there were too
 * many failures of this account from this address, of this address, or of this account.
 */
export async function personBy(ctx: Context, attempt: Attempt): Promise<User | undefined> {
  const { email, password, remote } = attempt
  const guessed = [
    { what: `sign-in ${email.toLowerCase()} ${remote}`, max: ACCOUNT_GUESSES_MAX },
    { what: `sign-in from ${remote}`, max: ADDRESS_GUESSES_MAX },
    { what: `sign-in ${email.toLowerCase()}`, max: EVERYWHERE_GUESSES_MAX },
  ]
  await checkGuesses(ctx, guessed)
  const user = await userByEmail(ctx.store, email)
  const kept = user && (await ctx.store.get(passwords, user.id))
  // An address that nobody has takes as long as a wrong password: one cannot tell which it was.
  const isRight = await isPasswordOf(kept?.hash ?? (await nobodysHash()), password)
  if (kept && isRight) return user
  await countFailure(ctx, guessed)
  return undefined
}

/** `scrypt$N$r$p$salt$hash`, so that the cost can be raised later. */
export async function hashPassword(password: string, cost: Cost = COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const hash = await inTurn(() => derive(password, salt, cost))
  const { N, r, p } = cost
  return ['scrypt', N, r, p, salt.toString('base64'), hash.toString('base64')].join('$')
}

async function isPasswordOf(kept: string, password: string): Promise<boolean> {
  const [, N, r, p, salt, hash] = kept.split('$') as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const cost = { N: Number(N), r: Number(r), p: Number(p) }
  const shown = await inTurn(() => derive(password, Buffer.from(salt, 'base64'), cost))
  return timingSafeEqual(shown, Buffer.from(hash, 'base64'))
}

let nobodys: Promise<string> | undefined
const nobodysHash = () => (nobodys ??= hashPassword(randomBytes(SALT_BYTES).toString('hex')))

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const options: ScryptOptions = { ...cost, maxmem: MEMORY_MAX }
  return new Promise((resolve, reject) =>
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, options, (error, hash) =>
      error ? reject(error) : resolve(hash),
    ),
  )
}

// Each hash takes memory, so only a few run at once and only so many wait.
let running = 0
const waiting: (() => void)[] = []

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE_MAX) {
    if (waiting.length >= WAITING_MAX) throw Unavailable('Too many people sign in at this moment.')
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  running += 1
  try {
    return await work()
  } finally {
    running -= 1
    waiting.shift()?.()
  }
}
