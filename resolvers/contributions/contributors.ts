// Contributors: people as they are known here, by what they chose to say of themselves. Specification
// 1, service S2 (the operations that it counts and does not show).
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind, type Records, type SqlValue } from '../kernel/store.ts'
import { FULL, personOf } from './access.ts'
import { invalidField, missing } from './errors.ts'
import { scopeOf } from './lines.ts'
import { listed, showEach } from './lists.ts'
import { id, line, moment, pages, sliceOf, webAddress, type Listed, type Pages } from './shapes.ts'

const BIO_CHARS_MAX = 2_000
const LINKS_MAX = 20

export interface Contributor {
  readonly id: string
  readonly username: string
  readonly displayName?: string | undefined
  readonly bio?: string | undefined
  readonly registered: string
}

/** How a person is known elsewhere, as that person says. */
export interface LinkedProfile {
  readonly user: string
  readonly type: string
  readonly id: string
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly bio?: string | undefined
  readonly picture?: string | undefined
  readonly profile?: string | undefined
  readonly registered: string
}

export const contributors = kind<Contributor>('contributor', { key: (person) => person.id })
const linkedProfiles = kind<LinkedProfile>('linked_profile', {
  key: ({ user, type }) => `${user}/${type}`,
})
export const kinds = [contributors, linkedProfiles]

const words = z.string().optional()
export const CONTRIBUTOR = z.object({
  id: z.string(),
  username: z.string(),
  displayName: words,
  bio: words,
  registered: z.string(),
})
const LINKED = z.object({
  id: z.string(),
  name: words,
  email: words,
  bio: words,
  picture: words,
  profile: words,
  registered: z.string(),
})
const linkType = text.regex(/^[a-z0-9-]{1,40}$/, 'must be small letters, digits and hyphens')
export const operations = [
  operation({
    name: 'contributors',
    rest: get('/users', { show: showEach(showContributor), answer: z.array(CONTRIBUTOR) }),
    input: {
      assignment: optional(id),
      country: optional(text.regex(/^[A-Za-z]{2}$/, 'must be a code of two letters')),
      minimumContributions: optional(whole),
      linkedProfile: optional(text.max(40)),
      ownedBy: optional(id),
      submittedBefore: optional(moment),
      submittedAfter: optional(moment),
      username: optional(id),
      ...pages,
    },
    run: async (input, ctx) => listed(await findContributors(input, ctx)),
  }),
  operation({
    name: 'contributor',
    rest: get('/users/{id}', { show: showContributor, answer: CONTRIBUTOR }),
    refuses: { 404: 'There is no such user.' },
    input: { id },
    async run({ id }, ctx) {
      const person = await load(ctx, contributors, id)
      if (!person) throw missing('user', id)
      return person
    },
  }),
  operation({
    name: 'linkedProfile',
    rest: get('/users/{id}/linked/{type}', {
      show: ({ user: _user, type: _type, ...shown }: LinkedProfile) => shown,
      answer: LINKED,
    }),
    refuses: { 404: 'There is no such profile.' },
    input: { id, type: text.max(40) },
    async run({ id, type }, ctx) {
      const profile = await ctx.store.get(linkedProfiles, `${id}/${type}`)
      if (!profile) throw missing(`${type} profile of the user`, id)
      const { email, ...shown } = profile
      // Chosen: an address for mail is nobody else's business.
      return { ...shown, ...(id === ctx.caller.userId && email !== undefined && { email }) }
    },
  }),
  operation({
    name: 'updateContributor',
    needs: FULL,
    input: {
      username: optional(line),
      displayName: optional(line),
      bio: optional(text.max(BIO_CHARS_MAX)),
    },
    run: updateContributor,
  }),
  operation({
    name: 'linkProfile',
    needs: FULL,
    input: {
      type: linkType,
      id,
      name: optional(line),
      email: optional(z.email()),
      bio: optional(text.max(BIO_CHARS_MAX)),
      picture: optional(webAddress),
      profile: optional(webAddress),
    },
    run: linkProfile,
  }),
]

/** A person as REST shows them. */
export function showContributor({ id, username, displayName, bio, registered }: Contributor) {
  return {
    id,
    username,
    ...(displayName !== undefined && { displayName }),
    ...(bio !== undefined && { bio }),
    registered,
  }
}

/** Remembers the caller from their first act on. Chosen: the id is the first user name. */
export async function meet(tx: Records, ctx: Context): Promise<Contributor> {
  const id = personOf(ctx)
  const known = await tx.get(contributors, id)
  if (known) return known
  const person = { id, username: id, registered: ctx.clock.now().toISOString() }
  await tx.insert(contributors, person)
  await tx.sql('INSERT INTO person (id, username) VALUES (?, ?)', [id, id])
  await ctx.events.announce(tx, {
    type: 'contributions.contributor.registered',
    subject: id,
    body: { id },
  })
  return person
}

