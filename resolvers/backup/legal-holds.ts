// Legal holds, which keep recovery points from being deleted until they are cancelled. Specification 3, K.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import {
  InvalidParameterValue,
  InvalidResourceState,
  LimitExceeded,
  ResourceNotFound,
} from './errors.ts'
import { covers, HOLDS_MAX } from './hold-rules.ts'
import { recoveryPoints, vaultKey, type RecoveryPoint } from './kinds.ts'
import {
  holdArnOf,
  holdKey,
  legalHolds,
  type HoldSelection,
  type LegalHold,
} from './legal-hold-records.ts'
import { filteredPage, page, pageShown } from './lists.ts'
import { waitForPoint } from './point-lives.ts'
import { once } from './request-tokens.ts'
import {
  arn,
  DAY_MS,
  DAYS_MAX,
  moment,
  note,
  nothing,
  only,
  paged,
  requestId,
  tagMap,
  vaultName,
} from './shapes.ts'
import { setTags } from './tags.ts'

const NAMES_MAX = 50
const RELEASE_STEP = 'releaseBackupLegalHold'
const FORGET_STEP = 'forgetBackupLegalHold'
const RELEASE_BATCH = 200

const selection = z.object({
  VaultNames: optional(z.array(vaultName).max(NAMES_MAX)),
  ResourceIdentifiers: optional(z.array(arn).max(NAMES_MAX)),
  DateRange: optional(z.object({ FromDate: moment, ToDate: moment })),
})

const MANY = '/legal-holds/'
const ONE = '/legal-holds/{LegalHoldId}'
const one = { LegalHoldId: text }
const made = only(
  'Title',
  'Status',
  'Description',
  'LegalHoldId',
  'LegalHoldArn',
  'CreationDate',
  'RecoveryPointSelection',
)

export const operations = [
  operation({
    name: 'createBackupLegalHold',
    rest: post(MANY, {
      show: made,
      answer: z.object({ LegalHoldId: z.string(), CreationDate: z.number() }),
    }),
    input: {
      Title: text.min(1).max(256),
      Description: note.min(1),
      IdempotencyToken: optional(requestId),
      RecoveryPointSelection: optional(selection),
      Tags: optional(tagMap),
    },
    needs: 'backup:CreateLegalHold',
    refuses: { 400: 'Something sent is invalid.' },
    run: createHold,
  }),
  operation({
    name: 'cancelBackupLegalHold',
    rest: del(ONE, nothing),
    input: {
      ...one,
      cancelDescription: note.min(1),
      retainRecordInDays: optional(
        whole.refine((days) => days >= 0 && days <= DAYS_MAX, `must be 0 to ${DAYS_MAX}`),
      ),
    },
    needs: 'backup:CancelLegalHold',
    refuses: { 400: 'There is no such legal hold, or it is cancelled already.' },
    run: cancelHold,
  }),
  operation({
    name: 'backupLegalHold',
    rest: get(ONE, {
      isBeyond: true,
      show: (hold: LegalHold) => ({
        ...made(hold),
        ...only('CancelDescription', 'CancellationDate', 'RetainRecordUntil')(hold),
      }),
    }),
    input: one,
    needs: 'backup:GetLegalHold',
    run: ({ LegalHoldId }, ctx) => needHold(ctx.store, ctx, LegalHoldId),
  }),
  operation({
    name: 'backupLegalHolds',
    rest: get(MANY, {
      isBeyond: true,
      show: pageShown('LegalHolds', (hold: LegalHold) => ({
        ...only('Title', 'Status', 'Description', 'LegalHoldId', 'LegalHoldArn')(hold),
        ...only('CreationDate', 'CancellationDate')(hold),
      })),
    }),
    input: paged,
    needs: 'backup:ListLegalHolds',
    run: (asked, ctx) => page(ctx, legalHolds, asked, { prefix: holdKey(accountOf(ctx), '') }),
  }),
  operation({
    name: 'backupRecoveryPointsByLegalHold',
    rest: get(`${ONE}/recovery-points`, {
      isBeyond: true,
      show: pageShown(
        'RecoveryPoints',
        only('RecoveryPointArn', 'ResourceArn', 'ResourceType', 'BackupVaultName'),
      ),
    }),
    input: { ...one, ...paged },
    needs: 'backup:ListRecoveryPointsByLegalHold',
    async run({ LegalHoldId, ...asked }, ctx) {
      const hold = await needHold(ctx.store, ctx, LegalHoldId)
      const isInForce = hold.Status === 'ACTIVE'
      return filteredPage(ctx, recoveryPoints, asked, queryOf(hold), {
        filters: { LegalHoldId },
        isHit: (point) => isInForce && covers(hold.RecoveryPointSelection, point),
      })
    },
  }),
]

export const steps = { [RELEASE_STEP]: release, [FORGET_STEP]: forget }

interface Creation {
  readonly Title: string
  readonly Description: string
  readonly IdempotencyToken?: string | undefined
  readonly RecoveryPointSelection?: z.output<typeof selection> | undefined
  readonly Tags?: Record<string, string> | undefined
}

