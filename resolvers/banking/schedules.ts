// Payments that are made by themselves, once or again and again. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind, numberOf, type Records } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import { moneyOf } from './amounts.ts'
import { BadRequest, LimitExceeded, NoSuch, WrongState } from './errors.ts'
import { accountById } from './ledger.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import { listInput, listKind, showNodes } from './pages.ts'
import { paymentIdOf } from './payment-views.ts'
import { pay, paymentInput, type PaymentOrder } from './payments.ts'
import { checkSigned } from './signatures.ts'
import {
  ACCOUNT,
  idShape,
  itemId,
  moments,
  momentOf,
  ofAccount,
  onceHeaders,
  onceInput,
  readMoment,
  showId,
} from './shapes.ts'

const SCHEDULES_MAX = 200
const RUNS_KEPT_MAX = 20
const SIZE_MAX = 1000
const HOUR_MS = 60 * 60_000
const UNITS = ['ONCE', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const
type Unit = (typeof UNITS)[number]

export interface ScheduledPayment {
  readonly id: number
  readonly monetary_account_id: number
  readonly created: string
  readonly updated: string
  readonly status: 'ACTIVE' | 'FINISHED' | 'CANCELLED'
  readonly payment: PaymentOrder
  readonly schedule: {
    readonly time_start: string
    readonly time_end: string | null
    readonly time_next: string | null
    readonly recurrence_unit: Unit
    readonly recurrence_size: number
  }
  /** How many times it has run, and what became of the latest. */
  readonly runs: number
  readonly latest: readonly ScheduledRun[]
}

interface ScheduledRun {
  readonly time: string
  readonly status: 'SUCCEEDED' | 'FAILED'
  readonly payment_id: number | null
  readonly error_message: string | null
}

export const schedules = kind<ScheduledPayment>('scheduled_payment', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    account: numberOf(({ monetary_account_id }) => monetary_account_id),
  },
  indexes: [['account', 'id']],
})
export const kinds = [schedules]

const scheduleInput = z.object({
  time_start: text.max(40),
  time_end: optional(text.max(40)),
  recurrence_unit: z.enum(UNITS),
  recurrence_size: optional(whole),
})
const scheduledShape = z.object({
  id: z.int(),
  monetary_account_id: z.int(),
  created: z.string(),
  updated: z.string(),
  status: z.string(),
  payment: z.looseObject({}),
  schedule: z.looseObject({ time_start: z.string(), recurrence_unit: z.string() }),
})

const MANY = `${ACCOUNT}/schedule-payment`
const ONE = `${MANY}/{itemId}`
const beyond = { isBeyond: true }

export const operations = [
  operation({
    name: 'createSchedulePayment',
    rest: post(MANY, { ...beyond, show: showId, answer: idShape, headers: onceHeaders }),
    input: {
      ...ofAccount,
      payment: z.object(paymentInput),
      schedule: scheduleInput,
      ...onceInput,
    },
    refuses: { 466: 'A client with a session signs what moves money.' },
    run: createSchedule,
  }),
  operation({
    name: 'schedulePayments',
    rest: get(MANY, { ...beyond, show: showNodes, answer: z.array(scheduledShape) }),
    input: { ...ofAccount, ...listInput },
    async run({ userId, monetaryAccountId, ...input }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      return listKind(ctx, schedules, { account: monetaryAccountId }, input)
    },
  }),
  operation({
    name: 'schedulePayment',
    rest: get(ONE, { ...beyond, answer: scheduledShape }),
    input: { ...ofAccount, itemId },
    async run({ userId, monetaryAccountId, itemId }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      return needSchedule(ctx.store, monetaryAccountId, itemId)
    },
  }),
  operation({
    name: 'deleteSchedulePayment',
    rest: del(ONE, beyond),
    input: { ...ofAccount, itemId },
    run: cancelSchedule,
  }),
]

export const steps = { 'pay by schedule': runSchedule }

