// Vaults, which hold recovery points. Specification 3, service K.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { accountOf, REGION } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { loadBy } from '../kernel/load.ts'
import { del, get, operation, put, reply } from '../kernel/operation.ts'
import { flag, oneOf, optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import {
  AlreadyExists,
  InvalidParameterValue,
  InvalidRequest,
  LimitExceeded,
  ResourceNotFound,
} from './errors.ts'
import { recoveryPoints, vaultArnOf, vaultKey, vaults, type Vault } from './kinds.ts'
import { filteredPage, pageShown } from './lists.ts'
import { removeNotifications } from './notifications.ts'
import { once } from './request-tokens.ts'
import { days, keyArn, nothing, only, paged, requestId, tagMap, vaultName } from './shapes.ts'
import { setTags } from './tags.ts'
import { checkAccess } from './vault-policies.ts'

const VAULTS_MAX = 10_000
const AIR_GAPPED_DAYS_MIN = 7
/** How long an air-gapped vault takes to be there. */
const SETTLE_MS = 5_000
const SETTLE_STEP = 'settleBackupVault'
const VAULT_TYPES = [
  'BACKUP_VAULT',
  'LOGICALLY_AIR_GAPPED_BACKUP_VAULT',
  'RESTORE_ACCESS_BACKUP_VAULT',
] as const

const ONE = '/backup-vaults/{BackupVaultName}'
const making = {
  BackupVaultName: vaultName,
  BackupVaultTags: optional(tagMap),
  EncryptionKeyArn: optional(keyArn),
  CreatorRequestId: optional(requestId),
}
const made = only('BackupVaultName', 'BackupVaultArn', 'CreationDate')
const madeGapped = only('BackupVaultName', 'BackupVaultArn', 'CreationDate', 'VaultState')
const listed = only(
  'BackupVaultName',
  'BackupVaultArn',
  'VaultType',
  'VaultState',
  'CreationDate',
  'EncryptionKeyArn',
  'EncryptionKeyType',
  'CreatorRequestId',
  'NumberOfRecoveryPoints',
  'Locked',
  'MinRetentionDays',
  'MaxRetentionDays',
  'LockDate',
)
const missing = { 400: 'There is no such vault.' }

export const operations = [
  operation({
    name: 'createBackupVault',
    rest: put(ONE, {
      show: made,
      answer: z.object({
        BackupVaultName: z.string(),
        BackupVaultArn: z.string(),
        CreationDate: z.number(),
      }),
    }),
    input: making,
    needs: 'backup:CreateBackupVault',
    refuses: { 400: 'There is a vault of this name, or something sent is invalid.' },
    run: createVault,
  }),
  operation({
    name: 'createLogicallyAirGappedBackupVault',
    rest: put('/logically-air-gapped-backup-vaults/{BackupVaultName}', {
      show: madeGapped,
      answer: z.object({ BackupVaultName: z.string(), VaultState: z.string() }),
    }),
    input: { ...making, MinRetentionDays: days, MaxRetentionDays: days },
    needs: 'backup:CreateLogicallyAirGappedBackupVault',
    refuses: { 400: 'There is a vault of this name, or something sent is invalid.' },
    run: createVault,
  }),
  operation({
    name: 'backupVault',
    rest: get(ONE, {
      show: (vault: Vault) => listed(withLock(vault)),
      answer: z.object({
        BackupVaultName: z.string(),
        CreationDate: z.number(),
        NumberOfRecoveryPoints: z.int(),
        Locked: z.boolean(),
      }),
    }),
    input: { BackupVaultName: text, backupVaultAccountId: optional(text) },
    needs: 'backup:DescribeBackupVault',
    refuses: missing,
    async run({ BackupVaultName, backupVaultAccountId }, ctx) {
      return counted(
        ctx,
        await needVault(ctx.store, ctx, { BackupVaultName, backupVaultAccountId }),
      )
    },
  }),
  operation({
    name: 'backupVaults',
    rest: get('/backup-vaults', {
      isBeyond: true,
      show: pageShown('BackupVaultList', (vault) => listed(withLock(vault))),
    }),
    input: { vaultType: optional(oneOf(VAULT_TYPES)), shared: optional(flag), ...paged },
    needs: 'backup:ListBackupVaults',
    async run({ vaultType, shared, ...asked }, ctx) {
      const found = await filteredPage(
        ctx,
        vaults,
        asked,
        { prefix: `${accountOf(ctx)}/` },
        {
          filters: { vaultType, shared: shared || undefined },
          // No vault is shared with other accounts here.
          isHit: (vault) => !shared && (vaultType === undefined || vault.VaultType === vaultType),
        },
      )
      return { ...found, nodes: await Promise.all(found.nodes.map((one) => counted(ctx, one))) }
    },
  }),
  operation({
    name: 'deleteBackupVault',
    rest: del(ONE, nothing),
    input: { BackupVaultName: text },
    needs: 'backup:DeleteBackupVault',
    refuses: { 400: 'There is no such vault, or it holds recovery points.' },
    run: deleteVault,
  }),
]

export const steps = { [SETTLE_STEP]: settle }

export const fields = {
  BackupVault: {
    id: ({ BackupVaultArn }: Vault) => BackupVaultArn,
    name: ({ BackupVaultName }: Vault) => BackupVaultName,
    type: () => 'AWS::Backup::BackupVault',
    location: () => REGION,
    locked: ({ Lock }: Vault) => Lock !== undefined,
    minRetentionDays: ({ Lock }: Vault) => Lock?.MinRetentionDays,
    maxRetentionDays: ({ Lock }: Vault) => Lock?.MaxRetentionDays,
    lockDate: ({ Lock }: Vault) => Lock?.LockDate,
    numberOfRecoveryPoints: (vault: Vault, _: unknown, ctx: Context) => countPoints(ctx, vault),
  },
}

interface Making {
  readonly BackupVaultName: string
  readonly BackupVaultTags?: Record<string, string> | undefined
  readonly EncryptionKeyArn?: string | undefined
  readonly CreatorRequestId?: string | undefined
  /** Of air-gapped vaults, which are locked from the first moment. */
  readonly MinRetentionDays?: number | undefined
  readonly MaxRetentionDays?: number | undefined
}

export function createVault(input: Making, ctx: Context): Promise<Vault> {
  checkRetention(input)
  return once(ctx, {
    operation: 'createBackupVault',
    token: input.CreatorRequestId,
    input,
    refuse: AlreadyExists,
    make: async (tx) => {
      const vault = newVault(input, ctx)
      if (!(await tx.insert(vaults, vault))) {
        throw AlreadyExists(`There is a vault named ${vault.BackupVaultName} already.`, {
          details: { Arn: vault.BackupVaultArn, CreatorRequestId: input.CreatorRequestId },
        })
      }
      if ((await tx.count(vaults, { prefix: `${vault.Account}/` })) > VAULTS_MAX) {
        throw LimitExceeded(`An account has at most ${VAULTS_MAX} vaults.`)
      }
      await setTags(tx, vault.BackupVaultArn, input.BackupVaultTags)
      if (vault.VaultState === 'CREATING') {
        await ctx.work.later(tx, SETTLE_MS, SETTLE_STEP, { Key: vaults.key(vault) })
      }
      await announce(tx, 'created', vault, ctx)
      return vault
    },
  })
}

function newVault(input: Making, ctx: Context): Vault {
  const Account = accountOf(ctx)
  const { BackupVaultName, EncryptionKeyArn, CreatorRequestId } = input
  const { MinRetentionDays, MaxRetentionDays } = input
  const isGapped = MinRetentionDays !== undefined && MaxRetentionDays !== undefined
  const CreationDate = ctx.clock.now().toISOString()
  return {
    Account,
    BackupVaultName,
    BackupVaultArn: vaultArnOf(Account, BackupVaultName),
    VaultType: isGapped ? 'LOGICALLY_AIR_GAPPED_BACKUP_VAULT' : 'BACKUP_VAULT',
    VaultState: isGapped ? 'CREATING' : 'AVAILABLE',
    // Chosen: the key itself is made and kept here, whatever ARN it goes by.
    EncryptionKeyArn: EncryptionKeyArn ?? `arn:aws:kms:${REGION}:${Account}:key/${ctx.newId()}`,
    EncryptionKeyType: EncryptionKeyArn ? 'CUSTOMER_MANAGED_KMS_KEY' : 'AWS_OWNED_KMS_KEY',
    CreationDate,
    ...(CreatorRequestId !== undefined && { CreatorRequestId }),
    SealedKey: ctx.secrets.seal(
      randomBytes(32).toString('base64'),
      vaultKey(Account, BackupVaultName),
    ),
    ...(isGapped && { Lock: { MinRetentionDays, MaxRetentionDays, LockDate: CreationDate } }),
  }
}

function checkRetention({ MinRetentionDays: min, MaxRetentionDays: max }: Making): void {
  if (min === undefined || max === undefined) return
  if (min < AIR_GAPPED_DAYS_MIN) {
    throw InvalidParameterValue(`MinRetentionDays must be at least ${AIR_GAPPED_DAYS_MIN}.`)
  }
  if (max < min) throw InvalidParameterValue('MaxRetentionDays must not be below MinRetentionDays.')
}

async function settle({ Key }: { Key: string }, ctx: Context): Promise<void> {
  await ctx.store.transaction(async (tx) => {
    const vault = await tx.get(vaults, Key)
    if (vault?.VaultState === 'CREATING') {
      await tx.save(vaults, { ...vault, VaultState: 'AVAILABLE' })
      await announce(tx, 'changed', vault, ctx)
    }
  })
}

async function deleteVault({ BackupVaultName }: { BackupVaultName: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const vault = await needVault(tx, ctx, { BackupVaultName })
    const { BackupVaultArn: resource } = vault
    checkAccess({ vault, action: 'backup:DeleteBackupVault', resource }, ctx)
    if ((await tx.list(recoveryPoints, { ...pointsIn(vault), limit: 1 })).items.length > 0) {
      throw InvalidRequest(`The vault ${BackupVaultName} holds recovery points. Delete them first.`)
    }
    await tx.remove(vaults, vaults.key(vault))
    await setTags(tx, vault.BackupVaultArn)
    await removeNotifications(tx, vault, ctx)
    await announce(tx, 'deleted', vault, ctx)
  })
  return reply(200)
}

