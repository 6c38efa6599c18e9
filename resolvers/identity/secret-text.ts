// Secrets that we make: long enough that no one guesses them, so that a plain hash protects them.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

const SECRET_BYTES = 30

/** A secret whose beginning says what it is, so that people and scanners recognise a leaked one. */
export const newSecret = (prefix: string): string =>
  `${prefix}_${randomBytes(SECRET_BYTES).toString('base64url')}`

export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

export function isSecretOf(hash: string, secret: string): boolean {
  return timingSafeEqual(Buffer.from(hash, 'hex'), Buffer.from(hashOf(secret), 'hex'))
}

/** What a list shows of a secret, for its owner to tell which is which. */
export const hintOf = (secret: string): string => `…${secret.slice(-4)}`
