// Detectors: one for each key value of a model, made by its first message. Specification 3, service T.
import { z } from 'zod'
import { accountOf, epochSecondsOf, tokenPage } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { connect, type Paging } from '../kernel/paging.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { checkUnique, eachOf } from './batches.ts'
import { areTimerSeconds, TIMER_SECONDS_MAX, TIMERS_MAX, VARIABLES_MAX } from './definitions.ts'
import { detectorModels, needDetectorModel, type DetectorModel } from './detector-models.ts'
import { InvalidRequest, ResourceNotFound } from './errors.ts'
import { detectors, type Detector } from './instances.ts'
import { running, type DetectorState } from './machine.ts'
import { instanceKey, modelKey, scopeOf } from './models.ts'
import { errorAnswer, pageAnswer, pageInput } from './pages.ts'
import { batchOf, itemId, keyValue, modelName, timerName, variableName } from './shapes.ts'
import { announceDetector, detectorArn, keepDetector } from './timers.ts'
import { isScalar, type Scalar } from './values.ts'

const named = { detectorModelName: modelName, keyValue }

const newState = z.object({
  stateName: text,
  variables: z.array(z.object({ name: variableName, value: text })).max(VARIABLES_MAX),
  timers: z.array(z.object({ name: timerName, seconds: whole })).max(TIMERS_MAX),
})

const summaryAnswer = {
  detectorModelName: z.string(),
  keyValue: z.string().optional(),
  detectorModelVersion: z.string(),
  creationTime: z.number(),
  lastUpdateTime: z.number(),
}
const detectorAnswer = z.object({
  ...summaryAnswer,
  state: z.object({
    stateName: z.string(),
    variables: z.array(z.object({ name: z.string(), value: z.string() })),
    timers: z.array(z.object({ name: z.string(), timestamp: z.number() })),
  }),
})

export const operations = [
  operation({
    name: 'detector',
    rest: get('/detectors/{detectorModelName}/keyValues/', {
      show: (detector: Detector) => ({ detector: shown(detector) }),
      answer: z.object({ detector: detectorAnswer }),
    }),
    input: named,
    needs: 'iotevents:DescribeDetector',
    refuses: { 404: 'There is no such model, or no detector with this key value.' },
    run: describeDetector,
  }),
  operation({
    name: 'detectorPage',
    rest: get('/detectors/{detectorModelName}', {
      show: ({ detectorSummaries, ...next }) => ({
        detectorSummaries: detectorSummaries.map(summaryShown),
        ...next,
      }),
      answer: pageAnswer('detectorSummaries', {
        ...summaryAnswer,
        state: z.object({ stateName: z.string() }),
      }),
    }),
    input: { detectorModelName: modelName, stateName: optional(text), ...pageInput },
    needs: 'iotevents:ListDetectors',
    refuses: { 404: 'There is no such model.' },
    async run({ detectorModelName, stateName, maxResults, nextToken }, ctx) {
      const model = await needDetectorModel(ctx.store, accountOf(ctx), detectorModelName)
      const asked = { ...queryOf(model, stateName), PageSize: maxResults, NextToken: nextToken }
      const { items, NextToken } = await tokenPage(ctx, detectors, asked)
      return { detectorSummaries: items, ...(NextToken !== undefined && { nextToken: NextToken }) }
    },
  }),
  operation({
    name: 'batchUpdateDetector',
    rest: post('/detectors', {
      answer: errorAnswer('batchUpdateDetectorErrorEntries', 'messageId'),
    }),
    input: { detectors: batchOf(z.object({ messageId: itemId, ...named, state: newState })) },
    needs: 'iotevents:BatchUpdateDetector',
    run: batchUpdateDetector,
  }),
  operation({
    name: 'batchDeleteDetector',
    rest: post('/detectors/delete', {
      answer: errorAnswer('batchDeleteDetectorErrorEntries', 'messageId'),
    }),
    input: { detectors: batchOf(z.object({ messageId: itemId, ...named })) },
    needs: 'iotevents:BatchDeleteDetector',
    run: batchDeleteDetector,
  }),
]

const called = {
  detectorModelName: ({ modelName }: Detector) => modelName,
  detectorModelVersion: ({ version }: Detector) => version,
  keyValue: keyValueOf,
  state: stateOf,
}

export const fields = {
  DetectorSummary: called,
  Detector: {
    ...called,
    id: detectorArn,
    detectorModel: ({ account, modelName }: Detector, _: unknown, ctx: Context) =>
      load(ctx, detectorModels, modelKey(account, modelName)),
  },
  DetectorModel: {
    detectors: (
      model: DetectorModel,
      { stateName, first, after }: Paging & { stateName?: string },
      ctx: Context,
    ) => connect(ctx, detectors, { ...queryOf(model, stateName ?? undefined), first, after }),
  },
}

interface Named {
  readonly detectorModelName: string
  readonly keyValue?: string | undefined
}