export const fields = {
  SchedulePayment: moments('created', 'updated'),
  PaymentSchedule: moments('time_start', 'time_end', 'time_next'),
  ScheduledRun: moments('time'),
}

async function needSchedule(from: Records, accountId: number, id: number) {
  const schedule = await from.get(schedules, String(id))
  if (schedule?.monetary_account_id !== accountId) throw NoSuch('scheduled payment', id)
  return schedule
}

type CreateInput = {
  userId: number
  monetaryAccountId: number
  payment: PaymentOrder
  schedule: z.output<typeof scheduleInput>
}

async function createSchedule(input: CreateInput, ctx: Context): Promise<ScheduledPayment> {
  checkSigned(ctx)
  const { userId, monetaryAccountId, payment, schedule } = input
  moneyOf(payment.amount, 'payment.amount')
  const startMs = readMoment(schedule.time_start, 'schedule.time_start')
  const endMs =
    schedule.time_end === undefined ? null : readMoment(schedule.time_end, 'schedule.time_end')
  const nowMs = ctx.clock.now().getTime()
  if (startMs < nowMs) throw BadRequest('schedule.time_start must not have passed.')
  if (endMs !== null && endMs < startMs) {
    throw BadRequest('schedule.time_end must not be before schedule.time_start.')
  }
  const size = schedule.recurrence_size ?? 1
  if (size < 1 || size > SIZE_MAX) {
    throw BadRequest(`schedule.recurrence_size must be between 1 and ${SIZE_MAX}.`)
  }
  return ctx.store.transaction((tx) =>
    once(
      ctx,
      tx,
      { name: 'createSchedulePayment', input },
      {
        async make() {
          const account = await needAccount(ctx, userId, monetaryAccountId, tx)
          if (account.status !== 'ACTIVE')
            throw WrongState(`The account ${account.iban} is closed.`)
          const count = await tx.count(schedules, { where: { account: account.id } })
          if (count >= SCHEDULES_MAX) {
            throw LimitExceeded(`An account has at most ${SCHEDULES_MAX} scheduled payments.`)
          }
          const made: ScheduledPayment = {
            id: await nextId(tx, 'schedule'),
            monetary_account_id: account.id,
            created: momentOf(nowMs),
            updated: momentOf(nowMs),
            status: 'ACTIVE',
            payment,
            schedule: {
              time_start: momentOf(startMs),
              time_end: endMs === null ? null : momentOf(endMs),
              time_next: momentOf(startMs),
              recurrence_unit: schedule.recurrence_unit,
              recurrence_size: size,
            },
            runs: 0,
            latest: [],
          }
          await tx.insert(schedules, made)
          await ctx.work.later(tx, startMs - nowMs, 'pay by schedule', { id: made.id, run: 0 })
          await announce(ctx, tx, made, 'created')
          return made
        },
        recall: (id) => needSchedule(tx, monetaryAccountId, id),
      },
    ),
  )
}

const announce = (ctx: Context, tx: Records, scheduled: ScheduledPayment, happened: string) =>
  ctx.events.announce(tx, {
    type: `banking.schedule-payment.${happened}`,
    subject: String(scheduled.id),
    body: { monetary_account_id: scheduled.monetary_account_id, status: scheduled.status },
  })

async function cancelSchedule(
  {
    userId,
    monetaryAccountId,
    itemId,
  }: {
    userId: number
    monetaryAccountId: number
    itemId: number
  },
  ctx: Context,
) {
  await ctx.store.transaction(async (tx) => {
    await needAccount(ctx, userId, monetaryAccountId, tx)
    const before = await needSchedule(tx, monetaryAccountId, itemId)
    if (before.status !== 'ACTIVE') {
      throw WrongState(`This schedule is ${before.status.toLowerCase()} already.`)
    }
    const schedule = { ...before.schedule, time_next: null }
    const after: ScheduledPayment = {
      ...before,
      status: 'CANCELLED',
      schedule,
      updated: momentOf(ctx.clock.now()),
    }
    await tx.save(schedules, after)
    await announce(ctx, tx, after, 'cancelled')
  })
  return reply(200)
}

