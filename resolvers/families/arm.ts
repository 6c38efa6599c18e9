// The life cycle that six management services share: put, patch, get, remove and list, with a
// provisioning state that settles later. Specification 3, H, C, D, V, Q, J.
//
// Plain functions: a service lists its operations itself and names the functions that they run.
//
// 1. The key of a record is its id in lower case. What a subscription or a group holds is thus the
//    records whose keys begin alike, and no lookup crosses subscriptions.
// 2. An id is spelled as it was when the resource was first put, so that references stay true.
// 3. What the system sets is not read from what a client sends. Clients send back what they got, so
//    it is ignored and not refused.
import type { Context } from '../kernel/context.ts'
import { checkIfMatch, checkIfNoneMatch, etagOf } from '../kernel/etag.ts'
import { reply } from '../kernel/operation.ts'
import type { Records } from '../kernel/store.ts'
import {
  AnotherOperationInProgress,
  InvalidResourceLocation,
  ResourceNotFound,
} from './arm-errors.ts'
import { connectAccount, listAt, under, type Listed } from './arm-lists.ts'
import {
  beginOperation,
  endOperation,
  RETRY,
  runningOperation,
  type ArmOperations,
} from './arm-operations.ts'
import {
  checkSubscription,
  idAt,
  inSubscription,
  ownSubscription,
  partsOf,
  plainLocation,
  type Input,
} from './arm-paths.ts'
import {
  announce,
  isSettled,
  place,
  settle,
  settleLater,
  settleStep,
  SETTLED,
  STATE_MS,
  type Settling,
} from './arm-settling.ts'
import type { TagChange } from './by-id.ts'

export interface ArmResource {
  id: string
  name: string
  type: string
  location?: string
  tags?: Record<string, string> | undefined
  properties: { provisioningState?: string }
}

/** A resource without its identity, which the system sets. */
export type Accepted<R extends ArmResource> = Omit<R, 'id' | 'name' | 'type'>

export interface ArmDefinition<R extends ArmResource> extends Listed<R> {
  /** Vendor.<Area>/<collection>. */
  readonly type: string
  /** The documented path of one resource, which is also the form of its id. */
  readonly path: string
  /** The input that is the body of PUT and PATCH. */
  readonly body: string
  /** What a new resource goes through, and a changed one; the last state is where it stays. */
  readonly states?: { readonly creating: readonly string[]; readonly updating: readonly string[] }
  /** What a removal that takes time is polled by. Without it every removal is at once. */
  readonly polling?: ArmOperations
  /** Whether there is nothing whose removal would take time. */
  readonly isRemovedAtOnce?: (resource: R, tx: Records) => boolean | Promise<boolean>
  /**
   * Removes a batch of what goes with the resource, and returns whether nothing is left. A removal
   * that takes time calls it until then; one that is at once calls it once, for what is little.
   */
  readonly clear?: (resource: R, tx: Records, ctx: Context) => Promise<boolean>
  /** Whether a change is done at once, without going through the states of a change. */
  readonly isChangedAtOnce?: (before: R, after: Accepted<R>) => boolean
  /** How a PATCH is answered whose work goes on, with what to poll. Without it, as any other. */
  readonly patchAccepted?: 201 | 202
  /** Throws where a resource must stay, such as one that others stand on. */
  readonly checkRemoval?: (resource: R, tx: Records) => Promise<void>
  /** What is announced, such as `hsm.module`: it was created, changed or deleted, or its state. */
  readonly announces?: string
  /** The service's own rules: throws what it refuses, and returns what is to be kept. */
  accept(sent: any, at: Acceptance<R>): Accepted<R> | Promise<Accepted<R>>
  /** Looks at a resource that enters its next state, and returns it, or what became of it. */
  readonly enter?: (resource: R, tx: Records, ctx: Context) => Promise<R>
}

/** What a rule may look at besides what was sent. */
export interface Acceptance<R> {
  readonly id: string
  readonly before: R | undefined
  readonly tx: Records
  readonly ctx: Context
}

/** How a change ends whose resource was removed meanwhile. */
const PREEMPTED = {
  code: 'OperationPreempted',
  message: 'The resource was deleted before the change was done.',
}

export const armKey = ({ id }: Pick<ArmResource, 'id'>): string => id.toLowerCase()