async function describeDetector(named: Named, ctx: Context): Promise<Detector> {
  const model = await needDetectorModel(ctx.store, accountOf(ctx), named.detectorModelName)
  const detector = await ctx.store.get(detectors, keyOf(model, named))
  if (detector) return detector
  throw missing(named)
}

type SentState = z.output<typeof newState>

async function batchUpdateDetector(
  { detectors: sent }: { detectors: readonly (Named & { messageId: string; state: SentState })[] },
  ctx: Context,
) {
  const account = accountOf(ctx)
  checkUnique(sent, 'messageId')
  const nowMs = ctx.clock.now().getTime()
  const entries = await ctx.store.transaction((tx) =>
    eachOf(sent, 'messageId', async ({ state, ...named }: Named & { state: SentState }) => {
      const model = await needDetectorModel(tx, account, named.detectorModelName)
      const before = await tx.get(detectors, keyOf(model, named))
      if (!before) throw missing(named)
      const after = { ...before, ...readState(state, model, nowMs) }
      await keepDetector(tx, before, after, ctx)
    }),
  )
  return { batchUpdateDetectorErrorEntries: entries }
}

/** Variables and timers that are not named are gone afterwards. No event happens. */
function readState(sent: SentState, model: DetectorModel, nowMs: number): DetectorState {
  const { states } = model.detectorModelDefinition
  if (!states.some(({ stateName }) => stateName === sent.stateName)) {
    throw InvalidRequest(`The model has no state ${sent.stateName}.`)
  }
  const bad = sent.timers.find(({ seconds }) => !areTimerSeconds(seconds))
  if (bad) {
    throw InvalidRequest(`The timer ${bad.name} must have 1 to ${TIMER_SECONDS_MAX} seconds.`)
  }
  return {
    stateName: sent.stateName,
    variables: Object.fromEntries(sent.variables.map((one) => [one.name, readValue(one)])),
    timers: Object.fromEntries(
      sent.timers.map(({ name, seconds }) => [name, running(seconds, nowMs)]),
    ),
  }
}

function readValue({ name, value }: { name: string; value: string }): Scalar {
  try {
    const read: unknown = JSON.parse(value)
    if (isScalar(read)) return read
  } catch (error) {
    // What is no JSON is refused in the same words as what is no value.
    if (!(error instanceof SyntaxError)) throw error
  }
  throw InvalidRequest(
    `The variable ${name} must have a number, true, false or a text in quotes, written as JSON.`,
  )
}

async function batchDeleteDetector(
  { detectors: sent }: { detectors: readonly (Named & { messageId: string })[] },
  ctx: Context,
) {
  const account = accountOf(ctx)
  checkUnique(sent, 'messageId')
  const entries = await ctx.store.transaction((tx) =>
    eachOf(sent, 'messageId', async (named: Named) => {
      const model = await needDetectorModel(tx, account, named.detectorModelName)
      const key = keyOf(model, named)
      const detector = await tx.get(detectors, key)
      if (!detector) throw missing(named)
      await tx.remove(detectors, key)
      await announceDetector(tx, detector, 'deleted', ctx)
    }),
  )
  return { batchDeleteDetectorErrorEntries: entries }
}

const placeOf = ({ account, detectorModelName, revision }: DetectorModel) => ({
  account,
  modelName: detectorModelName,
  revision,
})

const keyOf = (model: DetectorModel, { keyValue }: Named): string =>
  instanceKey(placeOf(model), keyValue)

function queryOf(model: DetectorModel, stateName: string | undefined) {
  const scope = scopeOf(placeOf(model))
  return stateName === undefined ? { prefix: `${scope}/` } : { where: { scope, stateName } }
}

const missing = ({ detectorModelName, keyValue }: Named) =>
  ResourceNotFound(
    keyValue === undefined
      ? `The model ${detectorModelName} has no detector without a key value.`
      : `The model ${detectorModelName} has no detector with the key value ${keyValue}.`,
  )

export function keyValueOf({ keyValue }: { keyValue: string }): string | undefined {
  return keyValue === '' ? undefined : keyValue
}

const summaryShown = (detector: Detector) => ({
  detectorModelName: detector.modelName,
  keyValue: keyValueOf(detector),
  detectorModelVersion: detector.version,
  state: { stateName: detector.stateName },
  creationTime: epochSecondsOf(detector.creationTime),
  lastUpdateTime: epochSecondsOf(detector.lastUpdateTime),
})

function shown(detector: Detector) {
  const state = stateOf(detector)
  const timers = state.timers.map(({ name, timestamp }) => ({
    name,
    timestamp: epochSecondsOf(timestamp),
  }))
  return { ...summaryShown(detector), state: { ...state, timers } }
}

function stateOf({ stateName, variables, timers }: Detector) {
  return {
    stateName,
    variables: Object.entries(variables).map(([name, value]) => ({
      name,
      value: JSON.stringify(value),
    })),
    timers: Object.entries(timers).flatMap(([name, { dueMs }]) =>
      dueMs === undefined ? [] : [{ name, timestamp: new Date(dueMs).toISOString() }],
    ),
  }
}
