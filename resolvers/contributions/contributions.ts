// Contributions: what people send to assignments. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { paging } from '../kernel/paging.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { FULL, isInJurisdiction, maySee, personOf } from './access.ts'
import { mediaUsage } from './assignments.ts'
import { readContribution } from './contribution-reads.ts'
import { CONTRIBUTION, showContribution } from './contribution-views.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { listFilters, readFilter } from './filters.ts'
import { connectFound } from './connections.ts'
import { findPage } from './finding.ts'
import { addLine } from './lines.ts'
import { useMedia } from './media.ts'
import { completePlace, place, type Place } from './places.ts'
import { assignments, contributions, type Assignment, type Contribution } from './records.ts'
import { removeContribution } from './removals.ts'
import { RSS_TYPE, rssOf } from './rss.ts'
import { id, line, pages, reference, sliceOf, totalHeader, urlWords, urlWordsOf } from './shapes.ts'
import type { Listed } from './shapes.ts'
import { readTags, tagReferences } from './tags.ts'

const BODY_CHARS_MAX = 50_000
const MEDIA_MAX = 20

const submission = {
  headline: line,
  body: optional(text.max(BODY_CHARS_MAX)),
  attribution: optional(text.trim().max(200)),
  urlWords: optional(urlWords),
  assignment: optional(reference),
  place: optional(place),
  mediaUsages: optional(z.array(mediaUsage).max(MEDIA_MAX)),
  tags: tagReferences,
}
type Whole = z.output<z.ZodObject<typeof submission>>
type Submission = Partial<Omit<Whole, 'place'>> &
  Pick<Whole, 'headline'> & { readonly place?: Place | undefined }

export const operations = [
  operation({
    name: 'contributionPage',
    rest: get('/contributions', { show: showPage, answer: z.array(CONTRIBUTION) }),
    input: { ...listFilters, format: optional(oneOf(['json', 'rss'])), ...pages },
    async run({ format, page, pageSize, ...sent }, ctx) {
      const found = await findPage(await readFilter(sent, ctx), sliceOf({ page, pageSize }), ctx)
      const headers = totalHeader(found)
      if (format !== 'rss') return reply(200, found, headers)
      const rss = await rssOf(found.items, ctx)
      return reply(200, { ...found, rss }, { ...headers, 'content-type': RSS_TYPE })
    },
  }),
  operation({
    name: 'contributions',
    input: { ...listFilters, ...paging },
    run: async ({ first, after, ...sent }, ctx) =>
      connectFound(await readFilter(sent, ctx), { first, after }, ctx),
  }),
  operation({
    name: 'createContribution',
    rest: post('/contributions', { show: showContribution, answer: CONTRIBUTION }),
    needs: FULL,
    input: submission,
    run: createContribution,
  }),
  operation({
    name: 'contribution',
    rest: get('/contributions/{id}', { show: showContribution, answer: CONTRIBUTION }),
    refuses: { 404: 'There is no such contribution.' },
    input: { id },
    run: readContribution,
  }),
  operation({
    name: 'deleteContribution',
    rest: del('/contributions/{id}', { show: showContribution, answer: CONTRIBUTION }),
    refuses: { 403: 'It is not yours.', 404: 'There is no such contribution.' },
    needs: FULL,
    input: { id },
    run: deleteContribution,
  }),
]

function showPage({ items, rss }: Listed<Contribution> & { rss?: string }, ctx: Context) {
  return rss ?? Promise.all(items.map((item) => showContribution(item, ctx)))
}

export async function createContribution(sent: Submission, ctx: Context): Promise<Contribution> {
  const user = personOf(ctx)
  const where = sent.place && (await completePlace(sent.place))
  return ctx.store.transaction(async (tx) => {
    const now = ctx.clock.now()
    const person = await meet(tx, ctx)
    const assignment = sent.assignment && (await openAssignment(tx, sent.assignment.id, now))
    const attribution = sent.attribution ?? person.displayName ?? person.username
    const isAnonymous = attribution === ''
    checkFits(sent, assignment, isAnonymous)
    const id = ctx.newId()
    const mediaIds = [...new Set((sent.mediaUsages ?? []).map(({ media }) => media.id))]
    const media = await useMedia(tx, mediaIds, { contribution: id }, ctx)
    const { embargo } = assignment ?? {}
    const contribution: Contribution = {
      id,
      user,
      // Chosen: what belongs to no assignment is in the jurisdiction of its contributor.
      owner: assignment?.owner ?? user,
      moderator: assignment?.moderator,
      assignment: assignment?.id,
      headline: sent.headline,
      body: sent.body,
      ...(!isAnonymous && { attribution }),
      isAnonymous,
      urlWords: sent.urlWords ?? (urlWordsOf(sent.headline) || id),
      created: now.toISOString(),
      place: where,
      media: mediaIds,
      tags: await readTags(sent.tags, tx),
      state: 'pending',
      history: [],
      ipAddress: ctx.remote,
      likes: 0,
      ...(embargo !== undefined && { embargo }),
    }
    await tx.insert(contributions, contribution)
    await addLine(tx, contribution, { media, now })
    await ctx.events.announce(tx, {
      type: 'contributions.contribution.created',
      subject: id,
      body: { id },
    })
    return contribution
  })
}

async function openAssignment(tx: Records, id: string, now: Date): Promise<Assignment> {
  const assignment = await tx.get(assignments, id)
  if (!assignment) throw invalidField('assignment', `names ${id}, which is no assignment`)
  const { starts, ends } = assignment
  if (starts !== undefined && Date.parse(starts) > now.getTime()) {
    throw invalidField('assignment', `takes contributions from ${starts} on`)
  }
  if (ends !== undefined && Date.parse(ends) <= now.getTime()) {
    throw invalidField('assignment', `took contributions until ${ends}`)
  }
  return assignment
}

function checkFits(
  { mediaUsages }: Submission,
  assignment: Assignment | undefined,
  isAnonymous: boolean,
): void {
  if (assignment?.mediaRequired && !mediaUsages?.length) {
    throw invalidField('mediaUsages', 'must name a file: the assignment asks for one')
  }
  if (isAnonymous && assignment && !assignment.allowsAnonymousContributions) {
    throw invalidField('attribution', 'must not be blank: the assignment asks for a name')
  }
}

/** A contribution is gone at once for who looks; what hangs on it follows. */
async function deleteContribution({ id }: { id: string }, ctx: Context): Promise<Contribution> {
  return ctx.store.transaction(async (tx) => {
    const contribution = await tx.get(contributions, id)
    if (!contribution || !maySee(contribution, ctx)) throw missing('contribution', id)
    if (contribution.user !== ctx.caller.userId && !isInJurisdiction(contribution, ctx.caller)) {
      throw Forbidden('Only who contributed it, or who moderates it, deletes a contribution.')
    }
    await removeContribution(tx, contribution, ctx)
    return contribution
  })
}
