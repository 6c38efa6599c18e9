// Snapshots: the whole state of a cloud resource taken out as bytes, and put back. In the graph alone.
//
// 1. What is taken in parts is one version, named by its sha256. One that has several parts is kept
//    for KEPT_MS, whatever happens to the resource meanwhile.
// 2. What is put back under its own id is the same resource: a snapshot of it has the same bytes.
//    Under another id it is a copy: the same state, with keys and the like of its own.
// 3. A trial is a restore whose outcome is read back, compared and then undone, in one transaction.
// 4. Nothing is replaced: a resource that exists stays as it is.
import type { Context } from '../kernel/context.ts'
import { Invalid, NotFound, TooLarge, type Fault } from '../kernel/fault.ts'
import { operation, type Operation } from '../kernel/operation.ts'
import { flag, optional, text, whole } from '../kernel/shape.ts'
import { kind, type Kind, type Records } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { lowered } from './cloud-resources.ts'
import { base64, digest, PART_BYTES, partsOf, rangeOf, sha256Of } from './parts.ts'
import { bytesOf, SNAPSHOT_BYTES_MAX, type Snapshot } from './snapshot-bytes.ts'
import * as restores from './snapshot-restores.ts'

export type { Snapshot }

const KEPT_MS = 60 * 60 * 1000
const KEPT_MAX = 4
const BATCH_MAX = 500
const FORGET = 'forget snapshot'

/** How a service takes the state of one type of its resources, and puts it back. */
export interface SnapshotType<S = any, O = any> {
  /** The type in the graph, such as `DedicatedHsm`. */
  readonly type: string
  /** The kind of the resource itself. */
  readonly kind: Kind<any>
  /** The permissions that are needed, where the service has such. */
  readonly needs?: { readonly take: string; readonly restore: string }
  /** The key of an id in any spelling; undefined when it is malformed or not the caller's. */
  keyOf(id: string, ctx: Context): string | undefined
  /** How the service says that there is no such resource. */
  readonly missing?: (id: string) => Fault
  /** Undefined where there is none. Throws where it cannot be taken now. */
  take(tx: Records, key: string, ctx: Context): Promise<Snapshot<S, O> | undefined>
  /**
   * Makes the resource, with the work that keeps it alive and the events of a creation. Throws where
   * it cannot be, such as where its parent is gone or its name is in use.
   */
  put(tx: Records, restored: Restored<S, O>, ctx: Context): Promise<void>
}

/** A snapshot that is put back. */
export interface Restored<S = any, O = any> extends Snapshot<S, O> {
  /** The id that the resource is to have. */
  readonly id: string
  /** The id of the resource that the snapshot was taken of. */
  readonly from: string
  /** Whether the two differ. */
  readonly isCopy: boolean
}

/** A resource that is taken or put back. */
export interface Place {
  readonly of: SnapshotType
  readonly id: string
  readonly key: string
  /** The type and the key, for what is kept of it. */
  readonly name: string
  readonly missing: (id: string) => Fault
}

interface KeptSnapshot {
  /** The name of the place. */
  of: string
  sha256: string
  sizeBytes: number
  takenMs: number
}

const kept = kind<KeptSnapshot>('kept_snapshots', { key: (it) => `${it.of}/${it.sha256}` })

const asked = { id: text, part: optional(whole), sha256: optional(digest) }
const sent = {
  id: text,
  sha256: digest,
  sizeBytes: whole,
  part: whole,
  bytes: base64,
  isTrial: optional(flag),
}

/** The two operations of every type, and what they keep. Called once in a service. */
export function snapshots(...types: readonly SnapshotType[]) {
  return {
    operations: types.flatMap((of): Operation[] => [
      operation({
        name: `${lowered(of.type)}Snapshot`,
        input: asked,
        ...(of.needs && { needs: of.needs.take }),
        run: (input, ctx) => takePart(placeOf(of, input.id, ctx), input, ctx),
      }),
      operation({
        name: `restore${of.type}`,
        input: sent,
        ...(of.needs && { needs: of.needs.restore }),
        run: (input, ctx) => restores.restorePart(placeOf(of, input.id, ctx), input, ctx),
      }),
    ]),
    kinds: [kept, ...restores.kinds],
    steps: { [FORGET]: forgetKept, ...restores.steps },
  }
}

/** What is asked for, and where it is. Refuses an id that is not the caller's. */
function placeOf(of: SnapshotType, id: string, ctx: Context): Place {
  const { type, missing = (id: string) => NotFound(`There is no ${type} ${id}.`) } = of
  const key = of.keyOf(id, ctx)
  if (key === undefined) throw missing(id)
  return { of, id, key, name: `${type} ${key}`, missing }
}

