// Management resources by their id: read, tagged, taken as a whole and put back. In the graph alone.
//
// 1. What is taken has no provisioningState: what is put back goes through the states of a new
//    resource. One that had failed tries again.
// 2. What a resource is in, and what it refers to, must be there when it is put back.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import type { Operation } from '../kernel/operation.ts'
import type { Accepted, armResource, ArmResource, At } from './arm.ts'
import { AnotherOperationInProgress, ResourceNotFound } from './arm-errors.ts'
import { checkSubscription, idAt, partsOf, resourceTags } from './arm-paths.ts'
import { byId } from './by-id.ts'
import type { Restored, Snapshot, SnapshotType } from './snapshots.ts'

type Resource<R extends ArmResource> = ReturnType<typeof armResource<R>>

/** The operations of one type that name a resource by its id. */
export const armById = <R extends ArmResource>(
  type: string,
  { kind, keyOfOwn, retag }: Resource<R>,
  { hasTags = true } = {},
): Operation[] =>
  byId({
    type,
    async find(id, ctx) {
      const key = keyOfOwn(id, ctx)
      return key === undefined ? null : load(ctx, kind, key)
    },
    ...(hasTags && { tags: { shape: resourceTags, change: retag } }),
  })

export interface ArmSnapshotType<R extends ArmResource> {
  /** The type in the graph, such as `DedicatedHsm`. */
  readonly type: string
  readonly resource: Resource<R>
  /** What the names in an id must be. */
  readonly names: z.ZodRawShape
  /** What is taken besides the resource itself, or instead. The resource alone unless said. */
  readonly take?: (kept: Accepted<R>, resource: R, at: At) => Promise<Taken>
  /** Checks what is to be kept, makes the resource of it, and puts what goes with it. */
  readonly put?: (restored: Restored, make: Make<R>, at: At) => Promise<unknown>
}

export type Taken = Omit<Snapshot, 'id'>
export type Make<R extends ArmResource> = (kept: Accepted<R>) => Promise<R>

export function armSnapshot<R extends ArmResource>(of: ArmSnapshotType<R>): SnapshotType {
  const { type, resource } = of
  return {
    type,
    kind: resource.kind,
    keyOf: resource.keyOfOwn,
    missing: (id) => ResourceNotFound(`The resource ${id} was not found.`),
    take: (tx, key, ctx) => take(of, key, { tx, ctx }),
    put: (tx, restored, ctx) => put(of, restored, { tx, ctx }),
  }
}

async function take<R extends ArmResource>(
  of: ArmSnapshotType<R>,
  key: string,
  at: At,
): Promise<Snapshot | undefined> {
  const found = await at.tx.get(of.resource.kind, key)
  if (!found) return undefined
  const { id, name: _name, type: _type, ...rest } = found
  const { provisioningState, ...properties } = found.properties
  if (provisioningState === 'Deleting') {
    throw AnotherOperationInProgress(`The resource ${id} is being deleted.`)
  }
  const kept = { ...rest, properties } as unknown as Accepted<R>
  return { id, ...((await of.take?.(kept, found, at)) ?? { state: kept }) }
}

async function put<R extends ArmResource>(
  of: ArmSnapshotType<R>,
  restored: Restored,
  at: At,
): Promise<void> {
  const id = restored.isCopy ? idFor(of, restored.id, at.ctx) : restored.id
  const make: Make<R> = (kept) => of.resource.revive(id, kept, at)
  await (of.put?.({ ...restored, id }, make, at) ?? make(restored.state))
}

/** An id as the resource is to spell it. Refuses names that a new resource could not have. */
function idFor<R extends ArmResource>(of: ArmSnapshotType<R>, id: string, ctx: Context): string {
  const { path } = of.resource
  const parts = checkSubscription(partsOf(path, id)!, ctx)
  const read = z.object(of.names).safeParse(parts)
  if (read.success) return idAt(path, parts)
  const [{ path: name, message }] = read.error.issues as [z.core.$ZodIssue]
  throw Invalid(`${name.join('.')} in the id ${message}.`)
}
