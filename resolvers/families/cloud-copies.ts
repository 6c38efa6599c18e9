// Copies of resources as bytes, taken from their services through the graph and put back.
//
// The other side, in each service, is snapshots.ts.
import { Conflict, Unavailable } from '../kernel/fault.ts'
import { dataOf, type Graph } from '../kernel/graph.ts'
import { lowered, type FoundResource } from './cloud-resources.ts'
import { PART_BYTES, partsOf, sha256Of } from './parts.ts'

/** The whole state of a resource at one moment. */
export async function takeSnapshot(
  graph: Graph,
  { typeName, id }: Pick<FoundResource, 'typeName' | 'id'>,
): Promise<Buffer> {
  const document = `query ($id: ID!, $part: Int, $sha256: String) {
    taken: ${lowered(typeName)}Snapshot(id: $id, part: $part, sha256: $sha256) {
      sha256 parts bytes } }`
  const pieces: Buffer[] = []
  let sha256: string | null = null
  let parts = 1
  for (let part = 0; part < parts; part += 1) {
    // The first part names the moment, and the next are asked of the same.
    const { taken } = dataOf(await graph.ask(document, { id, part, sha256 }))
    ;({ sha256, parts } = taken)
    pieces.push(Buffer.from(taken.bytes, 'base64'))
  }
  const bytes = Buffer.concat(pieces)
  if (sha256Of(bytes) !== sha256) throw Unavailable(`The copy of ${id} arrived damaged. Try again.`)
  return bytes
}

export interface Restored {
  readonly id: string
  /** Of the resource as it is after the restore. */
  readonly sha256: string
}

/**
 * Puts a resource back under an id, which need not be the one it had. A trial is carried out, read
 * back and undone.
 */
export async function restoreSnapshot(
  graph: Graph,
  { typeName, id }: Pick<FoundResource, 'typeName' | 'id'>,
  bytes: Buffer,
  { isTrial = false } = {},
): Promise<Restored> {
  const document = `mutation ($id: ID!, $sha256: String!, $sizeBytes: Int!, $part: Int!,
      $bytes: String!, $isTrial: Boolean) {
    put: restore${typeName}(id: $id, sha256: $sha256, sizeBytes: $sizeBytes, part: $part,
      bytes: $bytes, isTrial: $isTrial) { id isWhole sha256 } }`
  const sha256 = sha256Of(bytes)
  const parts = partsOf(bytes.length)
  for (let part = 0; part < parts; part += 1) {
    const piece = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)
    const variables = { id, sha256, sizeBytes: bytes.length, part, isTrial }
    const sent = { ...variables, bytes: piece.toString('base64') }
    const { put } = dataOf(await graph.ask(document, sent))
    if (put.isWhole) return { id: put.id, sha256: put.sha256 }
  }
  throw Conflict(`The service of ${id} misses parts of what was sent. Try again.`)
}
