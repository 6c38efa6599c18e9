// What a detector does with a message or with a timer that elapsed. Pure.
//
// 1. First the events of the state, in their order; then the first transition whose condition holds:
//    its actions, the events of leaving, the events of entering. One transition for each message.
// 2. BATCH decides all conditions of a state before the first action changes anything; SERIAL decides
//    each when its turn comes.
// 3. A new detector enters the initial state with the message that made it, which is then evaluated
//    there.
// 4. An action whose expression has no value, or a value that does not fit, does nothing.
import {
  areTimerSeconds,
  type Machine,
  type MachineAction,
  type MachineEvent,
} from './definitions.ts'
import type { Scope } from './expressions.ts'
import { isScalar, type Scalar } from './values.ts'

export interface DetectorState {
  stateName: string
  variables: Record<string, Scalar>
  timers: Record<string, Timer>
}

export interface Timer {
  /** What it was set to, for a reset. */
  seconds: number
  /** When it elapses, in milliseconds; absent once it has. */
  dueMs?: number
}

export type Trigger =
  { readonly inputName: string; readonly payload: unknown } | { readonly timerName: string }

export interface Reaction {
  readonly machine: Machine
  readonly trigger: Trigger
  readonly nowMs: number
}

/** The state of a detector after a trigger; `before` is left alone. */
export function react(before: DetectorState | undefined, reaction: Reaction): DetectorState {
  const { machine } = reaction
  const after: DetectorState = before
    ? { ...before, variables: { ...before.variables }, timers: { ...before.timers } }
    : { stateName: machine.initialStateName, variables: {}, timers: {} }
  if (!before) happen(machine.states.get(after.stateName)!.onEnter, after, reaction)
  const state = machine.states.get(after.stateName)!
  const { isSerial } = machine
  const decided = isSerial
    ? undefined
    : state.transitions.find((event) => holds(event, after, reaction))
  happen(state.onInput, after, reaction)
  const transition = isSerial
    ? state.transitions.find((event) => holds(event, after, reaction))
    : decided
  if (!transition) return after
  perform(transition.actions, after, reaction)
  happen(state.onExit, after, reaction)
  after.stateName = transition.nextState
  happen(machine.states.get(after.stateName)!.onEnter, after, reaction)
  return after
}

function happen(events: readonly MachineEvent[], state: DetectorState, reaction: Reaction): void {
  if (reaction.machine.isSerial) {
    for (const event of events) {
      if (holds(event, state, reaction)) perform(event.actions, state, reaction)
    }
    return
  }
  const happening = events.filter((event) => holds(event, state, reaction))
  for (const event of happening) perform(event.actions, state, reaction)
}

const holds = ({ condition }: MachineEvent, state: DetectorState, reaction: Reaction): boolean =>
  !condition || condition(scopeOf(state, reaction)) === true

const scopeOf = ({ variables }: DetectorState, { trigger }: Reaction): Scope => ({
  ...trigger,
  variables,
})

function perform(
  actions: readonly MachineAction[],
  state: DetectorState,
  reaction: Reaction,
): void {
  const { variables, timers } = state
  for (const action of actions) {
    switch (action.kind) {
      case 'setVariable': {
        const value = action.value(scopeOf(state, reaction))
        if (isScalar(value)) variables[action.name] = value
        break
      }
      case 'setTimer': {
        const asked = action.seconds(scopeOf(state, reaction))
        const seconds = typeof asked === 'number' ? Math.floor(asked) : undefined
        if (areTimerSeconds(seconds)) timers[action.name] = running(seconds, reaction.nowMs)
        break
      }
      case 'resetTimer': {
        const timer = Object.hasOwn(timers, action.name) ? timers[action.name] : undefined
        if (timer) timers[action.name] = running(timer.seconds, reaction.nowMs)
        break
      }
      case 'clearTimer':
        delete timers[action.name]
        break
    }
  }
}

export const running = (seconds: number, nowMs: number): Timer => ({
  seconds,
  dueMs: nowMs + seconds * 1000,
})
