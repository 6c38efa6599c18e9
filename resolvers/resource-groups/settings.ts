// Settings of an account: whether it keeps events about the life of its groups. Specification 3, service R.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import type { Event } from '../kernel/events.ts'
import { operation, post } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { oneOf, optional } from '../kernel/shape.ts'
import { kind, numberOf, textOf, type Records } from '../kernel/store.ts'

const SETTLE_MS = 2_000
const KEPT_MS = 30 * 24 * 60 * 60_000
const FORGOTTEN_AT_ONCE = 100
const STEP = 'settle account settings'

type Desired = 'ACTIVE' | 'INACTIVE'

interface AccountSettings {
  readonly Account: string
  readonly GroupLifecycleEventsDesiredStatus: Desired
  readonly GroupLifecycleEventsStatus: Desired | 'IN_PROGRESS'
  /** Since when events are kept, in milliseconds. */
  readonly ActiveSinceMs?: number
}

/** Something that happened to a group while its account kept events. */
interface LifecycleEvent {
  readonly Account: string
  readonly EventId: string
  readonly Time: string
  readonly GroupArn: string
  readonly StateChange: 'created' | 'changed' | 'deleted'
  readonly AddedResourceArns: readonly string[]
  readonly RemovedResourceArns: readonly string[]
}

const settings = kind<AccountSettings>('resource_group_settings', { key: ({ Account }) => Account })

const lifecycleEvents = kind<LifecycleEvent>('resource_group_event', {
  key: ({ Account, EventId }) => `${Account}/${EventId}`,
  columns: {
    account: textOf(({ Account }) => Account),
    timeMs: numberOf(({ Time }) => Date.parse(Time)),
  },
  indexes: [['account', 'timeMs']],
})
export const kinds = [settings, lifecycleEvents]

const shown = {
  show: ({ Account: _, ActiveSinceMs: __, ...AccountSettings }: AccountSettings) => ({
    AccountSettings,
  }),
  answer: z.object({
    AccountSettings: z.object({
      GroupLifecycleEventsDesiredStatus: z.string(),
      GroupLifecycleEventsStatus: z.string(),
    }),
  }),
}

// Chosen: the two permissions of this file are named like all others, since the documents name none.
export const operations = [
  operation({
    name: 'resourceGroupAccountSettings',
    rest: post('/get-account-settings', shown),
    input: {},
    needs: 'resource-groups:GetAccountSettings',
    run: (_, ctx) => settingsOf(ctx.store, accountOf(ctx)),
  }),
  operation({
    name: 'updateResourceGroupAccountSettings',
    rest: post('/update-account-settings', shown),
    input: { GroupLifecycleEventsDesiredStatus: optional(oneOf(['ACTIVE', 'INACTIVE'])) },
    needs: 'resource-groups:UpdateAccountSettings',
    run: updateSettings,
  }),
  operation({
    name: 'resourceGroupLifecycleEvents',
    input: paging,
    needs: 'resource-groups:GetAccountSettings',
    run: ({ first, after }, ctx) =>
      connect(ctx, lifecycleEvents, {
        first,
        after,
        where: { account: accountOf(ctx) },
        order: 'timeMs',
        descending: true,
      }),
  }),
]

export const steps = { [STEP]: settle }

export const listeners = {
  'resource-groups.group.created': keepEvent('created'),
  'resource-groups.group.changed': keepEvent('changed'),
  'resource-groups.group.deleted': keepEvent('deleted'),
}

const settingsOf = async (records: Records, Account: string): Promise<AccountSettings> =>
  (await records.get(settings, Account)) ?? {
    Account,
    GroupLifecycleEventsDesiredStatus: 'INACTIVE',
    GroupLifecycleEventsStatus: 'INACTIVE',
  }

async function updateSettings(
  {
    GroupLifecycleEventsDesiredStatus: desired,
  }: {
    GroupLifecycleEventsDesiredStatus?: Desired | undefined
  },
  ctx: Context,
): Promise<AccountSettings> {
  return ctx.store.transaction(async (tx) => {
    const before = await settingsOf(tx, accountOf(ctx))
    if (!desired || desired === before.GroupLifecycleEventsDesiredStatus) return before
    const { Account } = before
    const changed: AccountSettings = {
      Account,
      GroupLifecycleEventsDesiredStatus: desired,
      GroupLifecycleEventsStatus: 'IN_PROGRESS',
    }
    await tx.save(settings, changed)
    await ctx.work.later(tx, SETTLE_MS, STEP, { Account })
    await ctx.events.announce(tx, {
      type: 'resource-groups.account-settings.changed',
      subject: Account,
      body: { GroupLifecycleEventsDesiredStatus: desired },
    })
    return changed
  })
}

async function settle({ Account }: { Account: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const before = await tx.get(settings, Account)
    if (before?.GroupLifecycleEventsStatus !== 'IN_PROGRESS') return
    const GroupLifecycleEventsStatus = before.GroupLifecycleEventsDesiredStatus
    const ActiveSinceMs = ctx.clock.now().getTime()
    await tx.save(settings, {
      ...before,
      GroupLifecycleEventsStatus,
      ...(GroupLifecycleEventsStatus === 'ACTIVE' && { ActiveSinceMs }),
    })
  })
}

function keepEvent(StateChange: LifecycleEvent['StateChange']) {
  return async ({ id, time, subject, body }: Event, { store }: Context): Promise<void> => {
    const {
      Account,
      added = [],
      removed = [],
    } = body as {
      Account: string
      added?: string[]
      removed?: string[]
    }
    const timeMs = Date.parse(time)
    await store.transaction(async (tx) => {
      const { ActiveSinceMs = Infinity } = (await tx.get(settings, Account)) ?? {}
      if (timeMs < ActiveSinceMs) return
      await tx.insert(lifecycleEvents, {
        Account,
        EventId: id,
        Time: time,
        GroupArn: subject,
        StateChange,
        AddedResourceArns: added,
        RemovedResourceArns: removed,
      })
      await tx.removeMany(lifecycleEvents, {
        where: { account: Account },
        order: 'timeMs',
        below: timeMs - KEPT_MS,
        limit: FORGOTTEN_AT_ONCE,
      })
    })
  }
}