export async function createHold(input: Creation, ctx: Context): Promise<LegalHold> {
  const Account = accountOf(ctx)
  const RecoveryPointSelection = readSelection(input.RecoveryPointSelection)
  return once(ctx, {
    operation: 'createLegalHold',
    token: input.IdempotencyToken,
    input,
    refuse: InvalidParameterValue,
    make: async (tx) => {
      if ((await tx.count(legalHolds, { where: { active: Account } })) >= HOLDS_MAX) {
        throw LimitExceeded(`An account has at most ${HOLDS_MAX} legal holds in force.`)
      }
      const LegalHoldId = ctx.newId()
      const hold: LegalHold = {
        Account,
        LegalHoldId,
        LegalHoldArn: holdArnOf(Account, LegalHoldId),
        Title: input.Title,
        Description: input.Description,
        Status: 'ACTIVE',
        CreationDate: ctx.clock.now().toISOString(),
        ...(RecoveryPointSelection && { RecoveryPointSelection }),
      }
      await tx.insert(legalHolds, hold)
      await setTags(tx, hold.LegalHoldArn, input.Tags)
      await announce(tx, 'created', hold, ctx)
      return hold
    },
  })
}

function readSelection(sent: Creation['RecoveryPointSelection']): HoldSelection | undefined {
  if (!sent) return undefined
  const { VaultNames, ResourceIdentifiers, DateRange } = sent
  if (DateRange && DateRange.FromDate > DateRange.ToDate) {
    throw InvalidParameterValue('DateRange.FromDate must not be after DateRange.ToDate.')
  }
  return {
    ...(VaultNames && { VaultNames }),
    ...(ResourceIdentifiers && { ResourceIdentifiers }),
    ...(DateRange && { DateRange }),
  }
}

interface Cancellation {
  readonly LegalHoldId: string
  readonly cancelDescription: string
  readonly retainRecordInDays?: number | undefined
}

/** Chosen: the block is lifted at once. CANCELING lasts until what was due meanwhile is looked at. */
async function cancelHold(input: Cancellation, ctx: Context) {
  const { LegalHoldId, cancelDescription, retainRecordInDays: days } = input
  const nowMs = ctx.clock.now().getTime()
  await ctx.store.transaction(async (tx) => {
    const hold = await needHold(tx, ctx, LegalHoldId)
    if (hold.Status !== 'ACTIVE') {
      throw InvalidResourceState(`The legal hold ${LegalHoldId} is cancelled already.`)
    }
    const cancelled: LegalHold = {
      ...hold,
      Status: 'CANCELING',
      CancelDescription: cancelDescription,
      CancellationDate: new Date(nowMs).toISOString(),
      ...(days !== undefined && {
        RetainRecordUntil: new Date(nowMs + days * DAY_MS).toISOString(),
      }),
    }
    await tx.save(legalHolds, cancelled)
    const Key = legalHolds.key(hold)
    await ctx.work.later(tx, 0, RELEASE_STEP, { Key })
    if (days !== undefined) await ctx.work.later(tx, days * DAY_MS, FORGET_STEP, { Key })
    await announce(tx, 'cancelled', cancelled, ctx)
  })
  return reply(200)
}

/** Lets the points that the hold kept beyond their end be looked at again, a batch at a time. */
async function release(
  { Key, After }: { Key: string; After?: string },
  ctx: Context,
): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const hold = await tx.get(legalHolds, Key)
    if (hold?.Status !== 'CANCELING') return
    const query = { ...queryOf(hold), limit: RELEASE_BATCH, after: After }
    const { items, next } = await tx.list(recoveryPoints, query)
    const nowMs = ctx.clock.now().getTime()
    const isOverdue = ({ CalculatedLifecycle }: RecoveryPoint) =>
      Date.parse(CalculatedLifecycle?.DeleteAt ?? '') <= nowMs
    for (const point of items) {
      if (isOverdue(point) && covers(hold.RecoveryPointSelection, point)) {
        await waitForPoint(tx, point, ctx)
      }
    }
    if (next !== undefined) await ctx.work.later(tx, 0, RELEASE_STEP, { Key, After: next })
    else await tx.save(legalHolds, { ...hold, Status: 'CANCELED' })
  })
}

async function forget({ Key }: { Key: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const hold = await tx.get(legalHolds, Key)
    if (!hold) return
    await tx.remove(legalHolds, Key)
    await setTags(tx, hold.LegalHoldArn)
  })
}

/** The points among which those of a hold are: by what it names when that is one thing. */
function queryOf({ Account, RecoveryPointSelection: chosen = {} }: LegalHold) {
  const { VaultNames = [], ResourceIdentifiers = [] } = chosen
  const where =
    ResourceIdentifiers.length === 1
      ? { resource: `${Account}/${ResourceIdentifiers[0]}` }
      : VaultNames.length === 1
        ? { vault: vaultKey(Account, VaultNames[0]!) }
        : { account: Account }
  return { where, order: 'createdMs' }
}

async function needHold(from: Records, ctx: Context, id: string): Promise<LegalHold> {
  const hold = await from.get(legalHolds, holdKey(accountOf(ctx), id))
  if (hold) return hold
  throw ResourceNotFound(`There is no legal hold ${id}.`)
}

const announce = (tx: Records, happened: string, hold: LegalHold, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.legal-hold.${happened}`,
    subject: hold.LegalHoldArn,
    body: { Title: hold.Title },
  })
