// What is shown once and kept as a hash: tokens, keys, codes.
import { hash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32

/** Made by us, with more chance in it than anyone can guess: a plain hash protects it. */
export const hashOf = (secret: string): string => hash('sha256', secret, 'hex')

export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('hex')
