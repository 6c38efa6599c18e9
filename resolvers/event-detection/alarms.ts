// Alarms: one for each key value of a model, and what people do about them. Specification 3, service T.
import { z } from 'zod'
import { accountOf, epochSecondsOf, tokenPage } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { connect, type Paging } from '../kernel/paging.ts'
import { whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { alarmModels, needAlarmModel, type AlarmModel } from './alarm-models.ts'
import { actOn, endOfSnooze, type ActionName } from './alarm-rules.ts'
import { checkUnique, eachOf } from './batches.ts'
import { keyValueOf } from './detectors.ts'
import { InvalidRequest, ResourceNotFound } from './errors.ts'
import { alarms, notifications, watches, type Alarm } from './instances.ts'
import { instanceKey, modelArn, modelKey, scopeOf } from './models.ts'
import { errorAnswer, pageAnswer, pageInput } from './pages.ts'
import { batchOf, itemId, keyValue, modelName, note } from './shapes.ts'

const SNOOZE_SECONDS_MAX = 31_622_400
const END_SNOOZE_STEP = 'endAlarmSnooze'

const named = { alarmModelName: modelName, keyValue }
const request = { requestId: itemId, ...named, note }

const summaryAnswer = {
  alarmModelName: z.string(),
  alarmModelVersion: z.string(),
  keyValue: z.string().optional(),
  creationTime: z.number(),
  lastUpdateTime: z.number(),
}
const alarmAnswer = z.object({
  ...summaryAnswer,
  severity: z.number().optional(),
  alarmState: z.object({
    stateName: z.string(),
    ruleEvaluation: z.record(z.string(), z.unknown()).optional(),
    customerAction: z.record(z.string(), z.unknown()).optional(),
    systemEvent: z.record(z.string(), z.unknown()).optional(),
  }),
})

/** One of the five actions. */
const action = (actionName: ActionName, shape: z.ZodRawShape = request) => {
  const word = actionName.toLowerCase()
  const batch = `${word.charAt(0).toUpperCase()}${word.slice(1)}Alarm`
  const requests = `${word}ActionRequests`
  return operation({
    name: `batch${batch}`,
    rest: post(`/alarms/${word}`, { answer: errorAnswer('errorEntries', 'requestId') }),
    input: { [requests]: batchOf(z.object(shape)) },
    needs: `iotevents:Batch${batch}`,
    run: (sent: any, ctx) => actOnEach(sent[requests], actionName, ctx),
  })
}

export const operations = [
  action('ACKNOWLEDGE'),
  action('DISABLE'),
  action('ENABLE'),
  action('RESET'),
  action('SNOOZE', { ...request, snoozeDuration: whole }),
  operation({
    name: 'alarm',
    rest: get('/alarms/{alarmModelName}/keyValues/', {
      show: (alarm: Alarm) => ({ alarm: shown(alarm) }),
      answer: z.object({ alarm: alarmAnswer }),
    }),
    input: named,
    needs: 'iotevents:DescribeAlarm',
    refuses: { 404: 'There is no such model, or no alarm with this key value.' },
    run: (named, ctx) => needAlarm(ctx.store, accountOf(ctx), named),
  }),
  operation({
    name: 'alarmPage',
    rest: get('/alarms/{alarmModelName}', {
      show: ({ alarmSummaries, ...next }) => ({
        alarmSummaries: alarmSummaries.map(summaryShown),
        ...next,
      }),
      answer: pageAnswer('alarmSummaries', { ...summaryAnswer, stateName: z.string() }),
    }),
    input: { alarmModelName: modelName, ...pageInput },
    needs: 'iotevents:ListAlarms',
    refuses: { 404: 'There is no such model.' },
    async run({ alarmModelName, maxResults, nextToken }, ctx) {
      const model = await needAlarmModel(ctx.store, accountOf(ctx), alarmModelName)
      const { items, NextToken } = await tokenPage(ctx, alarms, {
        prefix: prefixOf(model),
        PageSize: maxResults,
        NextToken: nextToken,
      })
      return { alarmSummaries: items, ...(NextToken !== undefined && { nextToken: NextToken }) }
    },
  }),
]

export const steps = { [END_SNOOZE_STEP]: endSnooze }

const called = {
  alarmModelName: ({ modelName }: Alarm) => modelName,
  alarmModelVersion: ({ version }: Alarm) => version,
  keyValue: keyValueOf,
  stateName: ({ alarmState }: Alarm) => alarmState.stateName,
}

export const fields = {
  AlarmSummary: called,
  Alarm: {
    ...called,
    id: (alarm: Alarm) => alarmArn(alarm),
    alarmModel: ({ account, modelName }: Alarm, _: unknown, ctx: Context) =>
      load(ctx, alarmModels, modelKey(account, modelName)),
    notifications: (alarm: Alarm, { first, after }: Paging, ctx: Context) =>
      // Ids rise with time, so that the last is the newest.
      connect(ctx, notifications, {
        first,
        after,
        prefix: `${alarms.key(alarm)}/`,
        descending: true,
      }),
  },
  AlarmModel: {
    alarms: (model: AlarmModel, { first, after }: Paging, ctx: Context) =>
      connect(ctx, alarms, { first, after, prefix: prefixOf(model) }),
  },
}

interface Named {
  readonly alarmModelName: string
  readonly keyValue?: string | undefined
}

interface Request extends Named {
  readonly requestId: string
  readonly note?: string | undefined
  readonly snoozeDuration?: number | undefined
}

async function actOnEach(requests: readonly Request[], actionName: ActionName, ctx: Context) {
  const account = accountOf(ctx)
  checkUnique(requests, 'requestId')
  const errorEntries = await ctx.store.transaction((tx) =>
    eachOf(requests, 'requestId', (request: Request) => act(tx, account, request, actionName, ctx)),
  )
  return { errorEntries }
}

async function act(
  tx: Records,
  account: string,
  { note, snoozeDuration, ...named }: Request,
  actionName: ActionName,
  ctx: Context,
): Promise<void> {
  if (actionName === 'SNOOZE' && !isSnooze(snoozeDuration)) {
    throw InvalidRequest(`snoozeDuration must be 1 to ${SNOOZE_SECONDS_MAX} seconds.`)
  }
  const before = await needAlarm(tx, account, named)
  const alarmState = actOn(before.alarmState, actionName, { note, snoozeDuration })
  const snoozeUntilMs =
    snoozeDuration === undefined ? undefined : ctx.clock.now().getTime() + snoozeDuration * 1000
  const after = { ...before, alarmState, snoozeUntilMs }
  await keepAlarm(tx, before, after, ctx)
  await endSnoozeLater(tx, after, ctx)
}

async function endSnoozeLater(tx: Records, alarm: Alarm, ctx: Context): Promise<void> {
  const { snoozeUntilMs } = alarm
  if (snoozeUntilMs === undefined) return
  const delayMs = Math.max(snoozeUntilMs - ctx.clock.now().getTime(), 0)
  await ctx.work.later(tx, delayMs, END_SNOOZE_STEP, { key: alarms.key(alarm), snoozeUntilMs })
}

const isSnooze = (seconds: number | undefined): boolean =>
  seconds !== undefined && seconds >= 1 && seconds <= SNOOZE_SECONDS_MAX

/** An alarm that is snoozed no longer, or anew, is left alone. */
async function endSnooze(
  { key, snoozeUntilMs }: { key: string; snoozeUntilMs: number },
  ctx: Context,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const before = await tx.get(alarms, key)
    if (before?.snoozeUntilMs !== snoozeUntilMs) return
    const alarmState = endOfSnooze(before.alarmState)
    await keepAlarm(tx, before, { ...before, alarmState, snoozeUntilMs: undefined }, ctx)
  })
}

