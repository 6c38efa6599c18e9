// Whether a selection takes a resource: pure rules over its ARN, its type and its tags.
//
// 1. Resources, and the tags of ListOfTags, add: one that fits is enough. Without either, all fit.
// 2. Conditions narrow: all must hold. NotResources take away.
// 3. Types that the account opted out of are taken only by their full ARN.
import { signedTypeOf } from '../families/cloud-resources.ts'
import { isPermitted, NOBODY } from '../kernel/context.ts'
import type { ConditionParameter, SelectionDocument } from './kinds.ts'

const RESOURCE_TAG = 'aws:ResourceTag/'

export interface Candidate {
  readonly ResourceArn: string
  readonly ResourceType: string
  readonly TypeName: string
  readonly tags: Readonly<Record<string, string>> | null
}

export function isSelected(
  { Resources = [], NotResources = [], ListOfTags = [], Conditions = {} }: SelectionDocument,
  { ResourceArn, ResourceType, TypeName, tags }: Candidate,
  optIns: Readonly<Record<string, boolean>> = {},
): boolean {
  if (Resources.length + ListOfTags.length > 0) {
    const isNamed = Resources.some((pattern) => isLike(pattern, ResourceArn))
    const isTagged = ListOfTags.some((one) => tags?.[one.ConditionKey] === one.ConditionValue)
    if (!isNamed && !isTagged) return false
  }
  if (NotResources.some((pattern) => isLike(pattern, ResourceArn))) return false
  const types = [ResourceType, signedTypeOf({ type: '', typeName: TypeName })]
  const isOptedOut = types.some((type) => optIns[type] === false)
  if (isOptedOut && !Resources.includes(ResourceArn)) return false
  const valueOf = ({ ConditionKey }: ConditionParameter) =>
    tags?.[ConditionKey.slice(RESOURCE_TAG.length)]
  const {
    StringEquals = [],
    StringNotEquals = [],
    StringLike = [],
    StringNotLike = [],
  } = Conditions
  const isLikeTag = (one: ConditionParameter) => {
    const value = valueOf(one)
    return value !== undefined && isLike(one.ConditionValue, value)
  }
  return (
    StringEquals.every((one) => valueOf(one) === one.ConditionValue) &&
    StringNotEquals.every((one) => valueOf(one) !== one.ConditionValue) &&
    StringLike.every(isLikeTag) &&
    !StringNotLike.some(isLikeTag)
  )
}

/** The full ARNs of a selection that names nothing else; undefined when all resources must be seen. */
export function namedArns({ Resources = [], ListOfTags = [] }: SelectionDocument) {
  const isExact = Resources.length > 0 && Resources.every((pattern) => !pattern.endsWith('*'))
  return isExact && ListOfTags.length === 0 ? Resources : undefined
}

export const isLike = (pattern: string, value: string): boolean =>
  isPermitted({ ...NOBODY, permissions: [pattern] }, value)
