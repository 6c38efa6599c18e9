// Roles, as which jobs act: a small part of what an account's access management has. Of the graph.
//
// 1. A job acts with the permissions of its role and not with those of who started it. Who names a
//    role must therefore hold iam:PassRole, and who makes one iam:PutRolePolicy.
// 2. The default role permits everything until the account says otherwise.
import { z } from 'zod'
import { accountOf } from '../families/aws.ts'
import { isPermitted, NOBODY, type Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { operation, reply } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { text } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { InvalidParameterValue, LimitExceeded, ResourceNotFound } from './errors.ts'

const ROLES_MAX = 1_000
const PERMISSIONS_MAX = 50
const DEFAULT_NAME = 'service-role/AWSBackupDefaultServiceRole'

/** What a job asks of its role. */
export const TAKE = 'backup:StartBackupJob'
export const COPY = 'backup:StartCopyJob'
export const RESTORE = 'backup:StartRestoreJob'
export const DELETE = 'backup:DeleteRecoveryPoint'
/** What it takes to delete a point whose deletion the role did not permit at first. */
export const DELETE_EXPIRED = 'iam:CreateServiceLinkedRole'

export interface Role {
  readonly Account: string
  readonly RoleName: string
  readonly RoleArn: string
  readonly Permissions: readonly string[]
}

const roles = kind<Role>('backup_role', {
  key: ({ Account, RoleName }) => `${Account}/${RoleName}`,
})
export const kinds = [roles]

const roleName = text.regex(
  /^[\w+=,.@-]{1,64}(\/[\w+=,.@-]{1,64}){0,3}$/,
  'must be words of letters, digits and + = , . @ - _ between slashes',
)

export const operations = [
  operation({
    name: 'putBackupRole',
    input: {
      RoleName: roleName,
      Permissions: z
        .array(text.regex(/^[\w*:-]{1,128}$/, 'must be a permission such as backup:*'))
        .max(PERMISSIONS_MAX),
    },
    needs: 'iam:PutRolePolicy',
    run: putRole,
  }),
  operation({
    name: 'deleteBackupRole',
    input: { RoleName: text },
    needs: 'iam:DeleteRole',
    async run({ RoleName }, ctx) {
      if (await ctx.store.remove(roles, `${accountOf(ctx)}/${RoleName}`)) return reply(200)
      throw ResourceNotFound(`There is no role named ${RoleName}.`)
    },
  }),
  operation({
    name: 'backupRoles',
    input: paging,
    needs: 'iam:ListRoles',
    run: ({ first, after }, ctx) =>
      connect(ctx, roles, { first, after, prefix: `${accountOf(ctx)}/` }),
  }),
]

export async function putRole(
  { RoleName, Permissions }: { RoleName: string; Permissions: readonly string[] },
  ctx: Context,
): Promise<Role> {
  const Account = accountOf(ctx)
  const role: Role = { Account, RoleName, RoleArn: roleArnOf(Account, RoleName), Permissions }
  await ctx.store.transaction(async (tx) => {
    await tx.save(roles, role)
    if ((await tx.count(roles, { prefix: `${Account}/` })) > ROLES_MAX) {
      throw LimitExceeded(`An account has at most ${ROLES_MAX} roles.`)
    }
  })
  return role
}

const roleArnOf = (account: string, name: string): string => `arn:aws:iam::${account}:role/${name}`

export const defaultRoleArn = (account: string): string => roleArnOf(account, DEFAULT_NAME)

/** A role by its ARN; undefined when there is none. */
export async function roleAt(from: Records, arn: string): Promise<Role | undefined> {
  const [, account = '', name = ''] = /^arn:aws[a-z-]*:iam::(\d{12}):role\/(.+)$/.exec(arn) ?? []
  const role = name === '' ? undefined : await from.get(roles, `${account}/${name}`)
  if (role || name !== DEFAULT_NAME) return role
  return { Account: account, RoleName: name, RoleArn: arn, Permissions: ['*'] }
}

/** Whether a role is there and permits something. */
export async function roleMay(from: Records, arn: string, permission: string): Promise<boolean> {
  const role = await roleAt(from, arn)
  return role !== undefined && isPermitted({ ...NOBODY, permissions: role.Permissions }, permission)
}

/** Refuses a role that is not of the caller's account, not there, or not the caller's to pass on. */
export async function checkRole(arn: string, ctx: Context): Promise<Role> {
  if (!isPermitted(ctx.caller, 'iam:PassRole')) {
    throw Forbidden('The credential does not permit iam:PassRole.')
  }
  const role = await roleAt(ctx.store, arn)
  if (role && role.Account === accountOf(ctx)) return role
  throw InvalidParameterValue(`${arn} is not a role of this account. Put it first.`)
}