/** Saves an alarm as it is now, with what is announced. */
export async function keepAlarm(
  tx: Records,
  before: Alarm | undefined,
  after: Alarm,
  ctx: Context,
): Promise<void> {
  const alarm: Alarm = { ...after, lastUpdateTime: ctx.clock.now().toISOString() }
  await tx.save(alarms, alarm)
  if (!before) await announce(tx, alarm, 'created', ctx)
  else if (before.alarmState.stateName !== alarm.alarmState.stateName) {
    await announce(tx, alarm, 'changed', ctx)
  }
}

/** Saves an alarm as it was. A snooze that should have ended meanwhile ends now. */
export async function restoreAlarm(
  tx: Records,
  alarm: Alarm,
  watched: readonly string[],
  ctx: Context,
): Promise<void> {
  await tx.save(alarms, alarm)
  await watch(tx, alarm, watched)
  await endSnoozeLater(tx, alarm, ctx)
  await announce(tx, alarm, 'created', ctx)
}

/** Makes a new alarm known to the resources that it watches. */
export async function watch(tx: Records, alarm: Alarm, watched: readonly string[]): Promise<void> {
  const { account } = alarm
  const alarmKey = alarms.key(alarm)
  for (const resourceId of watched) {
    await tx.save(watches, { account, resourceId, alarmKey, scope: scopeOf(alarm) })
  }
}

const announce = (tx: Records, alarm: Alarm, happened: 'created' | 'changed', ctx: Context) =>
  ctx.events.announce(tx, {
    type: `event-detection.alarm.${happened}`,
    subject: alarmArn(alarm),
    body: {
      account: alarm.account,
      keyValue: alarm.keyValue,
      stateName: alarm.alarmState.stateName,
    },
  })

async function needAlarm(records: Records, account: string, named: Named): Promise<Alarm> {
  const { alarmModelName, keyValue } = named
  const model = await needAlarmModel(records, account, alarmModelName)
  const alarm = await records.get(alarms, instanceKey(placeOf(model), keyValue))
  if (alarm) return alarm
  throw ResourceNotFound(
    keyValue === undefined
      ? `The model ${alarmModelName} has no alarm without a key value.`
      : `The model ${alarmModelName} has no alarm with the key value ${keyValue}.`,
  )
}

const placeOf = ({ account, alarmModelName, revision }: AlarmModel) => ({
  account,
  modelName: alarmModelName,
  revision,
})

const prefixOf = (model: AlarmModel): string => `${scopeOf(placeOf(model))}/`

/** The ARN of the model, and the key value. */
export const alarmArn = ({ account, modelName, keyValue }: Alarm): string =>
  modelArn(account, `alarmModel/${modelName}/${keyValue}`)

const summaryShown = (alarm: Alarm) => ({
  alarmModelName: alarm.modelName,
  alarmModelVersion: alarm.version,
  keyValue: keyValueOf(alarm),
  stateName: alarm.alarmState.stateName,
  creationTime: epochSecondsOf(alarm.creationTime),
  lastUpdateTime: epochSecondsOf(alarm.lastUpdateTime),
})

function shown(alarm: Alarm) {
  const { stateName: _, ...summary } = summaryShown(alarm)
  return { ...summary, alarmState: alarm.alarmState, severity: alarm.severity }
}
