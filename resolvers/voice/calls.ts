// Calls: the record of a voice message, and how it goes from state to state on the clock.
import type { Context } from '../kernel/context.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'
import { outcomeOf, type Outcome } from './call-rules.ts'
import { publish } from './events.ts'
import type { Content } from './content.ts'
import { canExist } from './numbers.ts'

/** ACCEPTED is ours; the others are the event types. */
export type CallState =
  | 'ACCEPTED'
  | 'INITIATED_CALL'
  | 'RINGING'
  | 'ANSWERED'
  | 'COMPLETED_CALL'
  | 'BUSY'
  | 'NO_ANSWER'
  | 'FAILED'

export interface VoiceMessage {
  readonly Account: string
  readonly MessageId: string
  readonly CallerId?: string
  readonly ConfigurationSetName?: string
  readonly DestinationPhoneNumber: string
  readonly OriginationPhoneNumber: string
  /** The alarm because of which it is said, if it is one. */
  readonly AlarmId?: string
  readonly Content: Content
  readonly SpokenText: string
  readonly SpeechMs: number
  readonly State: CallState
  readonly StateChanges: readonly { readonly State: CallState; readonly Timestamp: string }[]
  /** How the call will end, once it is dialled. */
  readonly Outcome: Outcome
  readonly AcceptedMs: number
}

export const messages = kind<VoiceMessage>('voice_message', {
  key: ({ Account, MessageId }) => `${Account}/${MessageId}`,
  columns: {
    account: textOf(({ Account }) => Account),
    acceptedMs: numberOf(({ AcceptedMs }) => AcceptedMs),
    alarm: textOf(({ AlarmId }) => AlarmId),
  },
  indexes: [['account', 'acceptedMs'], ['alarm']],
})
export const kinds = [messages]

/** How a call moves on, by the way in which it will end. */
const NEXT: Readonly<Record<Outcome, Partial<Record<CallState, CallState>>>> = {
  ANSWERED: {
    ACCEPTED: 'INITIATED_CALL',
    INITIATED_CALL: 'RINGING',
    RINGING: 'ANSWERED',
    ANSWERED: 'COMPLETED_CALL',
  },
  NO_ANSWER: { ACCEPTED: 'INITIATED_CALL', INITIATED_CALL: 'RINGING', RINGING: 'NO_ANSWER' },
  BUSY: { ACCEPTED: 'INITIATED_CALL', INITIATED_CALL: 'BUSY' },
  FAILED: { ACCEPTED: 'INITIATED_CALL', INITIATED_CALL: 'FAILED' },
}

/** How long a call waits before it enters a state. It is completed when all has been said. */
const BEFORE_MS: Readonly<Partial<Record<CallState, number>>> = {
  INITIATED_CALL: 1_000,
  RINGING: 2_000,
  ANSWERED: 6_000,
  NO_ANSWER: 30_000,
  BUSY: 3_000,
  FAILED: 2_000,
}

/** What is announced, by the state that a call enters. */
const ANNOUNCED: Readonly<Partial<Record<CallState, string>>> = {
  INITIATED_CALL: 'voice.call.initiated',
  RINGING: 'voice.call.ringing',
  ANSWERED: 'voice.call.answered',
  COMPLETED_CALL: 'voice.call.completed',
  BUSY: 'voice.call.busy',
  NO_ANSWER: 'voice.call.no-answer',
  FAILED: 'voice.call.failed',
}

const MOVE_STEP = 'moveVoiceCall'

export const steps = { [MOVE_STEP]: moveCall }

/** Stores the step that moves a call on, unless it has ended. */
export async function moveOn(tx: Records, message: VoiceMessage, ctx: Context): Promise<void> {
  const to = NEXT[message.Outcome][message.State]
  if (!to) return
  const delayMs = BEFORE_MS[to] ?? message.SpeechMs
  await ctx.work.later(tx, delayMs, MOVE_STEP, { Key: messages.key(message), From: message.State })
}

/** A call that already left the state, because the step runs twice, is left alone. */
async function moveCall(
  { Key, From }: { Key: string; From: CallState },
  ctx: Context,
): Promise<void> {
  const Timestamp = ctx.clock.now().toISOString()
  await ctx.store.transaction(async (tx) => {
    const before = await tx.get(messages, Key)
    if (before?.State !== From) return
    const Outcome = From === 'ACCEPTED' ? await decide(tx, before) : before.Outcome
    const State = NEXT[Outcome][From]!
    const message: VoiceMessage = {
      ...before,
      Outcome,
      State,
      StateChanges: [...before.StateChanges, { State, Timestamp }],
    }
    await tx.save(messages, message)
    const { Account, MessageId, ConfigurationSetName, DestinationPhoneNumber } = message
    await ctx.events.announce(tx, {
      type: ANNOUNCED[State]!,
      subject: MessageId,
      body: { Account, ConfigurationSetName, DestinationPhoneNumber },
    })
    await publish(tx, message, { EventType: State, Timestamp }, ctx)
    await moveOn(tx, message, ctx)
  })
}

/** How a call will end is decided when it is dialled: a number that is nobody's fails in any case. */
const decide = async (tx: Records, message: VoiceMessage): Promise<Outcome> =>
  (await canExist(message.DestinationPhoneNumber)) ? outcomeOf(tx, message) : 'FAILED'
