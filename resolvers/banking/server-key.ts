// The key with which the bank signs its answers: made when the first client installs itself.
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  sign,
  type KeyObject,
} from 'node:crypto'
import { promisify } from 'node:util'
import type { Context } from '../kernel/context.ts'
import { kind } from '../kernel/store.ts'

const RSA_BITS = 2048
const NAME = 'answers'

interface ServerKey {
  readonly name: string
  /** In PEM, sealed. */
  readonly privateKey: string
}

const serverKeys = kind<ServerKey>('server_key', { key: ({ name }) => name })
export const kinds = [serverKeys]

type Ground = Pick<Context, 'store' | 'secrets'>

// Reading a key from its text takes longer than signing with it.
const known = new WeakMap<Context['store'], KeyObject>()

async function serverKey({ store, secrets }: Ground): Promise<KeyObject> {
  const remembered = known.get(store)
  if (remembered) return remembered
  let kept = await store.get(serverKeys, NAME)
  if (!kept) {
    const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: RSA_BITS })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    // Another process may have been faster: then its key counts.
    await store.insert(serverKeys, { name: NAME, privateKey: secrets.seal(pem, NAME) })
    kept = (await store.get(serverKeys, NAME))!
  }
  const key = createPrivateKey(secrets.open(kept.privateKey, NAME))
  known.set(store, key)
  return key
}

export async function serverPublicKey(ground: Ground): Promise<string> {
  const key = createPublicKey(await serverKey(ground))
  return key.export({ type: 'spki', format: 'pem' }) as string
}

/** RSA with SHA-256 over the bytes of an answer, in base64. */
export async function signAnswer(ground: Ground, body: Uint8Array): Promise<string> {
  return sign('sha256', body, await serverKey(ground)).toString('base64')
}
