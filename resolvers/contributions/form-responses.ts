// Responses to forms. They are seen by who answered, by the owner of the form, and by those in whose
// jurisdiction the contribution is that they go with. Specification 1, service S2.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { load } from '../kernel/load.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { connect } from '../kernel/paging.ts'
import { optional, tags as textMap } from '../kernel/shape.ts'
import { FULL, isInJurisdiction, maySee, personOf } from './access.ts'
import { meet } from './contributors.ts'
import { invalidField, missing } from './errors.ts'
import { checkAnswers } from './form-answers.ts'
import { formResponses, forms, type Form, type FormResponse } from './form-records.ts'
import { listed, listPage, showEach } from './lists.ts'
import { contributions, mediaFiles, type Contribution } from './records.ts'
import { id, pages } from './shapes.ts'

const RESPONSE = z.object({
  id: z.string(),
  user: z.string(),
  form: z.string(),
  contribution: z.string().optional(),
  date: z.string(),
  responses: z.record(z.string(), z.string()),
})

export const operations = [
  operation({
    name: 'createFormResponse',
    rest: post('/form-responses', { answer: RESPONSE }),
    needs: FULL,
    input: { form: id, contribution: optional(id), responses: optional(textMap) },
    run: createFormResponse,
  }),
  operation({
    name: 'formResponses',
    rest: get('/form-responses', {
      show: showEach((response: FormResponse) => response),
      answer: z.array(RESPONSE),
    }),
    input: { user: optional(id), form: optional(id), contribution: optional(id), ...pages },
    async run({ user, form, contribution, ...page }, ctx) {
      const where = await visibleWhere({ user, form, contribution }, ctx)
      return listed(
        where ? await listPage(ctx, formResponses, { where }, page) : { items: [], total: 0 },
      )
    },
  }),
  operation({
    name: 'formResponse',
    rest: get('/form-responses/{id}', { answer: RESPONSE }),
    refuses: { 404: 'There is no such response.' },
    input: { id },
    async run({ id }, ctx) {
      const response = await load(ctx, formResponses, id)
      if (!response || !(await maySeeResponse(response, ctx))) throw missing('form response', id)
      return response
    },
  }),
]

export const fields = {
  FormResponse: {
    form: ({ form }: FormResponse, _args: unknown, ctx: Context) => load(ctx, forms, form),
    user: ({ user }: FormResponse) => ({ __typename: 'User', id: user }),
    contribution: async ({ contribution }: FormResponse, _args: unknown, ctx: Context) => {
      const found =
        contribution === undefined ? undefined : await load(ctx, contributions, contribution)
      return maySee(found, ctx) ? found : null
    },
  },
  Form: {
    responses: (form: Form, args: any, ctx: Context) =>
      connect(ctx, formResponses, {
        ...args,
        where: isOwner(form, ctx) ? { form: form.id } : { user: ctx.caller.userId, form: form.id },
        descending: true,
      }),
  },
  Contribution: {
    formResponses: (contribution: Contribution, args: any, ctx: Context) =>
      connect(ctx, formResponses, {
        ...args,
        where: isInJurisdiction(contribution, ctx.caller)
          ? { contribution: contribution.id }
          : { user: ctx.caller.userId, contribution: contribution.id },
        descending: true,
      }),
  },
  User: {
    formResponses: ({ id }: { id: string }, args: any, ctx: Context) =>
      id === ctx.caller.userId || ctx.caller.isAdmin
        ? connect(ctx, formResponses, { ...args, where: { user: id }, descending: true })
        : null,
  },
}

const isOwner = ({ ownedBy }: Form, { caller }: Context): boolean =>
  ownedBy === caller.userId || caller.isAdmin

async function maySeeResponse(response: FormResponse, ctx: Context): Promise<boolean> {
  if (response.user === ctx.caller.userId || ctx.caller.isAdmin) return true
  const form = await load(ctx, forms, response.form)
  if (form && isOwner(form, ctx)) return true
  const { contribution } = response
  const found =
    contribution === undefined ? undefined : await load(ctx, contributions, contribution)
  return found !== undefined && isInJurisdiction(found, ctx.caller)
}

interface Asked {
  readonly user?: string | undefined
  readonly form?: string | undefined
  readonly contribution?: string | undefined
}

/** What was asked for, held to what the caller may see. Undefined when that is nothing. */
async function visibleWhere(
  asked: Asked,
  ctx: Context,
): Promise<Record<string, string> | undefined> {
  const { user, form, contribution } = asked
  const where = {
    ...(user !== undefined && { user }),
    ...(form !== undefined && { form }),
    ...(contribution !== undefined && { contribution }),
  }
  const [ofForm, ofContribution] = await Promise.all([
    form === undefined ? undefined : load(ctx, forms, form),
    contribution === undefined ? undefined : load(ctx, contributions, contribution),
  ])
  const seesAll =
    (ofForm && isOwner(ofForm, ctx)) ||
    (ofContribution && isInJurisdiction(ofContribution, ctx.caller)) ||
    (ctx.caller.isAdmin && Object.keys(where).length > 0)
  if (seesAll) return where
  return user === undefined || user === ctx.caller.userId
    ? { ...where, user: ctx.caller.userId }
    : undefined
}

interface Submission {
  readonly form: string
  readonly contribution?: string | undefined
  readonly responses?: Readonly<Record<string, string>> | undefined
}

export async function createFormResponse(
  { form: formId, contribution, responses = {} }: Submission,
  ctx: Context,
): Promise<FormResponse> {
  const user = personOf(ctx)
  return ctx.store.transaction(async (tx) => {
    const form = await tx.get(forms, formId)
    if (!form) throw invalidField('form', `is ${formId}, which is no form`)
    checkAnswers(form, responses)
    const named = form.fields.filter(({ type, name }) => type === 'media' && responses[name])
    const files = await tx.getMany(
      mediaFiles,
      named.map(({ name }) => responses[name]!),
    )
    const foreign = named.find((_, at) => files[at]?.owner !== user)
    if (foreign) throw invalidField(`responses.${foreign.name}`, 'must name a media file of yours')
    const about = contribution === undefined ? undefined : await tx.get(contributions, contribution)
    if (contribution !== undefined && !maySee(about, ctx)) {
      throw invalidField('contribution', `is ${contribution}, which is no contribution`)
    }
    const response: FormResponse = {
      id: ctx.newId(),
      user,
      form: formId,
      ...(contribution !== undefined && { contribution }),
      date: ctx.clock.now().toISOString(),
      responses,
    }
    await meet(tx, ctx)
    await tx.insert(formResponses, response)
    await ctx.events.announce(tx, {
      type: 'contributions.formresponse.created',
      subject: response.id,
      body: { id: response.id, form: formId },
    })
    return response
  })
}
