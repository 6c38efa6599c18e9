// A snapshot as bytes: a line of canonical JSON, and what else the resource holds behind it.
//
// 1. The same state gives the same bytes: names are sorted, and nothing is in them that a write or a
//    moment would change, such as the version of a record.
// 2. The line is sealed. What is put back was taken here and is as it was taken, so that a service
//    need not expect state that it would never have made, and may keep in it what only it may write.
import type { Context } from '../kernel/context.ts'
import { Fault, Invalid } from '../kernel/fault.ts'
import { sha256Of } from './parts.ts'

/** What a database may hold, and as much again for what is said of a resource. */
export const SNAPSHOT_BYTES_MAX = 128 * 1024 * 1024
const FORMAT = 1
const TYPE_MAX = 100
const SEALED = 'snapshots'
const LINE_END = 0x0a
const SEAL = /^\{"seal":"([\w-]+)",/

/** The whole state of a resource at one moment. */
export interface Snapshot<S = any, O = any> {
  /** The id of the resource, spelled as the resource has it. */
  readonly id: string
  /** What a copy under another id has too. It does not name the resource itself. */
  readonly state: S
  /** What belongs to this very resource, and a copy has another of, such as keys. */
  readonly own?: O | undefined
  /** What is larger than JSON should be. */
  readonly content?: Uint8Array | undefined
}

export function bytesOf(type: string, snapshot: Snapshot, ctx: Context): Uint8Array {
  const { id, state, own, content } = snapshot
  const about = content && { sha256: sha256Of(content), sizeBytes: content.length }
  const line = canonical({ format: FORMAT, type, id, state, own, content: about })
  const seal = ctx.cursors.seal(SEALED, digestOf(line))
  const head = Buffer.from(`{"seal":"${seal}",${line.slice(1)}\n`)
  return content ? Buffer.concat([head, content]) : head
}

/** Refuses bytes that are of another type, that are damaged, or that were not taken here. */
export function snapshotIn(type: string, bytes: Uint8Array, ctx: Context): Snapshot {
  const end = bytes.indexOf(LINE_END)
  const head = Buffer.from(bytes.subarray(0, Math.max(end, 0))).toString()
  const [opening, seal] = SEAL.exec(head) ?? []
  if (opening === undefined || seal === undefined) throw damaged()
  const line = `{${head.slice(opening.length)}`
  const { format, type: found, id, state, own, content: about } = readLine(line)
  if (format !== FORMAT) throw damaged()
  if (found !== type) throw Invalid(`The snapshot is of a ${nameIn(found)}, not a ${type}.`)
  if (!isSealed(seal, digestOf(line), ctx)) throw damaged()
  const content = about && bytes.subarray(end + 1)
  const isWhole = content ? sha256Of(content) === about.sha256 : bytes.length === end + 1
  if (!isWhole) throw damaged()
  return { id, state, own, content }
}

/** What a copy must have too, in a form that can be compared. */
export const likenessOf = ({ state, content }: Snapshot): string =>
  digestOf(canonical({ state, content: content && sha256Of(content) }))

const digestOf = (line: string): string => sha256Of(Buffer.from(line))

function isSealed(seal: string, of: string, ctx: Context): boolean {
  try {
    return ctx.cursors.open(SEALED, seal) === of
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

function readLine(line: string): Record<string, any> {
  try {
    return JSON.parse(line)
  } catch (error) {
    // Whoever sent it gets the same answer as for any other damage.
    if (error instanceof SyntaxError) throw damaged()
    throw error
  }
}

/** A type as far as it could be one, since anything may have been sent. */
const nameIn = (type: unknown): string => String(type).slice(0, TYPE_MAX)

const damaged = () =>
  Invalid('The bytes are no snapshot that was taken here, or they were changed since.')

/** JSON in which the members of every object are in the order of their names. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
