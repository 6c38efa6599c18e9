// The seam to what is backed up: cloud resources of all services through the graph, and own plans.
//
// 1. Jobs act as the person whose resources they are, with the permissions of their role.
// 2. The service's own plans are read and put back here, without a way through the gateway.
import { createHash, randomBytes } from 'node:crypto'
import { restoreSnapshot, takeSnapshot } from '../families/cloud-copies.ts'
import {
  arnOfResource,
  findResources,
  idOfArn,
  listResources,
  resourceTypes,
  signedTypeOf,
  type FoundResource,
} from '../families/cloud-resources.ts'
import { readArn } from '../families/aws.ts'
import { NOBODY, type Context } from '../kernel/context.ts'
import { Conflict, Fault } from '../kernel/fault.ts'
import type { Graph } from '../kernel/graph.ts'
import { perform } from '../kernel/operation.ts'
import { InvalidRequest, ResourceNotFound } from './errors.ts'
import { planArnOf, plans, type Plan, type ResourceName } from './kinds.ts'
import { batches } from './lists.ts'
import { operations as planOperations, PLAN_TYPE, resolvePlan } from './plan-snapshots.ts'
import { tagsOf } from './tags.ts'

const PART_BYTES = 512 * 1024
const OWN_TYPE = 'AWS::Backup::BackupPlan'
const TRIAL_ID_BYTES = 5

/** Who a job acts for, and what its role permits. */
export interface Actor {
  readonly account: string
  readonly userId: string
  readonly permissions: readonly string[]
}

export interface Resource extends ResourceName {
  readonly tags: Readonly<Record<string, string>> | null
}

/** The resources of these ARNs that there are and that the actor sees. */
export async function resourcesAt(
  arns: readonly string[],
  actor: Actor,
  ctx: Context,
): Promise<Map<string, Resource>> {
  const found = new Map<string, Resource>()
  const own = contextOf(actor, ctx)
  const elsewhere: string[] = []
  for (const arn of arns) {
    const parts = readArn(arn)
    if (parts?.service === 'backup') {
      const plan = await resolvePlan({ id: arn }, own)
      if (plan) found.set(arn, await planResource(plan, own))
    } else if (parts && (parts.account === actor.account || parts.account === '')) {
      elsewhere.push(arn)
    }
  }
  if (elsewhere.length === 0) return found
  const byId = await findResources(graphOf(actor, ctx), elsewhere.map(idOfArn))
  for (const arn of elsewhere) {
    const resource = byId.get(idOfArn(arn))
    if (resource) found.set(arn, resourceOf(resource, actor))
  }
  return found
}

export async function needResource(arn: string, actor: Actor, ctx: Context): Promise<Resource> {
  const found = (await resourcesAt([arn], actor, ctx)).get(arn)
  if (found) return found
  throw ResourceNotFound(`There is no resource ${arn}.`)
}

/** All resources that the actor sees and that can be backed up, a page at a time. */
export async function* everyResource(actor: Actor, ctx: Context): AsyncGenerator<Resource[]> {
  const own = contextOf(actor, ctx)
  for await (const some of batches(ctx, plans, { where: { active: actor.account } })) {
    yield Promise.all(some.map((plan) => planResource(plan, own)))
  }
  const graph = graphOf(actor, ctx)
  const types = othersSupported(graph).map(({ name }) => name)
  for await (const page of listResources(graph, { types })) {
    yield page.map((resource) => resourceOf(resource, actor))
  }
}

/** The types that can be backed up, as this service writes them. */
export const supportedTypes = (graph: Graph): string[] => [
  OWN_TYPE,
  ...othersSupported(graph).map(({ name }) => signedTypeOf({ type: '', typeName: name })),
]

const othersSupported = (graph: Graph) =>
  resourceTypes(graph).filter(({ name, canSnapshot }) => canSnapshot && name !== PLAN_TYPE)

export async function takeBytes(
  { ResourceArn, TypeName }: ResourceName,
  actor: Actor,
  ctx: Context,
): Promise<Buffer> {
  const id = idOfArn(ResourceArn)
  if (TypeName === PLAN_TYPE) return takeOwn(id, contextOf(actor, ctx))
  const graph = graphOf(actor, ctx)
  checkType(graph, TypeName)
  return takeSnapshot(graph, { id, typeName: TypeName })
}

