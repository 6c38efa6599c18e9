// Assignments, to which people contribute. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { connect } from '../kernel/paging.ts'
import { flag, optional, text } from '../kernel/shape.ts'
import type { Records, SqlValue } from '../kernel/store.ts'
import { wordsOf } from '../kernel/text-search.ts'
import { FULL, isInJurisdiction, personOf } from './access.ts'
import { logChange } from './change-log.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { connectScope } from './connections.ts'
import { addTerms, dropTerms } from './lines.ts'
import { listed, showEach } from './lists.ts'
import { MEDIA_USAGE, removeMedia, showUsage, useMedia } from './media.ts'
import { assignments, mediaFiles, type Assignment } from './records.ts'
import { CONTRIBUTIONS_STEP } from './removals.ts'
import {
  id,
  line,
  moment,
  pages,
  sliceOf,
  urlWords,
  urlWordsOf,
  type Listed,
  type Pages,
} from './shapes.ts'
import { loadTags, readTags, showTag, TAG, tagReferences } from './tags.ts'

const DESCRIPTION_CHARS_MAX = 20_000
const WORDS_MAX = 200
const QUERY_WORDS_MAX = 10

const words = z.string().optional()
export const ASSIGNMENT = z.object({
  id: z.string(),
  name: z.string(),
  description: words,
  urlWords: z.string(),
  receiptMessage: words,
  moderator: words,
  created: z.string(),
  starts: words,
  ends: words,
  embargo: words,
  open: z.boolean(),
  featured: z.boolean(),
  mediaRequired: z.boolean(),
  allowsAnonymousContributions: z.boolean(),
  cover: MEDIA_USAGE.optional(),
  tags: z.array(TAG),
})

/** A file that is used somewhere. */
export const mediaUsage = z.object({ media: z.object({ id }) })

const submission = {
  name: line,
  id: optional(text.regex(/^[\w-]{1,64}$/, 'must be letters, digits, hyphens and underscores')),
  description: optional(text.max(DESCRIPTION_CHARS_MAX)),
  urlWords: optional(urlWords),
  receiptMessage: optional(text.max(DESCRIPTION_CHARS_MAX)),
  moderator: optional(id),
  starts: optional(moment),
  ends: optional(moment),
  embargo: optional(moment),
  featured: optional(flag),
  mediaRequired: optional(flag),
  allowsAnonymousContributions: optional(flag),
  cover: optional(mediaUsage),
  tags: tagReferences,
}
type Whole = z.output<z.ZodObject<typeof submission>>
type Submission = Partial<Whole> & Pick<Whole, 'name'>

const filters = {
  ownedBy: optional(id),
  q: optional(text.max(1_000)),
  urlWords: optional(text.max(200)),
  open: optional(flag),
  alwaysOpen: optional(flag),
  tag: optional(id),
  name: optional(text.max(1_000)),
}
type Filter = z.output<z.ZodObject<typeof filters>>

export const operations = [
  operation({
    name: 'assignments',
    rest: get('/assignments', { show: showEach(showAssignment), answer: z.array(ASSIGNMENT) }),
    input: { ...filters, ...pages },
    run: async (input, ctx) => listed(await findAssignments(input, ctx)),
  }),
  operation({
    name: 'createAssignment',
    rest: post('/assignments', { show: showAssignment, answer: ASSIGNMENT }),
    refuses: { 400: 'The assignment is not valid; the body says why.', 500: 'The service failed.' },
    needs: FULL,
    input: submission,
    run: createAssignment,
  }),
  operation({
    name: 'assignment',
    rest: get('/assignments/{id}', { show: showAssignment, answer: ASSIGNMENT }),
    refuses: { 404: 'There is no such assignment.' },
    input: { id },
    async run({ id }, ctx) {
      const assignment = await load(ctx, assignments, id)
      if (!assignment) throw missing('assignment', id)
      return assignment
    },
  }),
  operation({
    name: 'deleteAssignment',
    rest: del('/assignments/{id}'),
    refuses: { 403: 'It is not yours.', 404: 'There is no such assignment.' },
    needs: FULL,
    input: { id },
    run: deleteAssignment,
  }),
]

