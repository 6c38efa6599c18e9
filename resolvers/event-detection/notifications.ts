// What alarms send when they become active: voice messages, through the graph, by work.
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { dataOf } from '../kernel/graph.ts'
import { versionOf, type Records } from '../kernel/store.ts'
import { saidOf } from './alarm-rules.ts'
import { alarmArn } from './alarms.ts'
import type { Scope } from './expressions.ts'
import { alarms, notifications, type Alarm, type Notification } from './instances.ts'
import type { ReadyAlarmModel } from './ready.ts'

const SEND_STEP = 'sendAlarmNotification'
/** Below what the runner of steps allows, so that a notification ends as FAILED and not as parked. */
const ATTEMPTS_MAX = 6
const REASON_LENGTH_MAX = 500

const SEND = `mutation ($alarm: ID!, $to: String!, $from: String, $set: String, $content: VoiceMessageContentInput) {
  sent: sendAlarmMessage(alarmId: $alarm, destinationPhoneNumber: $to, originationPhoneNumber: $from,
    configurationSetName: $set, content: $content) { messageId } }`

export const steps = { [SEND_STEP]: send }

/** Stores what is to be said because an alarm became active, with the words of this moment. */
export async function notify(
  tx: Records,
  alarm: Alarm,
  { model, rule }: ReadyAlarmModel,
  message: Scope,
  ctx: Context,
): Promise<void> {
  const { userId, permissions, alarmNotification } = model
  const scope = { ...message, alarm: saidOf(alarm) }
  for (const [i, to] of (alarmNotification?.voiceNotifications ?? []).entries()) {
    const notification: Notification = {
      ...to,
      alarmKey: alarms.key(alarm),
      alarmId: alarmArn(alarm),
      notificationId: ctx.newId(),
      text: rule.texts[i]!(scope),
      requestedTime: ctx.clock.now().toISOString(),
      status: 'PENDING',
      attempts: 0,
      userId,
      permissions,
    }
    await tx.save(notifications, notification)
    await ctx.work.later(tx, 0, SEND_STEP, { key: notifications.key(notification) })
  }
}

/**
 * Asks the voice service for one call. What it refuses is not asked again; where it cannot be reached,
 * the runner of steps asks later. A process that dies between the two writes calls twice.
 */
async function send({ key }: { key: string }, ctx: Context): Promise<void> {
  const notification = await ctx.store.get(notifications, key)
  if (notification?.status !== 'PENDING') return
  const outcome = await ask(notification, ctx)
  const attempts = notification.attempts + 1
  const hasEnded = outcome.status !== 'PENDING' || attempts >= ATTEMPTS_MAX
  const status = hasEnded && outcome.status === 'PENDING' ? 'FAILED' : outcome.status
  const version = versionOf(notification)
  await ctx.store.save(notifications, { ...notification, ...outcome, attempts, status }, version)
  if (!hasEnded) throw new Error(`no voice message for ${key}: ${outcome.reason}`)
}

async function ask(
  { userId, permissions, ...asked }: Notification,
  ctx: Context,
): Promise<Pick<Notification, 'status' | 'messageId' | 'reason'>> {
  const { languageCode, voiceId, text } = asked
  try {
    const answer = await ctx.graph.as(userId, permissions).ask(SEND, {
      alarm: asked.alarmId,
      to: asked.destinationPhoneNumber,
      from: asked.originationPhoneNumber,
      set: asked.configurationSetName,
      content: { plainTextMessage: { text, languageCode, voiceId } },
    })
    const { messageId } = dataOf(answer).sent
    return { status: 'SENT', messageId, reason: undefined }
  } catch (error) {
    // The refusal of another service is what the record is for.
    if (!(error instanceof Fault)) throw error
    const mayGoBetter = error.status >= 500 || error.status === 429
    const reason = error.message.slice(0, REASON_LENGTH_MAX)
    return { status: mayGoBetter ? 'PENDING' : 'FAILED', reason }
  }
}
