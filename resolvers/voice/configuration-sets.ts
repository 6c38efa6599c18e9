// Configuration sets, which say where the events of calls are published. Specification 3, service M.
import { z } from 'zod'
import {
  accountOf,
  arnOf,
  isOwnArn,
  pageInput,
  readArn,
  REGION,
  tokenPage,
} from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { AlreadyExists, BadRequest, LimitExceeded, NotFound } from './errors.ts'

const CONFIGURATION_SETS_MAX = 10_000
const RESOURCE = 'configuration-set/'
const RESOURCE_TYPE = 'AWS::SMSVOICE::ConfigurationSet'
const NAME = /^[A-Za-z0-9_-]{1,64}$/

export interface ConfigurationSet {
  readonly Account: string
  readonly ConfigurationSetName: string
  readonly CreatedTime: string
  readonly Tags?: Readonly<Record<string, string>>
  /** Few by rule, and read with their set. */
  readonly EventDestinations: readonly EventDestination[]
}

export interface EventDestination extends EventDestinationDefinition {
  readonly Name: string
  readonly Subscriptions: readonly Subscription[]
}

export interface EventDestinationDefinition {
  readonly Enabled: boolean
  readonly MatchingEventTypes: readonly string[]
  readonly CloudWatchLogsDestination?: { readonly IamRoleArn: string; readonly LogGroupArn: string }
  readonly KinesisFirehoseDestination?: {
    readonly DeliveryStreamArn: string
    readonly IamRoleArn: string
  }
  readonly SnsDestination?: { readonly TopicArn: string }
}

/** An address that is called with every event of a destination. */
export interface Subscription {
  readonly SubscriptionId: string
  readonly Url: string
  readonly CreatedTime: string
}

export const configurationSets = kind<ConfigurationSet>('voice_configuration_set', {
  key: ({ Account, ConfigurationSetName }) => setKey(Account, ConfigurationSetName),
})
export const kinds = [configurationSets]

const MANY = '/configuration-sets'
const ONE = `${MANY}/{ConfigurationSetName}`
const nothing = { show: () => ({}) }

export const operations = [
  operation({
    name: 'createVoiceConfigurationSet',
    rest: post(MANY, nothing),
    input: { ConfigurationSetName: optional(text) },
    needs: 'sms-voice:CreateConfigurationSet',
    refuses: {
      409: 'The account has a configuration set of this name.',
      412: 'The account has as many configuration sets as it may.',
    },
    run: createConfigurationSet,
  }),
  operation({
    name: 'deleteVoiceConfigurationSet',
    rest: del(ONE),
    input: { ConfigurationSetName: text },
    needs: 'sms-voice:DeleteConfigurationSet',
    refuses: { 404: 'There is no such configuration set.' },
    run: deleteConfigurationSet,
  }),
  operation({
    name: 'voiceConfigurationSetPage',
    rest: get(MANY, {
      answer: z.object({
        ConfigurationSets: z.array(z.string()),
        NextToken: z.string().optional(),
      }),
    }),
    input: pageInput,
    needs: 'sms-voice:ListConfigurationSets',
    async run({ PageSize, NextToken }, ctx) {
      const prefix = `${accountOf(ctx)}/`
      const { items, ...next } = await tokenPage(ctx, configurationSets, {
        PageSize,
        NextToken,
        prefix,
      })
      return { ConfigurationSets: items.map((set) => set.ConfigurationSetName), ...next }
    },
  }),
  operation({
    name: 'voiceConfigurationSets',
    input: paging,
    needs: 'sms-voice:ListConfigurationSets',
    run: ({ first, after }, ctx) =>
      connect(ctx, configurationSets, { first, after, prefix: `${accountOf(ctx)}/` }),
  }),
  operation({
    name: 'voiceConfigurationSet',
    input: { ConfigurationSetName: text },
    needs: 'sms-voice:GetConfigurationSetEventDestinations',
    run: ({ ConfigurationSetName }, ctx) =>
      needSet(ctx.store, setKey(accountOf(ctx), ConfigurationSetName)),
  }),
]