/** All records that belong to a resource. Refuses what no snapshot holds. */
export async function everyOf<T extends object>(
  tx: Records,
  kind: Kind<T>,
  prefix: string,
): Promise<T[]> {
  const all: T[] = []
  let sizeBytes = 0
  let after: string | undefined
  do {
    const { items, next } = await tx.list(kind, { prefix, limit: BATCH_MAX, after })
    all.push(...items)
    sizeBytes += JSON.stringify(items).length
    checkSize(sizeBytes)
    after = next
  } while (after !== undefined)
  return all
}

interface Asked {
  readonly part?: number | undefined
  readonly sha256?: string | undefined
}

async function takePart(place: Place, { part = 0, sha256 }: Asked, ctx: Context) {
  const { of, id, key, name } = place
  const earlier = sha256 === undefined ? undefined : await keptPart(name, sha256, part, ctx)
  if (earlier) return earlier
  if (sha256 === undefined && part !== 0) {
    throw Invalid('sha256 says which snapshot the part is of. Begin with part 0, which tells it.')
  }
  const bytes = await ctx.store.transaction(async (tx) => {
    const snapshot = await of.take(tx, key, ctx)
    if (!snapshot) throw place.missing(id)
    return bytesOf(of.type, snapshot, ctx)
  })
  checkSize(bytes.length)
  const found = sha256Of(bytes)
  if (sha256 !== undefined && sha256 !== found) {
    throw NotFound('The snapshot of this sha256 is not kept any longer. Begin without sha256.')
  }
  const { offset, length } = rangeOf(part, bytes.length)
  if (bytes.length > PART_BYTES) await keep(name, found, bytes, ctx)
  return shown(found, bytes.length, part, bytes.subarray(offset, offset + length))
}

async function keptPart(of: string, sha256: string, part: number, ctx: Context) {
  const snapshot = await ctx.store.get(kept, `${of}/${sha256}`)
  if (!snapshot) return undefined
  const range = rangeOf(part, snapshot.sizeBytes)
  const at = { key: blobKeyOf(snapshot), version: 1 }
  const found = await ctx.blobs.readRange(ctx.store, at, range)
  return found && shown(sha256, snapshot.sizeBytes, part, found.bytes)
}

const shown = (sha256: string, sizeBytes: number, part: number, bytes: Uint8Array) => ({
  sha256,
  sizeBytes,
  parts: partsOf(sizeBytes),
  part,
  bytes: Buffer.from(bytes).toString('base64'),
})

/** Keeps what the next parts are read from. The oldest goes where there are many. */
const keep = (of: string, sha256: string, bytes: Uint8Array, ctx: Context): Promise<void> =>
  ctx.store.transaction(async (tx) => {
    const takenMs = ctx.clock.now().getTime()
    const snapshot = { of, sha256, sizeBytes: bytes.length, takenMs }
    const { items } = await tx.list(kept, { prefix: `${of}/`, limit: KEPT_MAX })
    const others = items.filter((other) => other.sha256 !== sha256)
    const oldest = others.toSorted((a, b) => a.takenMs - b.takenMs)[0]
    if (others.length === KEPT_MAX) await remove(tx, oldest!, ctx)
    await tx.save(kept, snapshot)
    await ctx.blobs.write(tx, blobKeyOf(snapshot), bytes)
    await ctx.work.later(tx, KEPT_MS, FORGET, { key: kept.key(snapshot), takenMs })
  })

const remove = async (tx: Records, snapshot: KeptSnapshot, ctx: Context): Promise<void> => {
  await ctx.blobs.remove(tx, blobKeyOf(snapshot))
  await tx.remove(kept, kept.key(snapshot))
}

const forgetKept: Step = async ({ key, takenMs }: { key: string; takenMs: number }, ctx) => {
  await ctx.store.transaction(async (tx) => {
    const snapshot = await tx.get(kept, key)
    // It is gone, or was taken again since and has a later step.
    if (snapshot?.takenMs === takenMs) await remove(tx, snapshot, ctx)
  })
}

function checkSize(sizeBytes: number): void {
  if (sizeBytes <= SNAPSHOT_BYTES_MAX) return
  throw TooLarge(`A snapshot is at most ${SNAPSHOT_BYTES_MAX} bytes, and this would be larger.`)
}

const blobKeyOf = (snapshot: KeptSnapshot) => `snapshot/${kept.key(snapshot)}`
