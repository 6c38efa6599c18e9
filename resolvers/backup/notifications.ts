// Notifications: what vaults publish to topics about their jobs, as far as the service keeps it.
import type { Context } from '../kernel/context.ts'
import { kind, type Records } from '../kernel/store.ts'
import { vaults, type Vault } from './kinds.ts'

export const VAULT_EVENTS = [
  'BACKUP_JOB_STARTED',
  'BACKUP_JOB_COMPLETED',
  'BACKUP_JOB_SUCCESSFUL',
  'BACKUP_JOB_FAILED',
  'BACKUP_JOB_EXPIRED',
  'COPY_JOB_STARTED',
  'COPY_JOB_SUCCESSFUL',
  'COPY_JOB_FAILED',
  'RESTORE_JOB_STARTED',
  'RESTORE_JOB_COMPLETED',
  'RESTORE_JOB_SUCCESSFUL',
  'RESTORE_JOB_FAILED',
  'RECOVERY_POINT_MODIFIED',
  'CONTINUOUS_BACKUP_INTERRUPTED',
] as const
export type VaultEvent = (typeof VAULT_EVENTS)[number]

const FORGET_STEP = 'forgetBackupNotifications'
const FORGET_BATCH = 500

export interface Notification {
  readonly Vault: string
  readonly NotificationId: string
  readonly SNSTopicArn: string
  readonly Event: VaultEvent
  /** The ARN or id of what it happened to. */
  readonly Subject: string
  readonly Time: string
}

export const notifications = kind<Notification>('backup_notification', {
  key: ({ Vault, NotificationId }) => `${Vault}/${NotificationId}`,
})
export const kinds = [notifications]
export const steps = { [FORGET_STEP]: forget }

/** Publishes what happened in a vault, if its topic is to hear of it. */
export async function notify(
  tx: Records,
  vault: Vault | undefined,
  { event, subject }: { event: VaultEvent; subject: string },
  ctx: Context,
): Promise<void> {
  if (!vault?.Notifications?.BackupVaultEvents.includes(event)) return
  const notification: Notification = {
    Vault: vaults.key(vault),
    NotificationId: ctx.newId(),
    SNSTopicArn: vault.Notifications.SNSTopicArn,
    Event: event,
    Subject: subject,
    Time: ctx.clock.now().toISOString(),
  }
  await tx.insert(notifications, notification)
  await ctx.events.announce(tx, {
    type: 'backup.notification.published',
    subject: vault.BackupVaultArn,
    body: { event, subject, topic: notification.SNSTopicArn },
  })
}

/** What a vault published is forgotten with it, a batch at a time. */
export const removeNotifications = (tx: Records, vault: Vault, ctx: Context): Promise<void> =>
  ctx.work.later(tx, 0, FORGET_STEP, { Vault: vaults.key(vault), CreationDate: vault.CreationDate })

async function forget(input: { Vault: string; CreationDate: string }, ctx: Context): Promise<void> {
  const prefix = `${input.Vault}/`
  await ctx.store.transaction(async (tx) => {
    // A vault of the same name may have been made meanwhile, and publishes on its own.
    if (await tx.get(vaults, input.Vault)) return
    const removed = await tx.removeMany(notifications, { prefix, limit: FORGET_BATCH })
    if (removed === FORGET_BATCH) await ctx.work.later(tx, 0, FORGET_STEP, input)
  })
}
