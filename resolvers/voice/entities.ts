// Configuration sets as other services refer to them: by ARN.
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect } from '../kernel/paging.ts'
import { configurationSets, keyOfOwnSet } from './configuration-sets.ts'

export const entities = {
  VoiceConfigurationSet: resolveConfigurationSet,
  // Those of another kind have no configuration sets, but they are there.
  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
}

export const fields = {
  CloudAccount: {
    voiceConfigurationSets: (
      { id }: { id: string },
      { first, after }: { first?: number; after?: string },
      ctx: Context,
    ) => connect(ctx, configurationSets, { first, after, prefix: `${id}/` }),
  },
}

export async function resolveConfigurationSet({ id }: { id: string }, ctx: Context) {
  const key = keyOfOwnSet(id, ctx)
  return key === undefined ? null : ((await load(ctx, configurationSets, key)) ?? null)
}