/** The recovery points of a vault, as a query. */
const pointsIn = (vault: Vault) => ({
  where: { vault: vaults.key(vault) },
  order: 'createdMs',
})

/** Many vaults of one answer are counted together. */
const countPoints = (ctx: Context, vault: Vault): Promise<number> =>
  loadBy(
    ctx,
    'points of vaults',
    (keys: readonly string[]) =>
      Promise.all(keys.map((key) => ctx.store.count(recoveryPoints, { where: { vault: key } }))),
    vaults.key(vault),
  )

const counted = async (ctx: Context, vault: Vault) => ({
  ...vault,
  NumberOfRecoveryPoints: await countPoints(ctx, vault),
})

/** A vault with its lock among its members, as the REST interface shows it. */
const withLock = ({ Lock, ...vault }: Vault) => ({ ...vault, ...Lock, Locked: Lock !== undefined })

export async function needVault(
  from: Records,
  ctx: Context,
  named: { BackupVaultName: string; backupVaultAccountId?: string | undefined },
): Promise<Vault> {
  const account = accountOf(ctx)
  const { BackupVaultName, backupVaultAccountId = account } = named
  const isOwn = backupVaultAccountId === account
  const vault = isOwn && (await from.get(vaults, vaultKey(account, BackupVaultName)))
  if (vault) return vault
  throw ResourceNotFound(`There is no vault named ${BackupVaultName}.`)
}

/** Changes a vault. What `to` throws changes nothing. */
export function changeVault(
  ctx: Context,
  BackupVaultName: string,
  to: (vault: Vault) => Vault,
): Promise<Vault> {
  return ctx.store.transaction(async (tx) => {
    const vault = to(await needVault(tx, ctx, { BackupVaultName }))
    await tx.save(vaults, vault)
    await announce(tx, 'changed', vault, ctx)
    return vault
  })
}

const announce = (tx: Records, happened: string, vault: Vault, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `backup.vault.${happened}`,
    subject: vault.BackupVaultArn,
    body: { BackupVaultName: vault.BackupVaultName },
  })
