// The bytes of recovery points: encrypted with the key of their vault, and never shown otherwise.
//
// 1. AES-256-GCM, with the recovery point as what is authenticated beside the bytes: those of one point
//    do not open as another's.
// 2. A point that is captured continuously has a version of its bytes for each state it was seen in.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { sha256Of } from '../families/parts.ts'
import type { Context } from '../kernel/context.ts'
import type { Records } from '../kernel/store.ts'
import { recoveryPoints, vaultKey, vaults, type RecoveryPoint, type Vault } from './kinds.ts'
import { InvalidRequest } from './errors.ts'

const NONCE_BYTES = 12
const TAG_BYTES = 16
/** Beyond this, the nonce and the tag are too much for the store. */
const POINT_BYTES_MAX = 256 * 1024 * 1024 - NONCE_BYTES - TAG_BYTES

const blobKeyOf = (point: string) => `recovery-point/${point}`

/** Encrypts what the recovery point with this key will hold. */
export function encrypt(bytes: Uint8Array, point: string, vault: Vault, ctx: Context): Buffer {
  if (bytes.length > POINT_BYTES_MAX) {
    throw InvalidRequest(`A recovery point holds at most ${POINT_BYTES_MAX} bytes.`)
  }
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keyOf(vault, ctx), nonce).setAAD(Buffer.from(point))
  const sealed = [cipher.update(bytes), cipher.final()]
  return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()])
}

export async function keepBytes(
  tx: Records,
  point: string,
  encrypted: Uint8Array,
  ctx: Context,
): Promise<void> {
  await ctx.blobs.write(tx, blobKeyOf(point), encrypted)
}

export async function forgetBytes(tx: Records, point: RecoveryPoint, ctx: Context): Promise<void> {
  await ctx.blobs.remove(tx, blobKeyOf(recoveryPoints.key(point)))
}

/** Forgets the states that were no longer the latest at a moment. */
export async function forgetBefore(
  tx: Records,
  point: RecoveryPoint,
  sinceMs: number,
  ctx: Context,
): Promise<void> {
  const keep = { sinceMs, versionsMax: Infinity, bytesMax: Infinity }
  await ctx.blobs.trim(tx, blobKeyOf(recoveryPoints.key(point)), keep)
}

/**
 * What a recovery point holds, or held at a moment. Undefined when there is nothing; throws when the
 * bytes are not what was written.
 */
export async function readBytes(
  point: RecoveryPoint,
  ctx: Context,
  at?: Date,
): Promise<Buffer | undefined> {
  const key = recoveryPoints.key(point)
  const blob = blobKeyOf(key)
  const { store, blobs } = ctx
  const vault = await store.get(vaults, vaultKey(point.Account, point.BackupVaultName))
  const version = await (at ? blobs.at(store, blob, at) : blobs.latest(store, blob))
  const encrypted = version && (await blobs.read(store, blob, version.version))
  if (!encrypted || !vault) return undefined
  const tag = encrypted.subarray(encrypted.length - TAG_BYTES)
  const decipher = createDecipheriv(
    'aes-256-gcm',
    keyOf(vault, ctx),
    encrypted.subarray(0, NONCE_BYTES),
  )
    .setAAD(Buffer.from(key))
    .setAuthTag(tag)
  const sealed = encrypted.subarray(NONCE_BYTES, encrypted.length - TAG_BYTES)
  const bytes = Buffer.concat([decipher.update(sealed), decipher.final()])
  if (!at && sha256Of(bytes) !== point.Sha256) {
    throw new Error(`the recovery point ${key} holds other bytes than were written`)
  }
  return bytes
}

const keyOf = (vault: Vault, ctx: Context): Buffer =>
  Buffer.from(ctx.secrets.open(vault.SealedKey, vaults.key(vault)), 'base64')
