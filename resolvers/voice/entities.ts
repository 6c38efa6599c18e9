// Configuration sets as other services refer to them, by ARN, and what is said because of alarms.
import { mayUse, type Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect, type PagingArguments } from '../kernel/paging.ts'
import { messages } from './calls.ts'
import { configurationSets, keyOfOwnSet } from './configuration-sets.ts'
import { accountInId } from './messages.ts'

export const entities = {
  VoiceConfigurationSet: resolveConfigurationSet,
  // Those of another kind have no configuration sets, but they are there.
  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
  // Whether there is such an alarm its own service knows.
  Alarm: ({ id }: { id: string }, { caller }: Context) =>
    mayUse(caller, 'ACCOUNT', accountInId(id) ?? '') ? { id } : null,
}

export const fields = {
  CloudAccount: {
    voiceConfigurationSets: (
      { id }: { id: string },
      { first, after }: { first?: number; after?: string },
      ctx: Context,
    ) => connect(ctx, configurationSets, { first, after, prefix: `${id}/` }),
  },
  Alarm: {
    // Ids rise with time, so that the last is the newest.
    voiceMessages: ({ id }: { id: string }, { first, after }: PagingArguments, ctx: Context) =>
      connect(ctx, messages, { first, after, where: { alarm: id }, descending: true }),
  },
}

export async function resolveConfigurationSet({ id }: { id: string }, ctx: Context) {
  const key = keyOfOwnSet(id, ctx)
  return key === undefined ? null : ((await load(ctx, configurationSets, key)) ?? null)
}
