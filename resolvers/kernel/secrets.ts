// What must be read back and must not be readable on disk: sealed with AES-256-GCM.
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  randomBytes,
} from 'node:crypto'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

export interface Secrets {
  /** `about` names the record: a sealed text that is copied to another record does not open there. */
  seal(text: string, about: string): string
  open(sealed: string, about: string): string
}

export function openSecrets(bytes: Uint8Array): Secrets {
  // Bytes would be made into a key at every use, which takes twice as long as the rest.
  const key = createSecretKey(bytes)
  return {
    seal(text, about) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about))
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')
    },

    open(sealed, about) {
      const bytes = Buffer.from(sealed, 'base64')
      const nonce = bytes.subarray(0, NONCE_BYTES)
      const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, nonce)
        .setAAD(Buffer.from(about))
        .setAuthTag(tag)
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES))
      return Buffer.concat([text, decipher.final()]).toString('utf8')
    },
  }
}

/** One key of the installation gives a key for each purpose; knowing one does not give another. */
export const keyFor = (purpose: string, master: Uint8Array): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', master, '', `polygraph ${purpose}`, KEY_BYTES))