export const entities = {
  Assignment: ({ id }: { id: string }, ctx: Context) => load(ctx, assignments, id),
}

export const fields = {
  Assignment: {
    open: (assignment: Assignment, _args: unknown, ctx: Context) => isOpen(assignment, ctx),
    owner: ({ owner }: Assignment) => ({ __typename: 'User', id: owner }),
    moderator: (assignment: Assignment, _args: unknown, ctx: Context) =>
      isInJurisdiction(assignment, ctx.caller) ? assignment.moderator : null,
    cover: ({ cover }: Assignment, _args: unknown, ctx: Context) =>
      cover === undefined ? null : load(ctx, mediaFiles, cover),
    tags: ({ tags }: Assignment, _args: unknown, ctx: Context) => loadTags(tags, ctx),
    contributions: (assignment: Assignment, args: any, ctx: Context) =>
      connectScope(
        { assignment: assignment.id, seesAll: isInJurisdiction(assignment, ctx.caller) },
        args,
        ctx,
      ),
  },
  User: {
    assignments: ({ id }: { id: string }, args: any, ctx: Context) =>
      connect(ctx, assignments, { ...args, where: { owner: id }, descending: true }),
  },
}

const isOpen = ({ ends }: Assignment, { clock }: Context): boolean =>
  ends === undefined || Date.parse(ends) > clock.now().getTime()

/** An assignment as REST shows it. */
export async function showAssignment(assignment: Assignment, ctx: Context) {
  const { owner: _owner, moderator, cover, tags, fundraiser: _fundraiser, ...shown } = assignment
  const file = cover === undefined ? undefined : await load(ctx, mediaFiles, cover)
  return {
    ...shown,
    open: isOpen(assignment, ctx),
    ...(moderator !== undefined && isInJurisdiction(assignment, ctx.caller) && { moderator }),
    ...(file && { cover: await showUsage(file, ctx) }),
    tags: await Promise.all((await loadTags(tags, ctx)).map((tag) => showTag(tag, ctx))),
  }
}

export async function createAssignment(sent: Submission, ctx: Context): Promise<Assignment> {
  const owner = personOf(ctx)
  const { cover, tags, name, ...others } = sent
  checkSpan(sent)
  return ctx.store.transaction(async (tx) => {
    const id = sent.id ?? ctx.newId()
    await meet(tx, ctx)
    const assignment: Assignment = {
      ...others,
      id,
      owner,
      name,
      urlWords: sent.urlWords ?? (urlWordsOf(name) || id),
      created: ctx.clock.now().toISOString(),
      featured: sent.featured ?? false,
      mediaRequired: sent.mediaRequired ?? false,
      allowsAnonymousContributions: sent.allowsAnonymousContributions ?? false,
      ...(cover && { cover: cover.media.id }),
      tags: await readTags(tags, tx),
    }
    if (!(await tx.insert(assignments, assignment))) {
      throw invalidField('id', 'is that of another assignment')
    }
    if (cover) await useMedia(tx, [cover.media.id], { assignment: id }, ctx)
    await addAssignmentLine(tx, assignment)
    await ctx.events.announce(tx, {
      type: 'contributions.assignment.created',
      subject: id,
      body: { id },
    })
    await logChange(tx, ctx, { owner, title: `Assignment ${name} was created` })
    return assignment
  })
}

function checkSpan({ starts, ends }: Submission): void {
  if (starts !== undefined && ends !== undefined && ends <= starts) {
    throw invalidField('ends', 'must be later than starts')
  }
}

const placeOf = ({ id, created }: Assignment) => ({ id, created_ms: Date.parse(created) })

async function addAssignmentLine(tx: Records, assignment: Assignment): Promise<void> {
  const { id, owner, name, urlWords, ends } = assignment
  await tx.sql(
    `INSERT INTO assignment_line (id, created_ms, owner, name, url_words, ends_ms)
     VALUES (?, ?, ?, ?, ?, ?)`,
    [
      id,
      placeOf(assignment).created_ms,
      owner,
      name,
      urlWords,
      ends === undefined ? null : Date.parse(ends),
    ],
  )
  await addTerms(tx, placeOf(assignment), termsOf(assignment))
}

