// What is set on a vault: its lock, its access policy and its notifications. Specification 3, service K.
import { z } from 'zod'
import { readArn } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { del, get, operation, put, reply } from '../kernel/operation.ts'
import { oneOf, optional, text, whole } from '../kernel/shape.ts'
import {
  InvalidParameterValue,
  InvalidRequest,
  MissingParameterValue,
  ResourceNotFound,
} from './errors.ts'
import type { Lock, Vault } from './kinds.ts'
import { VAULT_EVENTS } from './notifications.ts'
import { DAY_MS, DAYS_MAX, days, nothing, only } from './shapes.ts'
import { checkPolicy } from './vault-policies.ts'
import { changeVault, needVault } from './vaults.ts'

const POLICY_MAX = 20_000
/** The cooling-off period of a lock that will become immutable. */
const CHANGEABLE_DAYS_MIN = 3

const ONE = '/backup-vaults/{BackupVaultName}'
const one = { BackupVaultName: text }
const beyond = { isBeyond: true, ...nothing }
const missing = { 400: 'There is no such vault.' }

export const operations = [
  operation({
    name: 'putBackupVaultLock',
    rest: put(`${ONE}/vault-lock`, beyond),
    input: {
      ...one,
      MinRetentionDays: optional(days),
      MaxRetentionDays: optional(days),
      ChangeableForDays: optional(
        whole.refine(
          (count) => count >= CHANGEABLE_DAYS_MIN && count <= DAYS_MAX,
          `must be ${CHANGEABLE_DAYS_MIN} to ${DAYS_MAX}`,
        ),
      ),
    },
    needs: 'backup:PutBackupVaultLockConfiguration',
    run: putLock,
  }),
  operation({
    name: 'deleteBackupVaultLock',
    rest: del(`${ONE}/vault-lock`, nothing),
    input: one,
    needs: 'backup:DeleteBackupVaultLockConfiguration',
    refuses: { 400: 'There is no such vault, or its lock is immutable.' },
    async run({ BackupVaultName }, ctx) {
      await changeVault(ctx, BackupVaultName, (vault) => {
        checkMutable(vault, ctx)
        const { Lock: _, ...rest } = vault
        return rest
      })
      return reply(200)
    },
  }),
  operation({
    name: 'putBackupVaultAccessPolicy',
    rest: put(`${ONE}/access-policy`, beyond),
    input: { ...one, Policy: optional(text.max(POLICY_MAX)) },
    needs: 'backup:PutBackupVaultAccessPolicy',
    async run({ BackupVaultName, Policy }, ctx) {
      if (Policy === undefined) throw MissingParameterValue('Policy is missing.')
      checkPolicy(Policy)
      await changeVault(ctx, BackupVaultName, (vault) => ({ ...vault, Policy }))
      return reply(200)
    },
  }),
  operation({
    name: 'backupVaultAccessPolicy',
    rest: get(`${ONE}/access-policy`, {
      isBeyond: true,
      show: only('BackupVaultName', 'BackupVaultArn', 'Policy'),
    }),
    input: one,
    needs: 'backup:GetBackupVaultAccessPolicy',
    async run(named, ctx) {
      const vault = await needVault(ctx.store, ctx, named)
      if (vault.Policy !== undefined) return vault
      throw ResourceNotFound(`The vault ${vault.BackupVaultName} has no access policy.`)
    },
  }),
  operation({
    name: 'deleteBackupVaultAccessPolicy',
    rest: del(`${ONE}/access-policy`, nothing),
    input: one,
    needs: 'backup:DeleteBackupVaultAccessPolicy',
    refuses: missing,
    // Chosen: deleting what is not set is no error, since clients repeat requests.
    async run({ BackupVaultName }, ctx) {
      await changeVault(ctx, BackupVaultName, ({ Policy: _, ...vault }) => vault)
      return reply(200)
    },
  }),
  operation({
    name: 'putBackupVaultNotifications',
    rest: put(`${ONE}/notification-configuration`, beyond),
    input: {
      ...one,
      SNSTopicArn: text.refine(
        (arn) => readArn(arn)?.service === 'sns',
        'must be the ARN of a topic, such as arn:aws:sns:us-east-1:123456789012:name',
      ),
      BackupVaultEvents: z.array(oneOf(VAULT_EVENTS)).min(1).max(VAULT_EVENTS.length),
    },
    needs: 'backup:PutBackupVaultNotifications',
    async run({ BackupVaultName, SNSTopicArn, BackupVaultEvents }, ctx) {
      const Notifications = { SNSTopicArn, BackupVaultEvents: [...new Set(BackupVaultEvents)] }
      await changeVault(ctx, BackupVaultName, (vault) => ({ ...vault, Notifications }))
      return reply(200)
    },
  }),
  operation({
    name: 'backupVaultNotifications',
    rest: get(`${ONE}/notification-configuration`, {
      isBeyond: true,
      show: only('BackupVaultName', 'BackupVaultArn', 'SNSTopicArn', 'BackupVaultEvents'),
    }),
    input: one,
    needs: 'backup:GetBackupVaultNotifications',
    async run(named, ctx) {
      const vault = await needVault(ctx.store, ctx, named)
      if (vault.Notifications) return { ...vault, ...vault.Notifications }
      throw ResourceNotFound(`The vault ${vault.BackupVaultName} has no notifications.`)
    },
  }),
  operation({
    name: 'deleteBackupVaultNotifications',
    rest: del(`${ONE}/notification-configuration`, nothing),
    input: one,
    needs: 'backup:DeleteBackupVaultNotifications',
    refuses: missing,
    async run({ BackupVaultName }, ctx) {
      await changeVault(ctx, BackupVaultName, ({ Notifications: _, ...vault }) => vault)
      return reply(200)
    },
  }),
]

interface SentLock {
  readonly BackupVaultName: string
  readonly MinRetentionDays?: number | undefined
  readonly MaxRetentionDays?: number | undefined
  readonly ChangeableForDays?: number | undefined
}

async function putLock(sent: SentLock, ctx: Context) {
  const { MinRetentionDays: min, MaxRetentionDays: max, ChangeableForDays: changeable } = sent
  if (min !== undefined && max !== undefined && max < min) {
    throw InvalidParameterValue('MaxRetentionDays must not be below MinRetentionDays.')
  }
  const nowMs = ctx.clock.now().getTime()
  await changeVault(ctx, sent.BackupVaultName, (vault) => {
    checkMutable(vault, ctx)
    const Lock: Lock = {
      ...(min !== undefined && { MinRetentionDays: min }),
      ...(max !== undefined && { MaxRetentionDays: max }),
      ...(changeable !== undefined && {
        LockDate: new Date(nowMs + changeable * DAY_MS).toISOString(),
      }),
    }
    return { ...vault, Lock }
  })
  return reply(200)
}

/** Refuses to change a lock from its date on. */
function checkMutable({ BackupVaultName, Lock }: Vault, ctx: Context): void {
  if (Lock?.LockDate !== undefined && Date.parse(Lock.LockDate) <= ctx.clock.now().getTime()) {
    throw InvalidRequest(
      `The lock of the vault ${BackupVaultName} is immutable since ${Lock.LockDate}.`,
    )
  }
}
