// What runs on after a 202, and what can be done here at all. Specification 3, service V.
import { armOperations, statusAnswer } from '../families/arm-operations.ts'
import { get, operation } from '../kernel/operation.ts'
import { operationListAnswer } from './group-shapes.ts'
import { AREA, VERSION } from './kinds.ts'

const OPERATIONS = `/providers/${AREA}/operations`

export const polling = armOperations({ area: AREA, version: VERSION })

const { statusPath: STATUS, resultPath: RESULT, input: polledKey } = polling
const verbs = { answer: operationListAnswer }
const polled = { answer: statusAnswer, isBeyond: true }
const ended = { status: [200, 202, 204], show: polling.showResult, isBeyond: true }

export const operations = [
  operation({ name: 'sqlVmOperations', rest: get(OPERATIONS, verbs), input: {}, run: listVerbs }),
  operation({
    name: 'sqlVmOperationStatus',
    rest: get(STATUS, polled),
    input: polledKey,
    run: polling.status,
  }),
  operation({
    name: 'sqlVmOperationResult',
    rest: get(RESULT, ended),
    input: polledKey,
    run: polling.result,
  }),
]

export const kinds = polling.kinds
export const steps = polling.steps

const GROUP = ['sqlVirtualMachineGroups', 'SQL virtual machine groups'] as const
const LISTENER = [`${GROUP[0]}/availabilityGroupListeners`, 'Availability group listeners'] as const
const MACHINE = ['sqlVirtualMachines', 'SQL virtual machines'] as const

const VERBS = [
  [GROUP, 'read', 'Read groups', 'Reads one group or lists several.'],
  [GROUP, 'write', 'Write a group', 'Creates a group or changes it.'],
  [GROUP, 'delete', 'Delete a group', 'Deletes a group that holds nothing.'],
  [LISTENER, 'read', 'Read listeners', 'Reads one listener or lists those of a group.'],
  [LISTENER, 'write', 'Write a listener', 'Creates a listener or changes it.'],
  [LISTENER, 'delete', 'Delete a listener', 'Deletes a listener.'],
  [MACHINE, 'read', 'Read machines', 'Reads one machine or lists several.'],
  [MACHINE, 'write', 'Write a machine', 'Creates a machine or changes it.'],
  [MACHINE, 'delete', 'Delete a machine', 'Deletes a machine.'],
] as const

async function listVerbs() {
  return {
    value: VERBS.map(([[collection, resource], verb, operation, description]) => ({
      name: `${AREA}/${collection}/${verb}`,
      origin: 'user',
      display: { provider: AREA, resource, operation, description },
    })),
  }
}
