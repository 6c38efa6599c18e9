// Detector models made ready to run: checked once, their expressions read once. Pure.
import { InvalidRequest } from './errors.ts'
import {
  BadExpression,
  noReferences,
  readExpression,
  type Evaluate,
  type References,
} from './expressions.ts'
import type {
  ActionDefinition,
  DetectorModelDefinition,
  EventDefinition,
  StateDefinition,
  TransitionDefinition,
} from './shapes.ts'

export const TIMER_SECONDS_MAX = 31_622_400
export const VARIABLES_MAX = 50
export const TIMERS_MAX = 20
const DEFINITION_BYTES_MAX = 256 * 1024

export interface Machine {
  readonly isSerial: boolean
  readonly initialStateName: string
  readonly states: ReadonlyMap<string, MachineState>
}

export interface MachineState {
  readonly onEnter: readonly MachineEvent[]
  readonly onInput: readonly MachineEvent[]
  readonly onExit: readonly MachineEvent[]
  readonly transitions: readonly MachineTransition[]
}

export interface MachineEvent {
  /** Absent where the event always happens. */
  readonly condition?: Evaluate
  readonly actions: readonly MachineAction[]
}

export interface MachineTransition extends MachineEvent {
  readonly nextState: string
}

export type MachineAction =
  | { readonly kind: 'setVariable'; readonly name: string; readonly value: Evaluate }
  | { readonly kind: 'setTimer'; readonly name: string; readonly seconds: Evaluate }
  | { readonly kind: 'clearTimer' | 'resetTimer'; readonly name: string }

export interface ReadDefinition {
  readonly machine: Machine
  readonly refers: References
  /** What is allowed and hardly meant. */
  readonly warnings: readonly string[]
}

/** Reads a definition. Refuses one that could not run, and says where it is wrong. */
export function readDefinition(
  { states, initialStateName }: DetectorModelDefinition,
  method: 'BATCH' | 'SERIAL',
): ReadDefinition {
  if (JSON.stringify(states).length > DEFINITION_BYTES_MAX) {
    throw InvalidRequest(`A definition is at most ${DEFINITION_BYTES_MAX} bytes of JSON.`)
  }
  const names = new Set(states.map(({ stateName }) => stateName))
  if (names.size < states.length) throw InvalidRequest('Two states have the same name.')
  if (!names.has(initialStateName)) {
    throw InvalidRequest(`The initial state ${initialStateName} is not among the states.`)
  }
  const reading: Reading = {
    refers: noReferences(),
    names,
    variables: new Set(),
    timers: new Set(),
  }
  const machine: Machine = {
    isSerial: method === 'SERIAL',
    initialStateName,
    states: new Map(states.map((state) => [state.stateName, readState(state, reading)])),
  }
  limit('variables', reading.variables.size, VARIABLES_MAX)
  limit('timers', reading.timers.size, TIMERS_MAX)
  const warnings = [...unreachable(machine), ...unset(reading)]
  return { machine, refers: reading.refers, warnings }
}

/** What was met in a definition so far. */
interface Reading {
  readonly refers: References
  readonly names: ReadonlySet<string>
  /** Those that an action sets. */
  readonly variables: Set<string>
  readonly timers: Set<string>
}

function readState(state: StateDefinition, reading: Reading): MachineState {
  const where = `State ${state.stateName}`
  const read = (events: readonly EventDefinition[] = []) =>
    events.map((event) => readEvent(event, where, reading))
  return {
    onEnter: read(state.onEnter?.events),
    onInput: read(state.onInput?.events),
    onExit: read(state.onExit?.events),
    transitions: (state.onInput?.transitionEvents ?? []).map((event) =>
      readTransition(event, where, reading),
    ),
  }
}

function readTransition(
  event: TransitionDefinition,
  where: string,
  reading: Reading,
): MachineTransition {
  const { eventName, nextState } = event
  if (!reading.names.has(nextState)) {
    throw InvalidRequest(
      `${where}, event ${eventName}: the next state ${nextState} is not among the states.`,
    )
  }
  return { ...readEvent(event, where, reading), nextState }
}

function readEvent(
  { eventName, condition, actions = [] }: EventDefinition,
  state: string,
  reading: Reading,
): MachineEvent {
  const where = `${state}, event ${eventName}`
  return {
    ...(condition !== undefined && {
      condition: readPart(`${where}: the condition`, condition, reading.refers),
    }),
    actions: actions.map((action) => readAction(action, where, reading)),
  }
}

function readAction(action: ActionDefinition, where: string, reading: Reading): MachineAction {
  const { setVariable, setTimer, clearTimer, resetTimer } = action
  if ([setVariable, setTimer, clearTimer, resetTimer].filter(Boolean).length !== 1) {
    throw InvalidRequest(
      `${where}: an action is exactly one of setVariable, setTimer, clearTimer and resetTimer.`,
    )
  }
  if (setVariable) {
    const { variableName: name, value } = setVariable
    reading.variables.add(name)
    const at = `${where}: the value of ${name}`
    return { kind: 'setVariable', name, value: readPart(at, value, reading.refers) }
  }
  if (setTimer) {
    reading.timers.add(setTimer.timerName)
    return {
      kind: 'setTimer',
      name: setTimer.timerName,
      seconds: readSeconds(setTimer, where, reading),
    }
  }
  if (clearTimer) return { kind: 'clearTimer', name: clearTimer.timerName }
  return { kind: 'resetTimer', name: resetTimer!.timerName }
}

function readSeconds(
  { timerName, seconds, durationExpression }: NonNullable<ActionDefinition['setTimer']>,
  where: string,
  { refers }: Reading,
): Evaluate {
  if ((seconds === undefined) === (durationExpression === undefined)) {
    throw InvalidRequest(
      `${where}: the timer ${timerName} needs either seconds or durationExpression.`,
    )
  }
  if (durationExpression !== undefined) {
    return readPart(`${where}: the duration of ${timerName}`, durationExpression, refers)
  }
  if (!areTimerSeconds(seconds)) {
    throw InvalidRequest(`${where}: seconds must be 1 to ${TIMER_SECONDS_MAX}.`)
  }
  return () => seconds
}

export const areTimerSeconds = (seconds: unknown): seconds is number =>
  Number.isInteger(seconds) && (seconds as number) >= 1 && (seconds as number) <= TIMER_SECONDS_MAX

/** Reads an expression, and refuses a bad one with the place where it stands. */
export function readPart(where: string, text: string, refers: References): Evaluate {
  try {
    return readExpression(text, refers)
  } catch (error) {
    if (error instanceof BadExpression) throw InvalidRequest(`${where} ${error.message}: ${text}`)
    throw error
  }
}

function limit(what: string, count: number, max: number): void {
  if (count > max)
    throw InvalidRequest(`A model has at most ${max} ${what}, and this has ${count}.`)
}

function unreachable({ initialStateName, states }: Machine): string[] {
  const reached = new Set([initialStateName])
  for (const name of reached) {
    for (const { nextState } of states.get(name)!.transitions) reached.add(nextState)
  }
  return [...states.keys()]
    .filter((name) => !reached.has(name))
    .map((name) => `State ${name} cannot be reached from the initial state.`)
}

function unset({ refers, variables, timers }: Reading): string[] {
  return [
    ...[...refers.variables]
      .filter((name) => !variables.has(name))
      .map((name) => `The variable ${name} is read, and no event sets it.`),
    ...[...refers.timers]
      .filter((name) => !timers.has(name))
      .map((name) => `The timer ${name} is waited for, and no event sets it.`),
  ]
}