const wordTerm = (word: string) => `assignment word ${word}`
const tagTerm = (tag: string) => `assignment tag ${tag}`

function termsOf({ name, description, tags }: Assignment): string[] {
  const words = new Set(wordsOf(`${name} ${description ?? ''}`))
  return [...[...words].slice(0, WORDS_MAX).map(wordTerm), ...tags.map(tagTerm)]
}

/** Takes an assignment away at once, and what was contributed to it in the background. */
async function deleteAssignment({ id }: { id: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const assignment = await tx.get(assignments, id)
    if (!assignment) throw missing('assignment', id)
    const { owner, name, cover } = assignment
    // Chosen: an appointed moderator decides about contributions, and not about the assignment.
    if (owner !== ctx.caller.userId && !ctx.caller.isAdmin) {
      throw Forbidden('Only the owner of an assignment deletes it.')
    }
    await tx.remove(assignments, id)
    await tx.sql('DELETE FROM assignment_line WHERE id = ?', [id])
    await dropTerms(tx, placeOf(assignment), termsOf(assignment))
    if (cover !== undefined) await removeMedia(tx, cover, ctx)
    await ctx.work.later(tx, 0, CONTRIBUTIONS_STEP, { assignment: id })
    await ctx.events.announce(tx, {
      type: 'contributions.assignment.deleted',
      subject: id,
      body: { id },
    })
    await logChange(tx, ctx, { owner, title: `Assignment ${name} was deleted` })
  })
  return reply(200)
}

/** Assignments by what is said of them, newest first. */
async function findAssignments(filter: Filter & Pages, ctx: Context): Promise<Listed<Assignment>> {
  const { ownedBy, q, urlWords, open, alwaysOpen, tag, name } = filter
  const nowMs = ctx.clock.now().getTime()
  const hasTerm = `EXISTS (SELECT 1 FROM term AS t
    WHERE t.term = ? AND t.created_ms = a.created_ms AND t.id = a.id)`
  const searched = q === undefined ? [] : [...new Set(wordsOf(q))].slice(0, QUERY_WORDS_MAX)
  const asked: [condition: string, ...values: SqlValue[]][] = [
    ...(ownedBy === undefined ? [] : [['a.owner = ?', ownedBy] as [string, string]]),
    ...(urlWords === undefined ? [] : [['a.url_words = ?', urlWords] as [string, string]]),
    ...(name === undefined ? [] : [['a.name = ?', name] as [string, string]]),
    ...(tag === undefined ? [] : [[hasTerm, tagTerm(tag)] as [string, string]]),
    ...searched.map((word): [string, string] => [hasTerm, wordTerm(word)]),
    ...(q !== undefined && searched.length === 0 ? [['1 = 0'] as [string]] : []),
    ...(open === undefined ? [] : [openness(open, nowMs)]),
    ...(alwaysOpen === undefined
      ? []
      : [[`a.ends_ms IS ${alwaysOpen ? '' : 'NOT '}NULL`] as [string]]),
  ]
  const conditions = asked.map(([condition]) => `(${condition})`).join(' AND ') || '1 = 1'
  const values = asked.flatMap(([, ...values]) => values)
  const { offset, limit } = sliceOf(filter)
  const from = `FROM assignment_line AS a WHERE ${conditions}`
  const rows = await ctx.store.sql(
    `SELECT a.id AS id ${from} ORDER BY a.created_ms DESC, a.id DESC LIMIT ? OFFSET ?`,
    [...values, limit, offset],
  )
  const [counted] = await ctx.store.sql(`SELECT count(*) AS total ${from}`, values)
  const found = await ctx.store.getMany(
    assignments,
    rows.map((row) => row['id'] as string),
  )
  return { items: found.filter((one) => one !== undefined), total: Number(counted!['total']) }
}

const openness = (isOpen: boolean, nowMs: number): [string, number] =>
  isOpen ? ['a.ends_ms IS NULL OR a.ends_ms > ?', nowMs] : ['a.ends_ms <= ?', nowMs]
