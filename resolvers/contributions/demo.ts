// Something to look at: assignments with contributions, a picture, a form and an answer, for which the
// person's fundraiser collects.
import type { Context } from '../kernel/context.ts'
import { whereReached } from '../kernel/graph.ts'
import { createAssignment } from './assignments.ts'
import { createContribution } from './contributions.ts'
import { createFormResponse } from './form-responses.ts'
import { createForm } from './forms.ts'
import { ownFundraisers, supportFundraiser } from './fundraisers.ts'
import { likeContribution } from './likes.ts'
import { createMedia } from './media.ts'
import { moderate } from './moderation.ts'
import { createSubscription } from './subscriptions.ts'
import { createTag } from './tags.ts'

/** A picture of 64 by 48 pixels: a nest on a pole, in a meadow. */
const PICTURE = Buffer.from(
  [
    'iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwBAMAAABTZWEsAAAADFBMVEVvt+ldnEdNMxl6UjAnkuQxAAAA',
    'CXBIWXMAAAsTAAALEwEAmpwYAAAALElEQVQ4y2NgGAWjgFygBAUDqQAIjI0JuHPEKhBEBcbGaAIDoAAD',
    'jCoYQgoA5XcvJyRlLLEAAAAASUVORK5CYII=',
  ].join(''),
  'base64',
)

const SIGHTINGS = [
  {
    headline: 'Two storks on the town hall',
    name: 'Town hall',
    latitude: 52.5186,
    longitude: 13.4083,
  },
  {
    headline: 'A nest in the old poplar',
    name: 'Riverside',
    latitude: 52.4901,
    longitude: 13.4702,
  },
  { headline: 'Storks over the airfield', name: 'Airfield', latitude: 52.4732, longitude: 13.4033 },
]

export async function demo(ctx: Context): Promise<Record<string, string>> {
  const tag = await createTag({ name: 'Birds', colour: '#0061a6' }, ctx)
  const storks = await createAssignment(
    {
      name: 'White storks in town',
      description: 'Where do storks nest and rest? Send what you see.',
      tags: [tag],
    },
    ctx,
  )
  await createAssignment(
    { name: 'Benches that need repair', description: 'Which, and where?' },
    ctx,
  )
  const form = await createForm(
    {
      name: 'Sighting',
      heading: 'About the birds',
      callToAction: 'Tell us more',
      fields: [
        { name: 'count', label: 'How many?', required: true },
        {
          name: 'behaviour',
          type: 'select',
          options: ['resting', 'nesting', 'flying'],
        },
      ],
    },
    ctx,
  )
  const picture = await createMedia(PICTURE, ctx)
  const ids: string[] = []
  for (const [at, sighting] of SIGHTINGS.entries()) {
    const { id } = await createContribution(
      contributionOf(sighting, storks.id, at === 0 ? [picture] : []),
      ctx,
    )
    ids.push(id)
    // The last one waits in the queue.
    if (at < SIGHTINGS.length - 1) await moderate({ id, action: { id: 'approve' } }, ctx)
  }
  const [first] = ids as [string]
  await likeContribution({ id: first }, ctx)
  await createFormResponse(
    { form: form.id, contribution: first, responses: { count: '2', behaviour: 'resting' } },
    ctx,
  )
  await createSubscription(
    {
      types: ['contribution.created', 'contribution.flagged'],
      includeBody: true,
      includeThumbnail: false,
      assignment: storks.id,
    },
    ctx,
  )
  await supportOwn(storks.id, ctx)
  return { assignmentId: storks.id, contributionId: first, formId: form.id }
}

/** Lets the assignment support the fundraiser that the person has at the bank, if one is reached. */
async function supportOwn(assignment: string, ctx: Context): Promise<void> {
  const [fundraiser] = (await whereReached(() => ownFundraisers(ctx))) ?? []
  if (fundraiser !== undefined) await supportFundraiser({ assignment, fundraiser }, ctx)
}

const contributionOf = (
  { headline, name, latitude, longitude }: (typeof SIGHTINGS)[number],
  assignment: string,
  media: readonly { id: string }[],
) => ({
  headline,
  assignment: { id: assignment },
  place: {
    name,
    country: 'DE',
    latLong: { latitude, longitude },
  },
  mediaUsages: media.map(({ id }) => ({ media: { id } })),
})
