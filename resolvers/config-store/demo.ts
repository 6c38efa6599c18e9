// One store to look at, with settings of a small shop. Specification 3, service C.
import { idAt } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { perform } from '../kernel/operation.ts'
import * as keyValues from './key-values.ts'
import { ONE } from './records.ts'
import * as stores from './stores.ts'

const NAME = 'demo-config'

const SETTINGS = [
  { key: 'shop/title', value: 'Polygraph Shop' },
  { key: 'shop/currency', value: 'EUR' },
  { key: 'shop/currency', label: 'uk', value: 'GBP' },
  {
    key: '.appconfig.featureflag/gift-wrapping',
    value: '{"id":"gift-wrapping","enabled":true,"conditions":{"client_filters":[]}}',
    contentType: 'application/vnd.vendor.appconfig.ff+json;charset=utf-8',
  },
]

/** Puts a store into the caller's subscription and returns its name. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  const account = ctx.caller.accounts.find(({ kind }) => kind === 'SUBSCRIPTION')
  if (!account) throw new Error('the demo caller owns no subscription')
  const all = [...stores.operations, ...keyValues.operations]
  const ask = (name: string, sent: object) =>
    perform(
      all.find((operation) => operation.name === name)!,
      sent,
      ctx,
    )
  const place = {
    subscriptionId: account.id,
    resourceGroupName: 'polygraph-demo',
    configStoreName: NAME,
  }
  const configStoreCreationParameters = {
    location: 'westus',
    sku: { name: 'Standard' },
    tags: { environment: 'demo' },
  }
  await ask('putConfigStore', { ...place, configStoreCreationParameters })
  const configStoreId = idAt(ONE, place)
  for (const setting of SETTINGS) await ask('setKeyValue', { configStoreId, ...setting })
  return { configStoreName: NAME }
}
