// One service with a diagnostic to look at. Specification 3, service D.
import type { Context } from '../kernel/context.ts'
import { perform } from '../kernel/operation.ts'
import { operations as onDiagnostics } from './diagnostics.ts'
import { operations as onServices } from './services.ts'

/** Puts a service and its diagnostic into the caller's subscription and returns the service's name. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = ctx.caller.accounts.find(({ kind }) => kind === 'SUBSCRIPTION')
  if (!account) throw new Error('the demo caller owns no subscription')
  const serviceName = 'polygraph-demo-api'
  const at = { subscriptionId: account.id, resourceGroupName: 'polygraph-demo', serviceName }
  const logged = { headers: ['Content-Type', 'User-Agent'], body: { bytes: 512 } }
  const parameters = {
    properties: {
      loggerId: '/loggers/monitor',
      alwaysLog: 'allErrors',
      sampling: { samplingType: 'fixed', percentage: 50 },
      frontend: { request: logged, response: logged },
      verbosity: 'information',
    },
  }
  await ask('putApiManagementService', { ...at, location: 'westus' }, ctx)
  await ask('putApiDiagnostic', { ...at, diagnosticId: 'monitor', parameters }, ctx)
  return { serviceName }
}

const ask = (name: string, sent: object, ctx: Context) =>
  perform(
    [...onServices, ...onDiagnostics].find((operation) => operation.name === name)!,
    sent,
    ctx,
  )
