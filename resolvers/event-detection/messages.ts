// Messages, which become the input of detectors and alarms. Specification 3, service T.
//
// 1. A message is evaluated in a transaction before its call is answered. What was acknowledged has
//    therefore happened, and messages of one key happen in the order in which they were sent when each
//    waits for the one before; those of one call happen in the order in which they stand there.
// 2. What a message makes due later (timers, calls) is stored in the same transaction, and done by work.
// 3. Calls that come while others are under way share a transaction, which costs them less than one each.
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { operation, post } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Store } from '../kernel/store.ts'
import { checkUnique } from './batches.ts'
import { deliver, type Delivery } from './deliveries.ts'
import { entryOf, InvalidRequest } from './errors.ts'
import { errorAnswer } from './pages.ts'
import { batchOf, itemId } from './shapes.ts'

const PAYLOAD_BYTES_MAX = 16 * 1024
/** How many messages share a transaction, unless one call alone has more. */
const TOGETHER_MAX = 256
/** How many transactions are under way together: SQLite has one writer. */
const LANES: Readonly<Record<Store['engine'], number>> = { sqlite: 1, postgres: 4 }

const message = z.object({
  messageId: itemId,
  inputName: text,
  payload: z.string(),
  timestamp: optional(z.object({ timeInMillis: optional(z.number().nonnegative()) })),
})

export const operations = [
  operation({
    name: 'batchPutMessage',
    rest: post('/inputs/messages', {
      answer: errorAnswer('BatchPutMessageErrorEntries', 'messageId'),
    }),
    input: { messages: batchOf(message) },
    needs: 'iotevents:BatchPutMessage',
    run: ({ messages }, ctx) => putMessages(messages, ctx),
  }),
]

interface SentMessage {
  readonly messageId: string
  readonly inputName: string
  readonly payload: string
}

export async function putMessages(messages: readonly SentMessage[], ctx: Context) {
  const account = accountOf(ctx)
  checkUnique(messages, 'messageId')
  // Before the transaction, so that nobody waits for it.
  const deliveries = messages.map((sent) => readMessage(sent, account))
  const outcomes = await deliverSoon(deliveries, ctx)
  const entries = messages.flatMap(({ messageId }, i) =>
    outcomes[i] ? [{ messageId, ...entryOf(outcomes[i]) }] : [],
  )
  return { BatchPutMessageErrorEntries: entries }
}

function readMessage({ inputName, payload }: SentMessage, account: string): Delivery {
  try {
    return { account, inputName, payload: readPayload(payload) }
  } catch (error) {
    // The refusal of this message; the others go on.
    if (error instanceof Fault) return { account, inputName, fault: error }
    throw error
  }
}

/** Chosen: JSON as it is will do too, since it begins with what no base64 begins with. */
function readPayload(sent: string): unknown {
  const bytes = sent.startsWith('{') ? Buffer.from(sent) : Buffer.from(sent, 'base64')
  if (bytes.length > PAYLOAD_BYTES_MAX) {
    throw InvalidRequest(`The payload must be at most ${PAYLOAD_BYTES_MAX} bytes.`)
  }
  let payload: unknown
  try {
    payload = JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw InvalidRequest(`The payload is not JSON: ${(error as Error).message}`)
  }
  if (typeof payload === 'object' && payload !== null && !Array.isArray(payload)) return payload
  throw InvalidRequest('The payload must be a JSON object.')
}

type Outcomes = readonly (Fault | undefined)[]

interface Call {
  readonly deliveries: readonly Delivery[]
  readonly ctx: Context
  readonly resolve: (outcomes: Outcomes) => void
  readonly reject: (error: unknown) => void
}

/** The calls that wait, and how many transactions are under way. */
interface Line {
  readonly waiting: Call[]
  underWay: number
}

const lines = new WeakMap<Store, Line>()

function deliverSoon(deliveries: readonly Delivery[], ctx: Context): Promise<Outcomes> {
  let line = lines.get(ctx.store)
  if (!line) lines.set(ctx.store, (line = { waiting: [], underWay: 0 }))
  const { promise, resolve, reject } = Promise.withResolvers<Outcomes>()
  line.waiting.push({ deliveries, ctx, resolve, reject })
  if (line.underWay < LANES[ctx.store.engine]) void serve(line)
  return promise
}

/** Delivers until nobody waits. It never throws: what fails is told to those whose call it was. */
async function serve(line: Line): Promise<void> {
  line.underWay += 1
  while (line.waiting.length > 0) {
    // A pause, in which answers leave and those who waited for them send their next.
    await setImmediate()
    const calls = takeSome(line)
    // Another lane may have taken all meanwhile.
    if (calls.length > 0) await deliverTogether(calls)
  }
  line.underWay -= 1
}

function takeSome({ waiting }: Line): Call[] {
  let messages = 0
  const next = waiting.findIndex(
    ({ deliveries }, i) => (messages += deliveries.length) > TOGETHER_MAX && i > 0,
  )
  return waiting.splice(0, next < 0 ? waiting.length : next)
}

async function deliverTogether(calls: readonly Call[]): Promise<void> {
  const { ctx } = calls[0]!
  const deliveries = calls.flatMap((call) => call.deliveries)
  try {
    const outcomes = await ctx.store.transaction((tx) => deliver(tx, deliveries, ctx))
    let at = 0
    for (const call of calls) call.resolve(outcomes.slice(at, (at += call.deliveries.length)))
  } catch (error) {
    // Each alone shows whose fault it is.
    if (calls.length === 1) calls[0]!.reject(error)
    else for (const call of calls) await deliverTogether([call])
  }
}