export const fields = {
  VoiceConfigurationSet: {
    id: (set: ConfigurationSet) => setArn(set),
    name: ({ ConfigurationSetName }: ConfigurationSet) => ConfigurationSetName,
    type: () => RESOURCE_TYPE,
    location: () => REGION,
  },
}

export async function createConfigurationSet(
  { ConfigurationSetName }: { ConfigurationSetName?: string | undefined },
  ctx: Context,
): Promise<ConfigurationSet> {
  const set: ConfigurationSet = {
    Account: accountOf(ctx),
    ConfigurationSetName: readName('ConfigurationSetName', ConfigurationSetName),
    CreatedTime: ctx.clock.now().toISOString(),
    EventDestinations: [],
  }
  await ctx.store.transaction((tx) => insertSet(set, tx, ctx))
  return set
}

/** Adds a set to those of its account. */
export async function insertSet(set: ConfigurationSet, tx: Records, ctx: Context): Promise<void> {
  if (!(await tx.insert(configurationSets, set))) {
    throw AlreadyExists(`There is a configuration set named ${set.ConfigurationSetName} already.`)
  }
  const count = await tx.count(configurationSets, { prefix: `${set.Account}/` })
  if (count > CONFIGURATION_SETS_MAX) {
    throw LimitExceeded(`An account has at most ${CONFIGURATION_SETS_MAX} configuration sets.`)
  }
  await announce('created', set, tx, ctx)
}

/** Keeps a set that was changed. */
export async function saveSet(set: ConfigurationSet, tx: Records, ctx: Context): Promise<void> {
  await tx.save(configurationSets, set)
  await announce('changed', set, tx, ctx)
}

const announce = (
  happened: 'created' | 'changed' | 'deleted',
  set: ConfigurationSet,
  tx: Records,
  ctx: Context,
): Promise<void> =>
  ctx.events.announce(tx, {
    type: `voice.configurationSet.${happened}`,
    subject: setArn(set),
    body: { id: setArn(set), name: set.ConfigurationSetName, type: RESOURCE_TYPE },
  })

// Events that were published stay. Calls under way go on, and publish nothing more.
async function deleteConfigurationSet(
  { ConfigurationSetName }: { ConfigurationSetName: string },
  ctx: Context,
) {
  const key = setKey(accountOf(ctx), ConfigurationSetName)
  await ctx.store.transaction(async (tx) => {
    const set = await needSet(tx, key)
    await tx.remove(configurationSets, key)
    await announce('deleted', set, tx, ctx)
  })
  return reply(200)
}

export const setKey = (account: string, name: string): string => `${account}/${name}`

export const setArn = ({ Account, ConfigurationSetName }: ConfigurationSet): string =>
  arnOf({
    service: 'sms-voice',
    account: Account,
    resource: `${RESOURCE}${ConfigurationSetName}`,
  })

/** The name of a set in its ARN; undefined when that is of something else. */
export const setNameIn = (id: string): string | undefined => {
  const resource = readArn(id)?.resource
  return resource?.startsWith(RESOURCE) ? resource.slice(RESOURCE.length) : undefined
}

/** The key of a set by its ARN; undefined when that is of something else, or not the caller's. */
export function keyOfOwnSet(id: string, ctx: Context): string | undefined {
  const arn = readArn(id)
  const name = setNameIn(id)
  const isOwn = arn && name !== undefined && isOwnArn(ctx, arn, 'sms-voice')
  return isOwn ? setKey(arn.account, name) : undefined
}

export async function needSet(records: Records, key: string): Promise<ConfigurationSet> {
  const set = await records.get(configurationSets, key)
  if (set) return set
  throw NotFound(`There is no configuration set named ${key.slice(key.indexOf('/') + 1)}.`)
}

/** Chosen: a name has to be given, though the documents call it optional; nothing could name it later. */
export function readName(field: string, name: string | undefined): string {
  if (name !== undefined && NAME.test(name)) return name
  throw BadRequest(
    `${field} must be 1 to 64 letters, digits, hyphens or underscores` +
      (name === undefined ? ', and is missing.' : '.'),
  )
}