export function armResource<R extends ArmResource>(of: ArmDefinition<R>) {
  const inGroup = of.path.slice(0, of.path.lastIndexOf('/{'))
  const byGroup = { path: inGroup, select: (input: Input) => under(inGroup, input) }
  const bySubscription = {
    path: inSubscription(of.type),
    select: (input: Input) => under('/subscriptions/{subscriptionId}', input),
  }
  return {
    kind: of.kind,
    path: of.path,
    put: (input: Input, ctx: Context) => put(of, input, ctx),
    patch: (input: Input, ctx: Context) => patch(of, input, ctx),
    get: (input: Input, ctx: Context) => get(of, input, ctx),
    remove: (input: Input, ctx: Context) => remove(of, input, ctx),
    listByGroup: (input: Input, ctx: Context) => listAt(of, byGroup, input, ctx),
    listBySubscription: (input: Input, ctx: Context) => listAt(of, bySubscription, input, ctx),
    ofAccount: (account: { id: string }, page: object, ctx: Context) =>
      connectAccount(of, account, page, ctx),
    /** The key of an id in any case; undefined when it is malformed or not the caller's. */
    keyOfOwn: (id: string, ctx: Context) => keyOfOwn(of, id, ctx),
    /** Changes the tags of a resource that is the caller's, as a PATCH of nothing else. */
    retag: (id: string, to: TagChange, ctx: Context) => retag(of, id, to, ctx),
    /** Makes a resource that was before, as a new one is made. */
    revive: (id: string, kept: Accepted<R>, at: At) => begin(of, id, kept, at),
    steps: {
      [settleStep(of)]: (input: Settling, ctx: Context) => settle(of, input, ctx),
      [removeStep(of)]: (input: Removal, ctx: Context) => finishRemoval(of, input, ctx),
    },
  }
}

type Of<R extends ArmResource> = ArmDefinition<R>

/** Creates (201) or replaces (200). */
async function put<R extends ArmResource>(of: Of<R>, input: Input, ctx: Context) {
  const id = idAt(of.path, checkSubscription(input, ctx))
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(of.kind, armKey({ id }))
    checkIfMatch(ctx.headers['if-match'], before)
    checkIfNoneMatch(ctx.headers['if-none-match'], before)
    const after = await write(of, input[of.body], { id, before, tx, ctx })
    return reply(before ? 200 : 201, after, headersOf(after))
  })
}

/** Replaces the tags as a whole and merges the rest. */
const patch = <R extends ArmResource>(of: Of<R>, input: Input, ctx: Context) =>
  change(of, checkSubscription(input, ctx), () => input[of.body], ctx)

function retag<R extends ArmResource>(of: Of<R>, id: string, to: TagChange, ctx: Context) {
  const asked = partsOf(of.path, id)
  if (!asked || !keyOfOwn(of, id, ctx)) throw missing(id)
  const sentTo = ({ tags = {} }: R) => ({ tags: to(tags) })
  return change(of, checkSubscription(asked, ctx), sentTo, ctx)
}

async function change<R extends ArmResource>(
  of: Of<R>,
  asked: Input,
  sentTo: (before: R) => Input,
  ctx: Context,
) {
  const id = idAt(of.path, asked)
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(of.kind, armKey({ id }))
    if (!before) throw missing(id)
    checkIfMatch(ctx.headers['if-match'], before)
    const sent = sentTo(before)
    const merged = { ...(merge(before, sent) as object), tags: sent.tags ?? before.tags }
    const after = await write(of, merged, { id, before, tx, ctx })
    if (!of.patchAccepted || isSettled(after)) return reply(200, after, headersOf(after))
    const running =
      (await runningOperation(tx, armKey(after))) ?? (await beginPolled(after, asked, { tx, ctx }))
    // Clients read the resource at the end, unless a Location tells them to read something else.
    const { Location: _, ...polled } = of.polling!.headers(ctx, running)
    return reply(of.patchAccepted, after, { ...headersOf(after), ...polled })
  })
}

async function get<R extends ArmResource>(of: Of<R>, input: Input, ctx: Context) {
  const id = idAt(of.path, checkSubscription(input, ctx))
  const resource = await ctx.store.get(of.kind, armKey({ id }))
  if (!resource) throw missing(id)
  return reply(200, resource, headersOf(resource))
}

/** Removes at once (200) or begins to (202). What is not there needs no removing (204). */
async function remove<R extends ArmResource>(of: Of<R>, input: Input, ctx: Context) {
  const asked = checkSubscription(input, ctx)
  const target = armKey({ id: idAt(of.path, asked) })
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(of.kind, target)
    if (!before) return reply(204)
    checkIfMatch(ctx.headers['if-match'], before)
    const running = of.polling && (await runningOperation(tx, target))
    // Asking again is answered with the removal that is under way.
    if (running && isLeaving(before)) return reply(202, null, of.polling!.headers(ctx, running))
    await of.checkRemoval?.(before, tx)
    if (running) await endOperation(tx, ctx, running, { error: PREEMPTED })
    if (!of.polling || (await of.isRemovedAtOnce?.(before, tx))) {
      const isClear = (await of.clear?.(before, tx, ctx)) ?? true
      if (!isClear) throw new Error(`${target} holds too much to be removed at once`)
      await tx.remove(of.kind, target)
      await announce(of, 'deleted', before, { tx, ctx })
      return reply(200)
    }
    const removal = await beginRemoval(of, before, asked, { tx, ctx })
    return reply(202, null, of.polling.headers(ctx, removal))
  })
}

