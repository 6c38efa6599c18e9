// What runs on after a 202 and is polled until it ends. Specification 3, H, C, V, Q, J.
//
// A client polls the URL in Vendor-AsyncOperation for a status, or the URL in Location for the
// result. Both stay readable for a day after the end: a client that finds 404 there raises an error.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { reply } from '../kernel/operation.ts'
import { oneOf, text } from '../kernel/shape.ts'
import { kind, textOf, type Records } from '../kernel/store.ts'
import type { Step } from '../kernel/work.ts'
import { ResourceNotFound } from './arm-errors.ts'
import {
  checkSubscription,
  idAt,
  inSubscription,
  linkTo,
  subscription,
  type Input,
} from './arm-paths.ts'

export interface ArmOperation {
  subscriptionId: string
  location: string
  operationId: string
  /** The key of the resource that it works on. */
  target: string
  status: 'InProgress' | 'Succeeded' | 'Failed' | 'Canceled'
  startTime: string
  endTime?: string
  error?: { code: string; message: string }
  /** What the operation made, where the result shows something. */
  result?: object
}

type OperationKey = Pick<ArmOperation, 'subscriptionId' | 'location' | 'operationId'>

const READABLE_MS = 24 * 60 * 60 * 1000
const FAILED_STATUS = 409
const FORGET = 'forget operation'

/** Sent with every answer that says "not yet": without it older clients wait half a minute. */
export const RETRY = { 'Retry-After': '1' }

const kept = kind<ArmOperation>('arm_operations', {
  key: keyOf,
  columns: { running: textOf(({ status, target }) => (status === 'InProgress' ? target : null)) },
  indexes: [['running']],
})

/** The body of a status. */
export const statusAnswer = z.object({
  id: text,
  name: text,
  status: oneOf(['InProgress', 'Succeeded', 'Failed', 'Canceled']),
  startTime: text,
  endTime: text.optional(),
  error: z.object({ code: text, message: text }).optional(),
})

export type ArmOperations = ReturnType<typeof armOperations>

/** How the operations of one service are polled. Its resources share them. */
export function armOperations({ area, version }: { area: string; version: string }) {
  const location = inSubscription(`${area}/locations/{location}`)
  const statusPath = `${location}/operationStatuses/{operationId}`
  const resultPath = `${location}/operationResults/{operationId}`
  const query = { 'api-version': version }

  const headers = (ctx: Context, operation: OperationKey): Record<string, string> => ({
    Location: linkTo(ctx, { path: resultPath, input: operation, query }),
    'Vendor-AsyncOperation': linkTo(ctx, { path: statusPath, input: operation, query }),
    ...RETRY,
  })

  async function status(sent: Input, ctx: Context) {
    const operation = await find(sent, ctx)
    const isRunning = operation.status === 'InProgress'
    return reply(200, statusOf(operation, statusPath), isRunning ? RETRY : {})
  }

  async function result(sent: Input, ctx: Context) {
    const operation = await find(sent, ctx)
    const { error } = operation
    if (error) throw new Fault(error.code, FAILED_STATUS, error.message)
    const shown = { ...statusOf(operation, statusPath), result: operation.result }
    if (operation.status === 'InProgress') return reply(202, shown, headers(ctx, operation))
    return reply(operation.result ? 200 : 204, shown)
  }

  return {
    statusPath,
    resultPath,
    input: { ...subscription, location: text, operationId: text },
    headers,
    status,
    result,
    /** The documented body of a result is what the operation made, and nothing besides. */
    showResult: ({ result }: Pick<ArmOperation, 'result'>) => result,
    kinds: [kept],
    steps: { [FORGET]: forget },
  }
}

export async function beginOperation(
  tx: Records,
  ctx: Context,
  on: Pick<ArmOperation, 'subscriptionId' | 'location' | 'target'>,
): Promise<ArmOperation> {
  const startTime = ctx.clock.now().toISOString()
  const begun: ArmOperation = { ...on, operationId: ctx.newId(), status: 'InProgress', startTime }
  await tx.insert(kept, begun)
  return begun
}

/** The operation that works on a resource now. */
export async function runningOperation(
  tx: Records,
  target: string,
): Promise<ArmOperation | undefined> {
  const { items } = await tx.list(kept, { where: { running: target }, limit: 1 })
  return items[0]
}

/** Ends an operation that `runningOperation` gave. */
export async function endOperation(
  tx: Records,
  ctx: Context,
  operation: ArmOperation,
  outcome: Pick<ArmOperation, 'error' | 'result'> = {},
): Promise<void> {
  const status = outcome.error ? 'Failed' : 'Succeeded'
  const endTime = ctx.clock.now().toISOString()
  await tx.save(kept, { ...operation, ...outcome, status, endTime })
  await ctx.work.later(tx, READABLE_MS, FORGET, { key: keyOf(operation) })
}

const forget: Step = async ({ key }, ctx) => {
  await ctx.store.remove(kept, key)
}

async function find(sent: Input, ctx: Context): Promise<ArmOperation> {
  const asked = checkSubscription(sent, ctx)
  const operation = await ctx.store.get(kept, keyOf(asked as OperationKey & Input))
  if (operation) return operation
  throw ResourceNotFound(
    `There is no operation ${asked.operationId} in ${asked.location}. It ended more than a day ago, or never was.`,
  )
}

function statusOf(operation: ArmOperation, statusPath: string) {
  const { operationId: name, status, startTime, endTime, error } = operation
  return { id: idAt(statusPath, operation), name, status, startTime, endTime, error }
}

function keyOf({ subscriptionId, location, operationId }: OperationKey): string {
  return `${subscriptionId}/${location}/${operationId}`.toLowerCase()
}
