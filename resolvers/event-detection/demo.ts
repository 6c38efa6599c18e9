// Something to look at: pumps that cool machines, whose pressure is followed by detectors and watched by
// alarms.
import { listResources } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { whereReached } from '../kernel/graph.ts'
import { createAlarmModel } from './alarm-models.ts'
import { createDetectorModel } from './detector-models.ts'
import { createInput } from './inputs.ts'
import { putMessages } from './messages.ts'
import { detectorModelDefinition } from './shapes.ts'

const INPUT = 'pumpReading'
const KEY = 'pumpId'
const PUMP = 'pump-4'
const PRESSURE = `$input.${INPUT}.pressure`
const PRESSURES = [62, 71, 88]
const TAGS = { building: 'four', environment: 'demo' }
/** What stands on the machines that the pumps cool. */
const COOLED = ['SqlDatabase', 'SqlVirtualMachine']
const CALL = {
  destinationPhoneNumber: '+12065550142',
  originationPhoneNumber: '+12065550100',
  configurationSetName: 'alarm-calls',
  languageCode: 'en-US',
  voiceId: 'Joanna',
  text: 'The pressure of ${$alarm.keyValue} is ${$alarm.inputPropertyValue}, above ${$alarm.thresholdValue}.',
}

const count = {
  eventName: 'count',
  condition: 'triggerType("Message") && !isUndefined($variable.readings)',
  actions: [{ setVariable: { variableName: 'readings', value: '$variable.readings + 1' } }],
}

const STATES = [
  {
    stateName: 'steady',
    onEnter: {
      events: [
        {
          eventName: 'begin',
          condition: 'isUndefined($variable.readings)',
          actions: [{ setVariable: { variableName: 'readings', value: '0' } }],
        },
      ],
    },
    onInput: {
      events: [count],
      transitionEvents: [
        {
          eventName: 'rise',
          condition: `${PRESSURE} > 80`,
          actions: [{ setVariable: { variableName: 'peak', value: PRESSURE } }],
          nextState: 'high',
        },
      ],
    },
  },
  {
    stateName: 'high',
    onEnter: {
      events: [
        { eventName: 'wait', actions: [{ setTimer: { timerName: 'silence', seconds: 600 } }] },
      ],
    },
    onInput: {
      events: [count],
      transitionEvents: [
        { eventName: 'fall', condition: `${PRESSURE} <= 80`, nextState: 'steady' },
        { eventName: 'silence', condition: 'timeout("silence")', nextState: 'unknown' },
      ],
    },
  },
  {
    stateName: 'unknown',
    onInput: {
      transitionEvents: [
        { eventName: 'heard again', condition: `currentInput("${INPUT}")`, nextState: 'steady' },
      ],
    },
  },
]

export async function demo(ctx: Context): Promise<Record<string, string>> {
  const attributes = [{ jsonPath: KEY }, { jsonPath: 'pressure' }]
  await createInput({ inputName: INPUT, inputDefinition: { attributes } }, ctx)
  const { detectorModelName } = await createDetectorModel(
    {
      detectorModelName: 'pump-pressure',
      detectorModelDescription: 'Follows the pressure of each pump and counts its readings.',
      key: KEY,
      detectorModelDefinition: detectorModelDefinition.parse({
        initialStateName: 'steady',
        states: STATES,
      }),
      tags: TAGS,
    },
    ctx,
  )
  const cooled = await resourcesCooled(ctx)
  const { alarmModelName } = await createAlarmModel(
    {
      alarmModelName: 'pump-over-pressure',
      alarmModelDescription: 'Watches that no pump exceeds the pressure it is built for.',
      key: KEY,
      severity: 2,
      alarmRule: {
        simpleRule: { inputProperty: PRESSURE, comparisonOperator: 'GREATER', threshold: '85' },
      },
      alarmCapabilities: {
        initializationConfiguration: undefined,
        acknowledgeFlow: { enabled: true },
      },
      watchedResourceIds: cooled,
      // Who could be called is known where the resources of other services are.
      ...(cooled.length > 0 && { alarmNotification: { voiceNotifications: [CALL] } }),
      tags: TAGS,
    },
    ctx,
  )
  const messages = PRESSURES.map((pressure, i) => ({
    messageId: `reading-${i}`,
    inputName: INPUT,
    payload: JSON.stringify({ [KEY]: PUMP, pressure }),
  }))
  await putMessages(messages, ctx)
  return {
    inputName: INPUT,
    alarmModelName,
    alarmKey: PUMP,
    detectorModelName,
    detectorKey: PUMP,
  }
}

async function resourcesCooled(ctx: Context): Promise<string[]> {
  const ids: string[] = []
  await whereReached(async () => {
    for await (const page of listResources(ctx.graph, { types: COOLED })) {
      ids.push(...page.map(({ id }) => id))
    }
  })
  return ids
}
