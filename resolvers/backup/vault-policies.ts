// Access policies of vaults: who may do what with a vault and what is in it. Specification 3, service K.
//
// 1. A policy of the vault refuses what the credential would permit: a Deny is always heeded. An
//    Allow matters where another account copies into the vault.
// 2. The policy itself can always be read and replaced by the account, so that nobody is locked out.
import { z } from 'zod'
import { readArn } from '../families/aws.ts'
import { isPermitted, NOBODY, type Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { InvalidParameterValue } from './errors.ts'
import type { Vault } from './kinds.ts'

const several = z.union([z.string(), z.array(z.string()).max(100)])
const policy = z.strictObject({
  Version: z.string().optional(),
  Id: z.string().optional(),
  Statement: z
    .array(
      z.strictObject({
        Sid: z.string().optional(),
        Effect: z.enum(['Allow', 'Deny']),
        Principal: z.union([z.literal('*'), z.strictObject({ AWS: several })]),
        Action: several,
        Resource: several,
      }),
    )
    .min(1)
    .max(100),
})
type Policy = z.output<typeof policy>

/**
 * Refuses what is no policy.
 * Chosen: so is one with conditions or exceptions, since a part that nobody evaluates would only
 * look as if it protected something.
 */
export function checkPolicy(text: string): void {
  let sent: unknown
  try {
    sent = JSON.parse(text)
  } catch {
    // Whatever the parser says, the text is not what it should be.
    throw InvalidParameterValue('Policy must be a JSON object.')
  }
  const read = policy.safeParse(sent)
  if (read.success) return
  const { path, message } = read.error.issues[0]!
  throw InvalidParameterValue(`Policy has a mistake at ${path.join('.') || 'its top'}: ${message}.`)
}

interface Access {
  readonly vault: Vault
  /** Such as `backup:DeleteRecoveryPoint`. */
  readonly action: string
  /** The ARN of what it is done to: the vault, or a recovery point in it. */
  readonly resource: string
}

/** Refuses what the policy of a vault denies the caller. */
export function checkAccess(access: Access, ctx: Context): void {
  const accounts = ctx.caller.accounts.map(({ id }) => id)
  if (accounts.some((account) => decides('Deny', access, account))) {
    throw Forbidden(
      `The access policy of the vault ${access.vault.BackupVaultName} denies ${access.action}.`,
    )
  }
}

/** Whether the policy of a vault lets another account in. */
export const letsIn = (access: Access, account: string): boolean =>
  decides('Allow', access, account) && !decides('Deny', access, account)

function decides(
  effect: 'Allow' | 'Deny',
  { vault, action, resource }: Access,
  account: string,
): boolean {
  if (vault.Policy === undefined) return false
  const { Statement } = JSON.parse(vault.Policy) as Policy
  return Statement.some(
    ({ Effect, Principal, Action, Resource }) =>
      Effect === effect &&
      isFor(Principal, account) &&
      isAmong(Action, action) &&
      (isAmong(Resource, resource) || isAmong(Resource, vault.BackupVaultArn)),
  )
}

function isFor(principal: Policy['Statement'][number]['Principal'], account: string): boolean {
  if (principal === '*') return true
  return listOf(principal.AWS).some(
    (one) => one === '*' || one === account || readArn(one)?.account === account,
  )
}

/** Whether a policy of a vault denies everyone an action, as audits ask. */
export const deniesEveryone = (vault: Vault, action: string): boolean =>
  vault.Policy !== undefined &&
  (JSON.parse(vault.Policy) as Policy).Statement.some(
    ({ Effect, Principal, Action }) =>
      Effect === 'Deny' &&
      (Principal === '*' || listOf(Principal.AWS).includes('*')) &&
      isAmong(Action, action),
  )

const listOf = (value: string | string[]) => (typeof value === 'string' ? [value] : value)

const isAmong = (patterns: string | string[], value: string): boolean =>
  isPermitted({ ...NOBODY, permissions: listOf(patterns) }, value)
