// What inputs of resource-groups look like. Specification 3, service R.
import { z } from 'zod'
import { TAGS_MAX } from '../families/aws.ts'
import { optional, text, whole } from '../kernel/shape.ts'

const PAGE_MAX = 100
const FILTERS_MAX = 10
const FILTER_VALUES_MAX = 5
const TAG_KEY_LENGTH_MAX = 128

export const tagKeys = z.array(text.min(1).max(TAG_KEY_LENGTH_MAX)).min(1).max(TAGS_MAX)

/** A group is named by its name or its ARN in Group, or by its name in GroupName. */
export const groupInput = { GroupName: optional(text), Group: optional(text) }

export const filtersOf = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  optional(
    z
      .array(
        z.object({
          Name: z.enum(names),
          Values: z.array(text.min(1).max(300)).min(1).max(FILTER_VALUES_MAX),
        }),
      )
      .max(FILTERS_MAX),
  )

export const pageSize = optional(whole.refine((size) => size >= 1, 'must be 1 or more'))

/** Chosen: a page larger than the largest becomes the largest, since clients follow the token. */
export const limitOf = (sent: number | undefined): number => Math.min(sent ?? PAGE_MAX, PAGE_MAX)

export const pageInput = { MaxResults: pageSize, NextToken: optional(text) }
