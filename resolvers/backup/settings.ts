// Settings of an account: across accounts, and which types are backed up. Specification 3, service K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { get, operation, put, reply } from '../kernel/operation.ts'
import { flag, oneOf, optional, text } from '../kernel/shape.ts'
import { InvalidParameterValue, InvalidRequest, MissingParameterValue } from './errors.ts'
import { supportedTypes } from './resources.ts'
import { settings, settingsOf, type Settings } from './setting-records.ts'
import { nothing, only } from './shapes.ts'

const GLOBAL = [
  'isCrossAccountBackupEnabled',
  'isMpaEnabled',
  'isDelegatedAdministratorEnabled',
] as const
const TYPES_MAX = 100

const preferences = z
  .record(text.max(100), flag)
  .refine((map) => Object.keys(map).length <= TYPES_MAX, `must have at most ${TYPES_MAX} types`)

export const operations = [
  operation({
    name: 'backupGlobalSettings',
    rest: get('/global-settings', {
      show: only('GlobalSettings', 'LastUpdateTime'),
      answer: z.object({ GlobalSettings: z.record(z.string(), z.string()) }),
    }),
    input: {},
    needs: 'backup:DescribeGlobalSettings',
    refuses: { 400: 'The account belongs to no organization.' },
    async run(_, ctx) {
      const own = await settingsOf(ctx.store, accountOf(ctx))
      checkMember(own)
      return own
    },
  }),
  operation({
    name: 'updateBackupGlobalSettings',
    rest: put('/global-settings', { isBeyond: true, ...nothing }),
    input: { GlobalSettings: optional(z.partialRecord(oneOf(GLOBAL), oneOf(['true', 'false']))) },
    needs: 'backup:UpdateGlobalSettings',
    async run({ GlobalSettings }, ctx) {
      if (!GlobalSettings) throw MissingParameterValue('GlobalSettings is missing.')
      const LastUpdateTime = ctx.clock.now().toISOString()
      await change(ctx, (own) => {
        checkMember(own)
        const merged = { ...own.GlobalSettings, ...(GlobalSettings as Record<string, string>) }
        return { ...own, GlobalSettings: merged, LastUpdateTime }
      })
      return reply(200)
    },
  }),
  operation({
    name: 'setBackupOrganization',
    input: { IsMember: flag },
    needs: 'organizations:JoinOrganization',
    run: ({ IsMember }, ctx) => change(ctx, (own) => ({ ...own, IsMember })),
  }),
  operation({
    name: 'backupRegionSettings',
    rest: get('/account-settings', {
      isBeyond: true,
      show: only('ResourceTypeOptInPreference', 'ResourceTypeManagementPreference'),
    }),
    input: {},
    needs: 'backup:DescribeRegionSettings',
    async run(_, ctx) {
      const own = await settingsOf(ctx.store, accountOf(ctx))
      // Every type is backed up unless the account said otherwise.
      const all = Object.fromEntries(supportedTypes(ctx.graph).map((type) => [type, true]))
      return {
        ...own,
        ResourceTypeOptInPreference: { ...all, ...own.ResourceTypeOptInPreference },
        ResourceTypeManagementPreference: { ...all, ...own.ResourceTypeManagementPreference },
      }
    },
  }),
  operation({
    name: 'updateBackupRegionSettings',
    rest: put('/account-settings', { isBeyond: true, ...nothing }),
    input: {
      ResourceTypeOptInPreference: optional(preferences),
      ResourceTypeManagementPreference: optional(preferences),
    },
    needs: 'backup:UpdateRegionSettings',
    run: updateRegion,
  }),
  operation({
    name: 'backupSupportedResourceTypes',
    rest: get('/supported-resource-types', {
      isBeyond: true,
      show: (ResourceTypes: string[]) => ({ ResourceTypes }),
    }),
    input: {},
    needs: 'backup:GetSupportedResourceTypes',
    run: async (_, ctx) => supportedTypes(ctx.graph),
  }),
]

interface RegionChange {
  readonly ResourceTypeOptInPreference?: Record<string, boolean> | undefined
  readonly ResourceTypeManagementPreference?: Record<string, boolean> | undefined
}

async function updateRegion(sent: RegionChange, ctx: Context) {
  const { ResourceTypeOptInPreference = {}, ResourceTypeManagementPreference = {} } = sent
  const known = supportedTypes(ctx.graph)
  const named = { ...ResourceTypeOptInPreference, ...ResourceTypeManagementPreference }
  const unknown = Object.keys(named).find((type) => !known.includes(type))
  if (unknown !== undefined) {
    throw InvalidParameterValue(`${unknown} is not a type that can be backed up.`)
  }
  await change(ctx, (own) => ({
    ...own,
    ResourceTypeOptInPreference: {
      ...own.ResourceTypeOptInPreference,
      ...ResourceTypeOptInPreference,
    },
    ResourceTypeManagementPreference: {
      ...own.ResourceTypeManagementPreference,
      ...ResourceTypeManagementPreference,
    },
  }))
  return reply(200)
}

const change = (ctx: Context, to: (own: Settings) => Settings): Promise<Settings> =>
  ctx.store.transaction(async (tx) => {
    const changed = to(await settingsOf(tx, accountOf(ctx)))
    await tx.save(settings, changed)
    await ctx.events.announce(tx, {
      type: 'backup.settings.changed',
      subject: changed.Account,
      body: {},
    })
    return changed
  })

/**
 * Chosen: an account belongs to the organization of this installation until it is told to leave, so
 * that its settings can be read from the start.
 */
function checkMember({ IsMember }: Settings): void {
  if (!IsMember) throw InvalidRequest('The account belongs to no organization.')
}
