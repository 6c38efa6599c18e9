// Resources that are named by their ARN, found with the services that keep them.
import { readArn, REGION } from '../families/aws.ts'
import {
  findResources,
  idOfArn,
  resourceTypes,
  type FoundResource,
} from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { loadBy } from '../kernel/load.ts'
import { asking } from './errors.ts'

/** Undefined when there is none, or none that the caller may see. */
export const findResource = (ctx: Context, arn: string): Promise<FoundResource | undefined> =>
  loadBy(
    ctx,
    findResources,
    async (ids: readonly string[]) => {
      const found = await asking(() => findResources(ctx.graph, ids))
      return ids.map((id) => found.get(id))
    },
    idOfArn(arn),
  )

export const canBeTagged = ({ graph }: Context, { typeName }: FoundResource): boolean =>
  resourceTypes(graph).some(({ name, canTag }) => name === typeName && canTag)

/** Whether this text is the ARN of something in an account, or of something in no account. */
export function isArnIn(account: string, text: string): boolean {
  const arn = readArn(text)
  return (
    arn !== undefined && ['', REGION].includes(arn.region) && ['', account].includes(arn.account)
  )
}

export interface FailedResource {
  readonly ResourceArn: string
  readonly ErrorCode: string
  readonly ErrorMessage: string
}

/** What happened to each resource of a request that names several. */
export interface BatchResult {
  readonly Succeeded: string[]
  readonly Failed: FailedResource[]
  readonly Pending: { readonly ResourceArn: string }[]
}

export const noneYet = (): BatchResult => ({ Succeeded: [], Failed: [], Pending: [] })

// Chosen: the codes of what fails inside an answer, since neither document nor client has a list.
const FAILURES = {
  INVALID_ARN: 'This is not the ARN of a resource in this account.',
  RESOURCE_NOT_FOUND: 'There is no such resource.',
  RESOURCE_TYPE_NOT_ALLOWED: 'The group does not take resources of this type.',
  RESOURCE_LIMIT_EXCEEDED: 'The group holds as many resources as it may.',
  RESOURCE_NOT_IN_GROUP: 'The resource is not in the group.',
  RESOURCE_WITHOUT_TAGS: 'Resources of this type have no tags.',
  RESOURCE_NOT_IN_STACK: 'The resource is not in the stack.',
}

export const failed = (ResourceArn: string, ErrorCode: keyof typeof FAILURES): FailedResource => ({
  ResourceArn,
  ErrorCode,
  ErrorMessage: FAILURES[ErrorCode],
})
