// Forgets what has expired in the world's time.
import type { Context } from '../kernel/context.ts'
import { sweepConsents } from './consents.ts'
import { sweepRecords } from './provider-records.ts'
import { sweepSignIns } from './sign-ins.ts'
import { sweepFailures } from './throttle.ts'

export async function sweep(ctx: Context): Promise<void> {
  await sweepRecords(ctx)
  await sweepFailures(ctx)
  await sweepSignIns(ctx)
  await sweepConsents(ctx)
}