/** Makes one payment of a schedule. `run` says which, so that a step that runs twice pays once. */
async function runSchedule({ id, run }: { id: number; run: number }, ctx: Context): Promise<void> {
  let refusal: Fault | undefined
  try {
    await ctx.store.transaction((tx) => runOnce(ctx, tx, { id, run }))
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    refusal = error
  }
  // What was refused is undone with its transaction, and told in another.
  if (refusal) {
    await ctx.store.transaction((tx) => runOnce(ctx, tx, { id, run, refusal: refusal.message }))
  }
}

async function runOnce(
  ctx: Context,
  tx: Records,
  { id, run, refusal }: { id: number; run: number; refusal?: string },
): Promise<void> {
  const scheduled = await tx.get(schedules, String(id))
  if (scheduled?.status !== 'ACTIVE' || scheduled.runs !== run) return
  const nowMs = ctx.clock.now().getTime()
  let paymentId: number | null = null
  if (refusal === undefined) {
    const payer = (await accountById(tx, scheduled.monetary_account_id))!
    const entry = await pay(ctx, tx, { payer, order: scheduled.payment, about: `schedule ${id}` })
    paymentId = paymentIdOf(entry.id, 'debit')
  }
  const latest: ScheduledRun = {
    time: momentOf(nowMs),
    status: refusal === undefined ? 'SUCCEEDED' : 'FAILED',
    payment_id: paymentId,
    error_message: refusal ?? null,
  }
  const nextMs = nextOf(scheduled, run + 1)
  const after: ScheduledPayment = {
    ...scheduled,
    status: nextMs === undefined ? 'FINISHED' : 'ACTIVE',
    schedule: {
      ...scheduled.schedule,
      time_next: nextMs === undefined ? null : momentOf(nextMs),
    },
    updated: momentOf(nowMs),
    runs: run + 1,
    latest: [latest, ...scheduled.latest].slice(0, RUNS_KEPT_MAX),
  }
  await tx.save(schedules, after)
  if (nextMs !== undefined) {
    const delayMs = Math.max(nextMs - nowMs, 0)
    await ctx.work.later(tx, delayMs, 'pay by schedule', { id, run: run + 1 })
  }
  await announce(ctx, tx, after, refusal === undefined ? 'paid' : 'failed')
}

/** When a schedule runs for the n-th time after the first; undefined when it has ended by then. */
function nextOf({ schedule }: ScheduledPayment, n: number): number | undefined {
  const { recurrence_unit: unit, recurrence_size: size, time_start, time_end } = schedule
  if (unit === 'ONCE') return undefined
  const nextMs = momentAfter(readMoment(time_start, ''), unit, n * size)
  return time_end !== null && nextMs > readMoment(time_end, '') ? undefined : nextMs
}

/** Chosen: a day that a month lacks is its last day, and the months after have their own again. */
export function momentAfter(startMs: number, unit: Exclude<Unit, 'ONCE'>, steps: number): number {
  if (unit === 'HOURLY') return startMs + steps * HOUR_MS
  if (unit === 'DAILY') return startMs + steps * 24 * HOUR_MS
  if (unit === 'WEEKLY') return startMs + steps * 7 * 24 * HOUR_MS
  const start = new Date(startMs)
  const months = start.getUTCMonth() + (unit === 'YEARLY' ? 12 : 1) * steps
  const next = new Date(startMs)
  next.setUTCFullYear(start.getUTCFullYear(), months, 1)
  const daysInMonth = new Date(
    Date.UTC(next.getUTCFullYear(), next.getUTCMonth() + 1, 0),
  ).getUTCDate()
  next.setUTCDate(Math.min(start.getUTCDate(), daysInMonth))
  return next.getTime()
}
