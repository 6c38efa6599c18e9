// Forms: typed questions that go with contributions, or stand alone. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { load } from '../kernel/load.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { flag, oneOf, optional, text } from '../kernel/shape.ts'
import { FULL, personOf } from './access.ts'
import { logChange } from './change-log.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { forms, type Form, type FormField } from './form-records.ts'
import { listed, listPage, showEach } from './lists.ts'
import { RESPONSES_STEP } from './removals.ts'
import { id, line, pages, webAddress } from './shapes.ts'
import { loadTags, readTags, showTag, TAG, tagReferences } from './tags.ts'

const OWNED_MAX = 1_000
const FIELDS_MAX = 100
const OPTIONS_MAX = 200
const HAS_OPTIONS: ReadonlySet<string> = new Set(['select', 'radio'])

const words = z.string().optional()
const FORM = z.object({
  id: z.string(),
  name: z.string(),
  heading: words,
  callToAction: words,
  cssUrl: words,
  ownedBy: z.string(),
  noCss: z.boolean(),
  fields: z.array(z.looseObject({ name: z.string(), type: z.string() })),
  tags: z.array(TAG),
})

const field = z.object({
  name: text.regex(/^[\w.-]{1,100}$/, 'must be letters, digits, dots, hyphens and underscores'),
  label: optional(line),
  description: optional(text.max(2_000)),
  type: optional(oneOf(['input', 'textarea', 'select', 'radio', 'checkbox', 'media', 'location'])),
  options: optional(z.array(line).max(OPTIONS_MAX)),
  required: optional(flag),
  public: optional(flag),
  placeholder: optional(line),
  validator: optional(oneOf(['email'])),
})

const submission = {
  name: line,
  heading: optional(line),
  callToAction: optional(line),
  cssUrl: optional(webAddress),
  noCss: optional(flag),
  fields: optional(z.array(field).max(FIELDS_MAX)),
  tags: tagReferences,
}
type Whole = z.output<z.ZodObject<typeof submission>>
type FieldSubmission = Partial<z.output<typeof field>> & Pick<z.output<typeof field>, 'name'>
interface Submission extends Partial<Omit<Whole, 'name' | 'fields'>> {
  readonly name: string
  readonly fields?: readonly FieldSubmission[] | undefined
}

export const operations = [
  operation({
    name: 'forms',
    rest: get('/forms', { show: showEach(showForm), answer: z.array(FORM) }),
    input: { ownedBy: id, ...pages },
    run: async ({ ownedBy, ...page }, ctx) =>
      listed(await listPage(ctx, forms, { where: { ownedBy } }, page)),
  }),
  operation({
    name: 'createForm',
    rest: post('/forms', { show: showForm, answer: FORM }),
    needs: FULL,
    input: submission,
    run: createForm,
  }),
  operation({
    name: 'form',
    rest: get('/forms/{id}', { show: showForm, answer: FORM }),
    refuses: { 404: 'There is no such form.' },
    input: { id },
    run: ({ id }, ctx) => readForm(id, ctx),
  }),
  operation({
    name: 'deleteForm',
    rest: del('/forms/{id}'),
    refuses: { 403: 'It is not yours.', 404: 'There is no such form.' },
    needs: FULL,
    input: { id },
    run: deleteForm,
  }),
]

export const entities = {
  Form: ({ id }: { id: string }, ctx: Context) => load(ctx, forms, id),
}

export const fields = {
  Form: {
    tags: ({ tags }: Form, _args: unknown, ctx: Context) => loadTags(tags, ctx),
    owner: ({ ownedBy }: Form) => ({ __typename: 'User', id: ownedBy }),
  },
}

async function readForm(id: string, ctx: Context): Promise<Form> {
  const form = await load(ctx, forms, id)
  if (!form) throw missing('form', id)
  return form
}

/** A form as REST shows it. */
async function showForm(form: Form, ctx: Context) {
  const tags = await loadTags(form.tags, ctx)
  return { ...form, tags: await Promise.all(tags.map((tag) => showTag(tag, ctx))) }
}

export async function createForm(sent: Submission, ctx: Context): Promise<Form> {
  const ownedBy = personOf(ctx)
  const { fields, tags, ...others } = sent
  const id = ctx.newId()
  const asked = (fields ?? []).map(completeField)
  const names = asked.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw invalidField('fields', `name ${twice} twice`)
  return ctx.store.transaction(async (tx) => {
    if ((await tx.count(forms, { where: { ownedBy } })) >= OWNED_MAX) {
      throw invalidField('name', `is one too many: a person has at most ${OWNED_MAX} forms`)
    }
    const form: Form = {
      ...others,
      id,
      ownedBy,
      noCss: sent.noCss ?? false,
      fields: asked,
      tags: await readTags(tags, tx),
    }
    await meet(tx, ctx)
    await tx.insert(forms, form)
    await ctx.events.announce(tx, { type: 'contributions.form.created', subject: id, body: { id } })
    await logChange(tx, ctx, { owner: ownedBy, title: `Form ${form.name} was created` })
    return form
  })
}

function completeField(sent: FieldSubmission, at: number): FormField {
  const { type = 'input', options, required = false, public: isPublic = false, ...others } = sent
  if (HAS_OPTIONS.has(type) !== (options !== undefined && options.length > 0)) {
    throw invalidField(
      `fields.${at}.options`,
      HAS_OPTIONS.has(type) ? `must be given for a ${type}` : `do not go with a ${type}`,
    )
  }
  if (others.validator !== undefined && type !== 'input') {
    throw invalidField(`fields.${at}.validator`, `does not go with a ${type}`)
  }
  return {
    ...others,
    type,
    ...(options && { options: [...new Set(options)] }),
    required,
    public: isPublic,
  }
}

/** A form is gone at once, and its responses in the background. */
async function deleteForm({ id }: { id: string }, ctx: Context) {
  await ctx.store.transaction(async (tx) => {
    const form = await tx.get(forms, id)
    if (!form) throw missing('form', id)
    if (form.ownedBy !== ctx.caller.userId && !ctx.caller.isAdmin) {
      throw Forbidden('Only the owner of a form deletes it.')
    }
    await tx.remove(forms, id)
    await ctx.work.later(tx, 0, RESPONSES_STEP, { form: id })
    await ctx.events.announce(tx, { type: 'contributions.form.deleted', subject: id, body: { id } })
    await logChange(tx, ctx, { owner: form.ownedBy, title: `Form ${form.name} was deleted` })
  })
  return reply(200)
}