async function updateContributor(
  { username, displayName, bio }: Record<'username' | 'displayName' | 'bio', string | undefined>,
  ctx: Context,
): Promise<Contributor> {
  return ctx.store.transaction(async (tx) => {
    const person = await meet(tx, ctx)
    const changed = {
      ...person,
      ...(username !== undefined && { username }),
      ...(displayName !== undefined && { displayName }),
      ...(bio !== undefined && { bio }),
    }
    const [other] = await tx.sql('SELECT id FROM person WHERE username = ? AND id <> ? LIMIT 1', [
      changed.username,
      changed.id,
    ])
    if (other) throw invalidField('username', 'is that of someone else')
    await tx.sql('UPDATE person SET username = ? WHERE id = ?', [changed.username, changed.id])
    await tx.save(contributors, changed)
    await ctx.events.announce(tx, {
      type: 'contributions.contributor.changed',
      subject: changed.id,
      body: { id: changed.id },
    })
    return changed
  })
}

async function linkProfile(
  sent: Omit<LinkedProfile, 'user' | 'registered'>,
  ctx: Context,
): Promise<LinkedProfile> {
  const profile = { ...sent, user: personOf(ctx), registered: ctx.clock.now().toISOString() }
  return ctx.store.transaction(async (tx) => {
    const { user, type } = profile
    await meet(tx, ctx)
    const links = await tx.count(linkedProfiles, { prefix: `${user}/` })
    const isNew = !(await tx.get(linkedProfiles, `${user}/${type}`))
    if (isNew && links >= LINKS_MAX) {
      throw invalidField('type', `is one too many: a person has at most ${LINKS_MAX} profiles`)
    }
    await tx.save(linkedProfiles, profile)
    if (isNew) await tx.sql('INSERT INTO person_link (type, person) VALUES (?, ?)', [type, user])
    await ctx.events.announce(tx, {
      type: 'contributions.contributor.changed',
      subject: user,
      body: { id: user },
    })
    return profile
  })
}

interface ContributorFilter extends Pages {
  readonly assignment?: string | undefined
  readonly country?: string | undefined
  readonly minimumContributions?: number | undefined
  readonly linkedProfile?: string | undefined
  readonly ownedBy?: string | undefined
  readonly submittedBefore?: string | undefined
  readonly submittedAfter?: string | undefined
  readonly username?: string | undefined
}

/** People by what the public sees of their contributions. */
async function findContributors(
  filter: ContributorFilter,
  ctx: Context,
): Promise<Listed<Contributor>> {
  const { username, linkedProfile, minimumContributions } = filter
  const conditions: string[] = []
  const values: SqlValue[] = []
  const add = (condition: string, ...more: SqlValue[]) => {
    conditions.push(condition)
    values.push(...more)
  }
  if (username !== undefined) add('p.username = ?', username)
  if (linkedProfile !== undefined) {
    add('p.id IN (SELECT person FROM person_link WHERE type = ?)', linkedProfile)
  }
  const submitted = submissionsOf(filter)
  if (submitted.conditions.length > 0) {
    const atLeast = minimumContributions ?? 1
    add(
      `p.id IN (SELECT contributor FROM contribution_line WHERE is_public = 1 AND is_anonymous = 0
        AND ${submitted.conditions.join(' AND ')} GROUP BY contributor HAVING count(*) >= ?)`,
      ...submitted.values,
      atLeast,
    )
  } else if (minimumContributions !== undefined) {
    const scope = `'${scopeOf.user('')}' || p.id`
    add(
      `(SELECT t.public_entries FROM contribution_total AS t WHERE t.scope = ${scope}) >= ?`,
      minimumContributions,
    )
  }
  const from = `FROM person AS p ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}`
  const { offset, limit } = sliceOf(filter)
  const rows = await ctx.store.sql(`SELECT p.id AS id ${from} ORDER BY p.id LIMIT ? OFFSET ?`, [
    ...values,
    limit,
    offset,
  ])
  const [counted] = await ctx.store.sql(`SELECT count(*) AS total ${from}`, values)
  const found = await ctx.store.getMany(
    contributors,
    rows.map((row) => row['id'] as string),
  )
  return { items: found.filter((one) => one !== undefined), total: Number(counted!['total']) }
}

function submissionsOf(filter: ContributorFilter): { conditions: string[]; values: SqlValue[] } {
  const { assignment, country, ownedBy, submittedAfter, submittedBefore } = filter
  const asked: [condition: string, value: SqlValue | undefined][] = [
    ['assignment = ?', assignment],
    ['country = ?', country?.toUpperCase()],
    ['owner = ?', ownedBy],
    ['created_ms >= ?', submittedAfter && Date.parse(submittedAfter)],
    ['created_ms < ?', submittedBefore && Date.parse(submittedBefore)],
  ]
  const set = asked.filter(([, value]) => value !== undefined && value !== '')
  return {
    conditions: set.map(([condition]) => condition),
    values: set.map(([, value]) => value as SqlValue),
  }
}
