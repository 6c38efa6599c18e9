// What every cloud resource offers by its id alone: to be read, and to be tagged. In the graph alone.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import { operation, type Operation } from '../kernel/operation.ts'
import { tags, text } from '../kernel/shape.ts'
import { lowered } from './cloud-resources.ts'

/** More than any resource has. */
const KEYS_MAX = 100

export type Tags = Readonly<Record<string, string>>
/** What becomes of the tags that a resource has. */
export type TagChange = (before: Tags) => Tags

export interface ResourceById {
  /** The type in the graph, such as `DedicatedHsm`. */
  readonly type: string
  /** The permissions that are needed, where the service has such. */
  readonly needs?: { readonly read: string; readonly tag: string; readonly untag: string }
  /** Null or undefined when there is none, or it is not the caller's. */
  find(id: string, ctx: Context): Promise<object | null | undefined>
  /** Absent where resources of this type have no tags. */
  readonly tags?: {
    /** What all the tags of a resource must be. */
    readonly shape: z.ZodType<Record<string, string>>
    /** Changes the tags as any other change of the resource would, and returns the resource. */
    change(id: string, to: TagChange, ctx: Context): Promise<unknown>
  }
}

/** The operations `<t>ById`, and `tag<T>` and `untag<T>` where the type has tags. */
export function byId({ type, needs, find, tags: own }: ResourceById): Operation[] {
  const read = operation({
    name: `${lowered(type)}ById`,
    input: { id: text },
    ...(needs && { needs: needs.read }),
    run: async ({ id }, ctx) => (await find(id, ctx)) ?? null,
  })
  if (!own) return [read]
  const change = (id: string, to: TagChange, ctx: Context) =>
    own.change(id, (before) => checkTags(to(before), own.shape), ctx)
  return [
    read,
    operation({
      name: `tag${type}`,
      input: { id: text, tags },
      ...(needs && { needs: needs.tag }),
      run: ({ id, tags }, ctx) => change(id, (before) => ({ ...before, ...tags }), ctx),
    }),
    operation({
      name: `untag${type}`,
      input: { id: text, keys: z.array(text).max(KEYS_MAX) },
      ...(needs && { needs: needs.untag }),
      run: ({ id, keys }, ctx) => change(id, (before) => without(before, keys), ctx),
    }),
  ]
}

/** Refuses what a resource cannot have, as the refusal of any other input does. */
function checkTags(tags: Tags, shape: z.ZodType<Record<string, string>>): Tags {
  const read = shape.safeParse(tags)
  if (read.success) return read.data
  const field = { name: 'tags', message: read.error.issues[0]!.message }
  throw Invalid(`${field.name} ${field.message}.`, { details: { fields: [field] } })
}

const without = (tags: Tags, keys: readonly string[]): Tags =>
  Object.fromEntries(Object.entries(tags).filter(([key]) => !keys.includes(key)))