interface Restoring {
  readonly TypeName: string
  readonly id: string
  readonly bytes: Buffer
  readonly isTrial?: boolean
}

/** Puts a resource back, and returns its ARN. */
export async function putBytes(
  { TypeName, id, bytes, isTrial = false }: Restoring,
  actor: Actor,
  ctx: Context,
): Promise<string> {
  if (TypeName === PLAN_TYPE) return putOwn({ id, bytes, isTrial }, contextOf(actor, ctx))
  const graph = graphOf(actor, ctx)
  checkType(graph, TypeName)
  const restored = await restoreSnapshot(graph, { id, typeName: TypeName }, bytes, { isTrial })
  return arnOfResource(actor.account, restored.id)
}

/**
 * Tries whether a resource could be put back: carried out, read back, compared and undone. Where the
 * resource is still there, the trial is of a copy under another id.
 */
export async function tryBytes(restoring: Restoring, actor: Actor, ctx: Context): Promise<string> {
  try {
    return await putBytes({ ...restoring, isTrial: true }, actor, ctx)
  } catch (error) {
    if (!(error instanceof Fault) || error.status !== 409) throw error
    const name = `rt${randomBytes(TRIAL_ID_BYTES).toString('hex')}`
    const id = restoring.id.replace(/[^/:]*$/, name)
    return putBytes({ ...restoring, id, isTrial: true }, actor, ctx)
  }
}

const graphOf = ({ userId, permissions }: Actor, ctx: Context): Graph =>
  ctx.graph.as(userId, permissions)

function checkType(graph: Graph, typeName: string): void {
  if (resourceTypes(graph).find(({ name }) => name === typeName)?.canSnapshot) return
  throw InvalidRequest(`Resources of the type ${typeName} cannot be backed up.`)
}

export const resourceOf = (
  found: FoundResource,
  { account }: Pick<Actor, 'account'>,
): Resource => ({
  ResourceArn: arnOfResource(account, found.id),
  ResourceType: signedTypeOf(found),
  ResourceName: found.name,
  TypeName: found.typeName,
  tags: found.tags,
})

const planResource = async (plan: Plan, ctx: Context): Promise<Resource> => ({
  ResourceArn: planArnOf(plan),
  ResourceType: OWN_TYPE,
  ResourceName: plan.BackupPlan.BackupPlanName,
  TypeName: PLAN_TYPE,
  tags: await tagsOf(ctx, planArnOf(plan)),
})

/** A context as the actor would have it. */
const contextOf = ({ account, userId, permissions }: Actor, ctx: Context): Context => ({
  ...ctx,
  caller: {
    ...NOBODY,
    kind: 'user',
    userId,
    credentialId: ctx.caller.credentialId,
    accounts: [{ id: account, kind: 'ACCOUNT' }],
    permissions,
  },
})

const own = (name: string) => planOperations.find((operation) => operation.name === name)!

async function takeOwn(id: string, ctx: Context): Promise<Buffer> {
  const pieces: Buffer[] = []
  let sha256: string | undefined
  let parts = 1
  for (let part = 0; part < parts; part += 1) {
    const taken: any = await perform(own('backupPlanSnapshot'), { id, part, sha256 }, ctx)
    ;({ sha256, parts } = taken)
    pieces.push(Buffer.from(taken.bytes, 'base64'))
  }
  return Buffer.concat(pieces)
}

async function putOwn(
  { id, bytes, isTrial }: { id: string; bytes: Buffer; isTrial: boolean },
  ctx: Context,
): Promise<string> {
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const about = { id, sha256, sizeBytes: bytes.length, isTrial }
  for (let at = 0; at < bytes.length; at += PART_BYTES) {
    const piece = bytes.subarray(at, at + PART_BYTES).toString('base64')
    const sent = { ...about, part: at / PART_BYTES, bytes: piece }
    const put: any = await perform(own('restoreBackupPlan'), sent, ctx)
    if (put.isWhole) return put.id
  }
  throw Conflict(`Parts of ${id} are missing. Try again.`)
}
