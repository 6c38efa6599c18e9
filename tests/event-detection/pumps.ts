// Pumps that send readings: an input, models over it, and messages, for the tests of event detection.
import { subgraph } from '../../subgraphs/event-detection.ts'
import { openForTest, type OpenOptions, type TestService } from '../open.ts'

export const ARN = 'arn:aws:iotevents:us-east-1:111111111111'
export const PRESSURE = '$input.reading.pressure'

/** A model that counts its messages, and moves to `high` and back. */
export const COUNTING = {
  initialStateName: 'steady',
  states: [
    {
      stateName: 'steady',
      onInput: {
        events: [
          {
            eventName: 'first',
            condition: 'isUndefined($variable.count)',
            actions: [set('count', '1')],
          },
          {
            eventName: 'next',
            condition: '!isUndefined($variable.count)',
            actions: [set('count', '$variable.count + 1')],
          },
        ],
        transitionEvents: [{ eventName: 'rise', condition: `${PRESSURE} > 80`, nextState: 'high' }],
      },
    },
    {
      stateName: 'high',
      onInput: {
        transitionEvents: [
          { eventName: 'fall', condition: `${PRESSURE} <= 80`, nextState: 'steady' },
        ],
      },
    },
  ],
}

export function set(variableName: string, value: string) {
  return { setVariable: { variableName, value } }
}

export const RULE = {
  simpleRule: { inputProperty: PRESSURE, comparisonOperator: 'GREATER', threshold: '80' },
}

export interface Person {
  readonly credential?: 'alice' | 'bob'
}

export type Pumps = Awaited<ReturnType<typeof openPumps>>

/** The service with an input `reading` of pump, pressure and a list. */
export async function openPumps(options: OpenOptions = {}) {
  return pumpsOn(await openForTest(subgraph, options))
}

export async function pumpsOn(service: TestService) {
  let sent = 0

  /** Runs a mutation and returns what it answers, or throws the refusal. */
  async function mutate(field: string, args: Record<string, unknown>, types: string, shown = '') {
    const names = Object.keys(args)
    const declared = types.split(' ').map((type, i) => `$${names[i]}: ${type}`)
    const passed = names.map((name) => `${name}: $${name}`)
    return service.graphql(
      `mutation (${declared.join(', ')}) { it: ${field}(${passed.join(', ')}) ${shown} }`,
      args,
    )
  }

  const createInput = (inputName = 'reading', paths = ['pump', 'pressure', 'list', 'at']) =>
    mutate(
      'createDetectorInput',
      { inputName, inputDefinition: { attributes: paths.map((jsonPath) => ({ jsonPath })) } },
      'String! DetectorInputDefinitionInput!',
      '{ inputName inputArn }',
    )

  const createModel = (
    detectorModelDefinition: object = COUNTING,
    {
      name = 'pumps',
      key = 'pump' as string | null,
      method = 'BATCH',
      tags = null as object | null,
    } = {},
  ) =>
    mutate(
      'createDetectorModel',
      { detectorModelName: name, detectorModelDefinition, key, evaluationMethod: method, tags },
      'String! DetectorModelDefinitionInput! String DetectorEvaluationMethod JSONObject',
      '{ id name type location tags detectorModelVersion inputNames warnings key }',
    )

  const createAlarm = (more: Record<string, unknown> = {}) => {
    const args = { alarmModelName: 'over', alarmRule: RULE, key: 'pump', severity: 3, ...more }
    const types: Record<string, string> = {
      alarmModelName: 'String!',
      alarmRule: 'AlarmRuleInput!',
      key: 'String',
      severity: 'Int',
      alarmCapabilities: 'AlarmCapabilitiesInput',
      alarmNotification: 'AlarmNotificationSettingsInput',
      watchedResourceIds: '[ID!]',
      tags: 'JSONObject',
    }
    const named = Object.keys(args).map((name) => types[name])
    return mutate(
      'createAlarmModel',
      args,
      named.join(' '),
      '{ id name alarmModelVersion inputName }',
    )
  }

  /** Sends payloads in one call, and returns the entries of those that were refused. */
  async function send(...payloads: (object | string)[]) {
    const messages = payloads.map((payload) => ({
      messageId: `m${(sent += 1)}`,
      inputName: 'reading',
      payload: Buffer.from(
        typeof payload === 'string' ? payload : JSON.stringify(payload),
      ).toString('base64'),
    }))
    const answer = await service.rest('POST /inputs/messages', { messages })
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
    return answer.body.BatchPutMessageErrorEntries as { errorCode: string; errorMessage: string }[]
  }

  /** State, variables and running timers of a detector. */
  async function detector(keyValue?: string, name = 'pumps') {
    const query = keyValue === undefined ? '' : `?keyValue=${keyValue}`
    const { body } = await service.rest(`GET /detectors/${name}/keyValues${query}`)
    if (!body.detector) return body
    const { stateName, variables, timers } = body.detector.state
    return {
      stateName,
      variables: Object.fromEntries(
        variables.map(({ name, value }: any) => [name, JSON.parse(value)]),
      ),
      timers: Object.fromEntries(timers.map(({ name, timestamp }: any) => [name, timestamp])),
    }
  }

  async function alarm(keyValue?: string, name = 'over') {
    const query = keyValue === undefined ? '' : `?keyValue=${keyValue}`
    const { body } = await service.rest(`GET /alarms/${name}/keyValues/${query}`)
    return body.alarm ?? body
  }

  const act = (
    action: 'acknowledge' | 'disable' | 'enable' | 'reset' | 'snooze',
    ...requests: Record<string, unknown>[]
  ) =>
    service.rest(`POST /alarms/${action}`, {
      [`${action}ActionRequests`]: requests.map((request, i) => ({
        requestId: `r${i}`,
        alarmModelName: 'over',
        ...request,
      })),
    })

  return { service, mutate, createInput, createModel, createAlarm, send, detector, alarm, act }
}

/** What a mutation was refused with. */
export const refusalOf = ({ errors }: { errors?: any[] }) =>
  errors?.map(({ message, extensions }) => ({ code: extensions.code, message }))[0]
