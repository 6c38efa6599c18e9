// Tags of anything that has an ARN. Specification 3, service R.
//
// The tags of groups are kept here, those of any other resource by the service that has it.
import { z } from 'zod'
import { accountOf, resourceTags, TAGS_MAX } from '../families/aws.ts'
import { tagResource, untagResource, type FoundResource } from '../families/cloud-resources.ts'
import type { Context } from '../kernel/context.ts'
import { get, operation, patch, put } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import { asking, BadRequest, NotFound } from './errors.ts'
import { canBeTagged, findResource, isArnIn } from './lookups.ts'
import { changeGroup, needGroup, ownGroupKey, type Group } from './records.ts'
import { tagKeys } from './shapes.ts'

const PATH = '/resources/{Arn}/tags'
const missing = { 404: 'There is no such resource.' }
const tagsAnswer = z.object({ Arn: z.string(), Tags: z.record(z.string(), z.string()) })

export const operations = [
  operation({
    name: 'resourceTags',
    rest: get(PATH, { answer: tagsAnswer }),
    input: { Arn: text },
    needs: 'resource-groups:GetTags',
    refuses: missing,
    async run({ Arn }, ctx) {
      const key = ownGroupKey(Arn, ctx)
      const { Tags } =
        key === undefined
          ? { Tags: (await needResource(Arn, ctx)).tags ?? {} }
          : await needGroup(ctx.store, key)
      return { Arn, Tags }
    },
  }),
  operation({
    name: 'putResourceTags',
    rest: put(PATH, { answer: tagsAnswer }),
    input: { Arn: text, Tags: resourceTags },
    needs: 'resource-groups:Tag',
    refuses: missing,
    async run({ Arn, Tags }, ctx) {
      await change(Arn, ctx, {
        ofGroup: (before) => ({ ...before, ...Tags }),
        ofOther: (resource) => tagResource(ctx.graph, resource, Tags),
      })
      return { Arn, Tags }
    },
  }),
  operation({
    name: 'removeResourceTags',
    rest: patch(PATH, {
      answer: z.object({ Arn: z.string(), Keys: z.array(z.string()) }),
    }),
    input: { Arn: text, Keys: tagKeys },
    needs: 'resource-groups:Untag',
    refuses: missing,
    async run({ Arn, Keys }, ctx) {
      await change(Arn, ctx, {
        ofGroup: (before) =>
          Object.fromEntries(Object.entries(before).filter(([key]) => !Keys.includes(key))),
        ofOther: (resource) => untagResource(ctx.graph, resource, Keys),
      })
      return { Arn, Keys }
    },
  }),
]

interface Change {
  readonly ofGroup: (before: Group['Tags']) => Group['Tags']
  readonly ofOther: (resource: FoundResource) => Promise<void>
}

async function change(arn: string, ctx: Context, { ofGroup, ofOther }: Change): Promise<void> {
  const key = ownGroupKey(arn, ctx)
  if (key !== undefined) {
    await changeGroup(ctx, key, (group) => {
      const Tags = ofGroup(group.Tags)
      if (Object.keys(Tags).length <= TAGS_MAX) return { ...group, Tags }
      throw BadRequest(`A group has at most ${TAGS_MAX} tags.`)
    })
    return
  }
  const resource = await needResource(arn, ctx)
  if (!canBeTagged(ctx, resource)) throw BadRequest(`Resources such as ${arn} have no tags.`)
  await asking(() => ofOther(resource))
}

async function needResource(arn: string, ctx: Context): Promise<FoundResource> {
  const resource = isArnIn(accountOf(ctx), arn) ? await findResource(ctx, arn) : undefined
  if (resource) return resource
  throw NotFound(`There is no resource ${arn}.`)
}
