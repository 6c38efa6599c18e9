// Voice messages, which are said to who answers the call. Specification 3, service M.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation, post } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { messages, moveOn, type VoiceMessage } from './calls.ts'
import { needSet, setKey } from './configuration-sets.ts'
import { contentShape, readContent, type Content } from './content.ts'
import { BadRequest, NotFound, TooManyRequests } from './errors.ts'
import { readNumber } from './numbers.ts'

const MESSAGES_PER_SECOND_MAX = 100
const ALARM_ID_MAX = 2_048
/** Chosen: a message that names no number to come from comes from the service's own. */
const SERVICE_NUMBER = '+12065550100'

const sent = {
  CallerId: optional(text),
  ConfigurationSetName: optional(text),
  Content: optional(contentShape),
  DestinationPhoneNumber: optional(text),
  OriginationPhoneNumber: optional(text),
}

export const operations = [
  operation({
    name: 'sendVoiceMessage',
    rest: post('/voice/message', {
      show: ({ MessageId }: VoiceMessage) => ({ MessageId }),
      answer: z.object({ MessageId: z.string() }),
    }),
    input: sent,
    needs: 'sms-voice:SendVoiceMessage',
    refuses: {
      404: 'There is no such configuration set.',
      429: 'The account sends more messages in a second than it may.',
    },
    run: sendVoiceMessage,
  }),
  operation({
    name: 'sendAlarmMessage',
    input: { AlarmId: text.max(ALARM_ID_MAX), ...sent },
    needs: 'sms-voice:SendVoiceMessage',
    async run({ AlarmId, ...sent }, ctx) {
      if (accountInId(AlarmId) !== accountOf(ctx)) {
        throw BadRequest('AlarmId must be the id of an alarm in this account.')
      }
      return sendVoiceMessage({ ...sent, AlarmId }, ctx)
    },
  }),
  operation({
    name: 'voiceMessage',
    input: { MessageId: text },
    needs: 'sms-voice:SendVoiceMessage',
    async run({ MessageId }, ctx) {
      const message = await ctx.store.get(messages, `${accountOf(ctx)}/${MessageId}`)
      if (!message) throw NotFound(`There is no message ${MessageId}.`)
      return message
    },
  }),
  operation({
    name: 'voiceMessages',
    input: paging,
    needs: 'sms-voice:SendVoiceMessage',
    // Ids rise with time, so that the last is the newest.
    run: ({ first, after }, ctx) =>
      connect(ctx, messages, { first, after, prefix: `${accountOf(ctx)}/`, descending: true }),
  }),
]

/** The account that the id of an alarm names: an ARN, and behind it any words of its owner. */
export const accountInId = (id: string): string | undefined =>
  /^arn:[^:]*:[^:]*:[^:]*:(\d{12}):/.exec(id)?.[1]

interface Sent {
  readonly AlarmId?: string | undefined
  readonly CallerId?: string | undefined
  readonly ConfigurationSetName?: string | undefined
  readonly Content?: Content | undefined
  readonly DestinationPhoneNumber?: string | undefined
  readonly OriginationPhoneNumber?: string | undefined
}

/** Chosen: what to say and to whom must be given, though the documents call every field optional. */
export async function sendVoiceMessage(sent: Sent, ctx: Context): Promise<VoiceMessage> {
  const { CallerId, ConfigurationSetName, OriginationPhoneNumber = SERVICE_NUMBER } = sent
  const AcceptedMs = ctx.clock.now().getTime()
  const message: VoiceMessage = {
    Account: accountOf(ctx),
    MessageId: ctx.newId(),
    DestinationPhoneNumber: await readNumber('DestinationPhoneNumber', sent.DestinationPhoneNumber),
    OriginationPhoneNumber: await readNumber('OriginationPhoneNumber', OriginationPhoneNumber),
    ...(sent.AlarmId !== undefined && { AlarmId: sent.AlarmId }),
    ...(CallerId !== undefined && { CallerId: await readNumber('CallerId', CallerId) }),
    ...(ConfigurationSetName !== undefined && { ConfigurationSetName }),
    ...readContent(sent.Content),
    Content: sent.Content!,
    State: 'ACCEPTED',
    StateChanges: [{ State: 'ACCEPTED', Timestamp: ctx.clock.now().toISOString() }],
    Outcome: 'ANSWERED',
    AcceptedMs,
  }
  await ctx.store.transaction(async (tx) => {
    if (ConfigurationSetName !== undefined) {
      await needSet(tx, setKey(message.Account, ConfigurationSetName))
    }
    const where = { account: message.Account }
    const from = AcceptedMs - 999
    const recent = await tx.count(messages, { where, order: 'acceptedMs', from })
    if (recent >= MESSAGES_PER_SECOND_MAX) {
      throw TooManyRequests(
        `An account sends at most ${MESSAGES_PER_SECOND_MAX} messages a second.`,
        { headers: { 'retry-after': '1' } },
      )
    }
    await tx.insert(messages, message)
    await moveOn(tx, message, ctx)
  })
  return message
}