async function write<R extends ArmResource>(of: Of<R>, sent: any, at: Acceptance<R>): Promise<R> {
  const { id, before, tx, ctx } = at
  if (before) checkChange(before, sent)
  const accepted = await of.accept(sent, at)
  if (!before) return begin(of, id, accepted, at)
  const state = before.properties.provisioningState
  // A change while a resource still settles leaves it where it is; its steps go on as begun.
  const states = SETTLED.has(state) ? statesOf(of, before, accepted) : undefined
  const after = place<R>(accepted, before, states?.[0] ?? state)
  await tx.save(of.kind, after)
  if (states) await settleLater(of, after, states, { tx, ctx })
  await announce(of, 'changed', after, { tx, ctx })
  return after
}

/** Makes a resource, on its way to the state that it stays in. */
async function begin<R extends ArmResource>(
  of: Of<R>,
  id: string,
  accepted: Accepted<R>,
  { tx, ctx }: At,
): Promise<R> {
  const identity = { id, name: id.slice(id.lastIndexOf('/') + 1), type: of.type }
  const states = of.states?.creating
  const after = place<R>(accepted, identity, states?.[0])
  await tx.save(of.kind, after)
  if (states) await settleLater(of, after, states, { tx, ctx })
  await announce(of, 'created', after, { tx, ctx })
  return after
}

function statesOf<R extends ArmResource>(of: Of<R>, before: R, after: Accepted<R>) {
  // What failed is made anew, as if it had not been there.
  if (before.properties.provisioningState === 'Failed') return of.states?.creating
  return of.isChangedAtOnce?.(before, after) ? undefined : of.states?.updating
}

function checkChange(before: ArmResource, sent: Partial<ArmResource>): void {
  if (isLeaving(before)) {
    throw AnotherOperationInProgress(
      `The resource ${before.id} is being deleted. Wait until it is gone, then create it again.`,
    )
  }
  const { location } = before
  if (location && sent.location && plainLocation(sent.location) !== plainLocation(location)) {
    throw InvalidResourceLocation(
      `The resource ${before.name} exists in location '${location}'. It cannot be moved to '${sent.location}': delete it first, or use another name.`,
    )
  }
}

export interface At {
  readonly tx: Records
  readonly ctx: Context
}

interface Removal {
  readonly target: string
}

const removeStep = ({ type }: Of<any>) => `remove ${type}`

async function beginRemoval<R extends ArmResource>(
  of: Of<R>,
  before: R,
  asked: Input,
  { tx, ctx }: At,
) {
  await tx.save(of.kind, place<R>(before, before, 'Deleting'))
  await announce(of, 'deleting', before, { tx, ctx })
  await ctx.work.later(tx, STATE_MS, removeStep(of), { target: armKey(before) })
  return beginPolled(before, asked, { tx, ctx })
}

/** Begins what a client polls while the resource is on its way. */
function beginPolled(resource: ArmResource, { subscriptionId }: Input, { tx, ctx }: At) {
  const location = plainLocation(resource.location ?? 'global')
  return beginOperation(tx, ctx, { subscriptionId, location, target: armKey(resource) })
}

async function finishRemoval<R extends ArmResource>(of: Of<R>, { target }: Removal, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const removal = await runningOperation(tx, target)
    // This step ran already.
    if (!removal) return
    const before = await tx.get(of.kind, target)
    if (before && of.clear && !(await of.clear(before, tx, ctx))) {
      return ctx.work.later(tx, 0, removeStep(of), { target })
    }
    await tx.remove(of.kind, target)
    if (before) await announce(of, 'deleted', before, { tx, ctx })
    await endOperation(tx, ctx, removal)
  })
}

function keyOfOwn<R extends ArmResource>(of: Of<R>, id: string, ctx: Context): string | undefined {
  const parts = partsOf(of.path, id)
  return parts && ownSubscription(ctx, parts.subscriptionId!) && armKey({ id })
}

const isLeaving = ({ properties }: ArmResource) => properties.provisioningState === 'Deleting'

const headersOf = (resource: ArmResource): Record<string, string> => ({
  ETag: etagOf(resource),
  ...(isSettled(resource) ? {} : RETRY),
})

const missing = (id: string) => ResourceNotFound(`The resource ${id} was not found.`)

/** Members that are sent replace those that are there, objects member by member. */
function merge(before: unknown, sent: unknown): unknown {
  if (sent === undefined) return before
  if (!isObject(before) || !isObject(sent)) return sent
  const merged = { ...before }
  for (const [name, value] of Object.entries(sent)) merged[name] = merge(before[name], value)
  return merged
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
