// How a resource is made from a snapshot, in parts. The other side is snapshots.ts.
import type { Context } from '../kernel/context.ts'
import { Conflict, Fault } from '../kernel/fault.ts'
import { kind, type Records } from '../kernel/store.ts'
import { partUploads, sha256Of, UPLOAD_MS, type Upload } from './parts.ts'
import { bytesOf, likenessOf, SNAPSHOT_BYTES_MAX, snapshotIn } from './snapshot-bytes.ts'
import type { Place, Restored } from './snapshots.ts'

const FORGET = 'forget restored'

/** The last snapshot that a resource was made from, so that a repeated request is answered alike. */
interface Restoration {
  /** The name of the place. */
  of: string
  /** The digest of what was sent. */
  sent: string
  /** What came of it: the id, and the digest of a snapshot of it. */
  id: string
  sha256: string
  madeMs: number
}

const restorations = kind<Restoration>('snapshot_restorations', { key: ({ of }) => of })
const uploads = partUploads({ name: 'snapshot_uploads', sizeBytesMax: SNAPSHOT_BYTES_MAX })

export const kinds = [restorations, ...uploads.kinds]
export const steps = { ...uploads.steps, [FORGET]: forget }

interface Sent {
  readonly sha256: string
  readonly sizeBytes: number
  readonly part: number
  readonly bytes: string
  readonly isTrial?: boolean | undefined
}

export async function restorePart(place: Place, { isTrial = false, ...sent }: Sent, ctx: Context) {
  const { id, name: to } = place
  const { sha256, sizeBytes, part, bytes: piece } = sent
  const findDone = () => checkVacant(place, isTrial ? undefined : sha256, { tx: ctx.store, ctx })
  const done = await findDone()
  if (done) return { isWhole: true, ...done }
  const upload = await uploads.receive({ to, sha256, sizeBytes, part, bytes: piece }, ctx)
  if (!uploads.isWhole(upload)) return { id, isWhole: false, sha256 }
  const bytes = await uploads.assemble(upload, ctx)
  if (!bytes) {
    // Two requests may bring the last part at the same time, and the other was faster.
    const meanwhile = await findDone()
    if (meanwhile) return { isWhole: true, ...meanwhile }
    throw Conflict('The upload was ended meanwhile. Begin again.')
  }
  const end = () => ctx.store.transaction((tx) => uploads.forget(upload, tx, ctx))
  try {
    const restored = restoredFrom(place, bytes, ctx)
    if (!isTrial) return { isWhole: true, ...(await restore(place, { upload, restored }, ctx)) }
    const tried = await tryOut(place, { upload, restored }, ctx)
    await end()
    return { isWhole: true, ...tried }
  } catch (error) {
    // What is refused would be refused again. After a mistake of ours the last part can be repeated.
    if (error instanceof Fault) await end()
    throw error
  }
}

interface At {
  readonly tx: Records
  readonly ctx: Context
}

/** Refuses an id that is in use, unless by what this snapshot was put back as, which it returns. */
async function checkVacant(
  place: Place,
  sha256: string | undefined,
  at: At,
): Promise<Made | undefined> {
  if (!(await at.tx.get(place.of.kind, place.key))) return undefined
  const done = await at.tx.get(restorations, place.name)
  if (done && done.sent === sha256) {
    const { made } = await readBack(place, at)
    // It may have been removed meanwhile and another made in its place.
    if (made.sha256 === done.sha256) return made
  }
  throw Conflict('There is a resource with this id already. Delete it, or choose another id.')
}

function restoredFrom({ of, id, key, missing }: Place, bytes: Uint8Array, ctx: Context): Restored {
  const { id: from, ...snapshot } = snapshotIn(of.type, bytes, ctx)
  const source = of.keyOf(from, ctx)
  // Chosen: what was taken of another's resource stays theirs, for it may hold what is sealed.
  if (source === undefined) throw missing(from)
  const isCopy = source !== key
  return { ...snapshot, from, isCopy, id: isCopy ? id : from }
}

interface Restoring {
  readonly upload: Upload
  readonly restored: Restored
}

interface Made {
  readonly id: string
  readonly sha256: string
}

const restore = (place: Place, { upload, restored }: Restoring, ctx: Context): Promise<Made> =>
  ctx.store.transaction(async (tx) => {
    const done = await checkVacant(place, upload.sha256, { tx, ctx })
    if (done) return done
    await place.of.put(tx, restored, ctx)
    const { made } = await readBack(place, { tx, ctx })
    await uploads.forget(upload, tx, ctx)
    const madeMs = ctx.clock.now().getTime()
    await tx.save(restorations, { of: place.name, sent: upload.sha256, madeMs, ...made })
    await ctx.work.later(tx, UPLOAD_MS, FORGET, { of: place.name, madeMs })
    return made
  })

/** Puts it back, reads it and undoes it. Refuses where what was read is not what was taken. */
async function tryOut(place: Place, { upload, restored }: Restoring, ctx: Context): Promise<Made> {
  const undone = new Error('a trial is undone')
  let tried: Made | undefined
  try {
    await ctx.store.transaction(async (tx) => {
      await checkVacant(place, undefined, { tx, ctx })
      await place.of.put(tx, restored, ctx)
      const { made, snapshot } = await readBack(place, { tx, ctx })
      const isSame = restored.isCopy
        ? likenessOf(snapshot) === likenessOf(restored)
        : made.sha256 === upload.sha256
      if (!isSame) throw Conflict('What was put back is not what was taken.')
      tried = made
      throw undone
    })
  } catch (error) {
    // Throwing is how a transaction ends without a trace.
    if (error !== undone) throw error
  }
  return tried!
}

async function readBack({ of, key }: Place, { tx, ctx }: At) {
  const snapshot = await of.take(tx, key, ctx)
  if (!snapshot) throw new Error(`${of.type} ${key} is not there`)
  const sha256 = sha256Of(bytesOf(of.type, snapshot, ctx))
  return { snapshot, made: { id: snapshot.id, sha256 } }
}

async function forget({ of, madeMs }: Pick<Restoration, 'of' | 'madeMs'>, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const done = await tx.get(restorations, of)
    if (done?.madeMs === madeMs) await tx.remove(restorations, of)
  })
}
