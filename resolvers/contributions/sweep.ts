// Forgets what nobody reads any more.
import type { Context } from '../kernel/context.ts'
import { sweepChanges } from './change-log.ts'
import { sweepNotifications } from './notifications.ts'

export async function sweep(ctx: Context): Promise<void> {
  await sweepChanges(ctx)
  await sweepNotifications(ctx)
}
