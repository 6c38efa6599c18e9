// Configuration sets as other services refer to them: by ARN.
import { isOwnArn, readArn } from '../families/aws.ts'
import { mayUse, type Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { connect } from '../kernel/paging.ts'
import { configurationSets, setKey } from './configuration-sets.ts'

const RESOURCE = 'configuration-set/'

export const entities = {
  VoiceConfigurationSet: resolveConfigurationSet,
  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    mayUse(caller, 'ACCOUNT', id) ? { id } : null,
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

async function resolveConfigurationSet({ id }: { id: string }, ctx: Context) {
  const arn = readArn(id)
  if (!arn || !isOwnArn(ctx, arn, 'sms-voice') || !arn.resource.startsWith(RESOURCE)) return null
  const set = await load(
    ctx,
    configurationSets,
    setKey(arn.account, arn.resource.slice(RESOURCE.length)),
  )
  return set ?? null
}
