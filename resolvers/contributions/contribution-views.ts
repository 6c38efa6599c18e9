// A contribution as it is shown, at both doors: to the public, to who contributed it, and to those in
// whose jurisdiction it is.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { isInJurisdiction, isInsider, maySee } from './access.ts'
import { ASSIGNMENT, showAssignment } from './assignments.ts'
import { CONTRIBUTOR, contributors, showContributor } from './contributors.ts'
import { connectScope } from './connections.ts'
import { MEDIA_USAGE, showUsage } from './media.ts'
import { ACTIONS, isAction, STATES } from './moderation-states.ts'
import {
  assignments,
  contributions,
  mediaFiles,
  type Contribution,
  type Decision,
  type MediaFile,
} from './records.ts'
import { loadTags, showTag, TAG } from './tags.ts'

const words = z.string().optional()
const DECISION = z.object({
  date: z.string(),
  action: z.looseObject({ id: z.string(), label: z.string() }).optional(),
  notes: words,
})

export const CONTRIBUTION = z.object({
  id: z.string(),
  headline: z.string(),
  body: words,
  attribution: words,
  urlWords: z.string(),
  created: z.string(),
  assignment: ASSIGNMENT.optional(),
  place: z.looseObject({}).optional(),
  mediaUsages: z.array(MEDIA_USAGE),
  moderationHistory: z.array(DECISION).optional(),
  via: z
    .object({
      authority: z.object({ user: CONTRIBUTOR }).optional(),
      ipAddress: words,
    })
    .optional(),
  likes: z.number(),
  tags: z.array(TAG),
})

export const entities = {
  Contribution: async ({ id }: { id: string }, ctx: Context) => {
    const contribution = await load(ctx, contributions, id)
    return maySee(contribution, ctx) ? contribution : null
  },
}

export const fields = {
  Contribution: {
    assignment: ({ assignment }: Contribution, _args: unknown, ctx: Context) =>
      assignment === undefined ? null : load(ctx, assignments, assignment),
    user: (contribution: Contribution, _args: unknown, ctx: Context) =>
      knowsContributor(contribution, ctx) ? { __typename: 'User', id: contribution.user } : null,
    contributor: (contribution: Contribution, _args: unknown, ctx: Context) =>
      knowsContributor(contribution, ctx) ? load(ctx, contributors, contribution.user) : null,
    owner: ({ owner }: Contribution) => ({ __typename: 'User', id: owner }),
    state: ({ state }: Contribution) => STATES[state],
    media: ({ media }: Contribution, _args: unknown, ctx: Context) => loadMedia(media, ctx),
    tags: ({ tags }: Contribution, _args: unknown, ctx: Context) => loadTags(tags, ctx),
    moderationHistory: (contribution: Contribution, _args: unknown, ctx: Context) =>
      isInsider(contribution, ctx) ? contribution.history : null,
    ipAddress: (contribution: Contribution, _args: unknown, ctx: Context) =>
      isInJurisdiction(contribution, ctx.caller) ? contribution.ipAddress : null,
  },
  ModerationHistoryItem: {
    action: ({ action }: Decision) => (isAction(action) ? ACTIONS[action] : null),
    by: ({ by }: Decision) => ({ __typename: 'User', id: by }),
  },
  User: {
    contributions: ({ id }: { id: string }, args: any, ctx: Context) => {
      const isOwn = id === ctx.caller.userId || ctx.caller.isAdmin
      return connectScope({ user: id, isOther: !isOwn, seesAll: isOwn }, args, ctx)
    },
  },
}

/** Who contributed something without a name is known to themselves and in the jurisdiction. */
const knowsContributor = (contribution: Contribution, ctx: Context): boolean =>
  !contribution.isAnonymous || isInsider(contribution, ctx)

export const loadMedia = async (ids: readonly string[], ctx: Context): Promise<MediaFile[]> =>
  (await Promise.all(ids.map((id) => load(ctx, mediaFiles, id)))).filter(
    (file) => file !== undefined,
  )

/** A contribution as REST shows it. */
export async function showContribution(contribution: Contribution, ctx: Context) {
  const { id, headline, body, attribution, urlWords, created, place, likes } = contribution
  const [assignment, media, tags, via] = await Promise.all([
    contribution.assignment === undefined
      ? undefined
      : load(ctx, assignments, contribution.assignment),
    loadMedia(contribution.media, ctx),
    loadTags(contribution.tags, ctx),
    viaOf(contribution, ctx),
  ])
  return {
    id,
    headline,
    ...(body !== undefined && { body }),
    ...(attribution !== undefined && { attribution }),
    urlWords,
    created,
    ...(assignment && { assignment: await showAssignment(assignment, ctx) }),
    ...(place && { place }),
    mediaUsages: await Promise.all(media.map((file) => showUsage(file, ctx))),
    ...(isInsider(contribution, ctx) && {
      moderationHistory: contribution.history.map(showDecision),
    }),
    ...(via && { via }),
    likes,
    tags: await Promise.all(tags.map((tag) => showTag(tag, ctx))),
  }
}

const showDecision = ({ date, action, notes }: Decision) => ({
  date,
  ...(isAction(action) && { action: ACTIONS[action] }),
  ...(notes !== undefined && { notes }),
})

/** How it came to us: who sent it, and for moderators from which address. */
async function viaOf(contribution: Contribution, ctx: Context) {
  const person = knowsContributor(contribution, ctx)
    ? await load(ctx, contributors, contribution.user)
    : undefined
  const ipAddress = isInJurisdiction(contribution, ctx.caller) ? contribution.ipAddress : undefined
  if (!person && ipAddress === undefined) return undefined
  return {
    ...(person && { authority: { user: showContributor(person) } }),
    ...(ipAddress !== undefined && { ipAddress }),
  }
}
