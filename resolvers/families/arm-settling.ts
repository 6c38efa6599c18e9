// The states that a management resource goes through until it settles. Specification 3, H, C, V, J.
import type { Context } from '../kernel/context.ts'
import type { Accepted, ArmDefinition, ArmResource, At } from './arm.ts'
import { endOperation, runningOperation } from './arm-operations.ts'

/** How long a resource stays in each state on its way. */
export const STATE_MS = 1_000
export const SETTLED: ReadonlySet<string | undefined> = new Set([
  undefined,
  'Succeeded',
  'Failed',
  'Canceled',
])

export interface Settling {
  readonly key: string
  readonly from: string
  readonly to: readonly string[]
}

export const settleStep = ({ type }: ArmDefinition<any>) => `settle ${type}`

export async function settleLater<R extends ArmResource>(
  of: ArmDefinition<R>,
  resource: R,
  [from, ...to]: readonly string[],
  { tx, ctx }: At,
): Promise<void> {
  if (to.length === 0) return
  await ctx.work.later(tx, STATE_MS, settleStep(of), { key: of.kind.key(resource), from, to })
}

/** Moves a resource to its next state. */
export async function settle<R extends ArmResource>(
  of: ArmDefinition<R>,
  step: Settling,
  ctx: Context,
) {
  const { key, from, to } = step
  await ctx.store.transaction(async (tx) => {
    const before = await tx.get(of.kind, key)
    // It was removed, or this step ran already.
    if (!before || before.properties.provisioningState !== from) return
    const next = place<R>(before, before, to[0])
    const after = (await of.enter?.(next, tx, ctx)) ?? next
    await tx.save(of.kind, after)
    await announce(of, after.properties.provisioningState!.toLowerCase(), after, { tx, ctx })
    const change = of.polling && isSettled(after) && (await runningOperation(tx, key))
    if (change) await endOperation(tx, ctx, change, outcomeOf(after))
    // What turned out otherwise stays as it turned out.
    const isOnItsWay = after.properties.provisioningState === to[0]
    if (isOnItsWay) await settleLater(of, after, to, { tx, ctx })
  })
}

/** Says what happened to a resource: that it was created, changed or deleted, or its new state. */
export async function announce<R extends ArmResource>(
  { announces }: ArmDefinition<R>,
  happened: string,
  { id, name, type }: R,
  { tx, ctx }: At,
): Promise<void> {
  if (!announces) return
  await ctx.events.announce(tx, {
    type: `${announces}.${happened}`,
    subject: id,
    body: { id, name, type },
  })
}

const outcomeOf = ({ id, properties }: ArmResource) =>
  properties.provisioningState === 'Succeeded'
    ? {}
    : { error: { code: 'ResourceProvisioningFailed', message: `${id} did not become ready.` } }

/** Puts what was accepted together with what the system sets, which wins. */
export function place<R extends ArmResource>(
  accepted: Accepted<R>,
  { id, name, type }: Pick<ArmResource, 'id' | 'name' | 'type'>,
  provisioningState: string | undefined,
): R {
  const identity = { id, name, type }
  const properties = { ...accepted.properties, ...(provisioningState && { provisioningState }) }
  return { ...identity, ...accepted, ...identity, properties } as unknown as R
}

export const isSettled = ({ properties }: ArmResource) => SETTLED.has(properties.provisioningState)
