// Who asks, and what there is to ask about: credentials, scopes, event types. Specification 1,
// service S2.
import { z } from 'zod'
import { isPermitted, type Context } from '../kernel/context.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { FULL, personOf, SCOPES } from './access.ts'
import { CONTRIBUTOR, meet, showContributor, type Contributor } from './contributors.ts'
import { MESSAGE_TYPES } from './messages.ts'

/** What this service announces, by id. */
const EVENT_TYPES: Readonly<Record<string, string>> = {
  'assignment.created': 'An assignment was created',
  'assignment.deleted': 'An assignment was deleted',
  'contribution.created': 'A contribution was made',
  'contribution.moderated': 'A moderator decided about a contribution',
  'contribution.published': 'A contribution became public',
  'contribution.rejected': 'A contribution was rejected',
  'contribution.flagged': 'A contribution was flagged',
  'contribution.liked': 'A contribution was liked',
  'contribution.deleted': 'A contribution was deleted',
  'contributor.registered': 'A person acted here for the first time',
  'contributor.changed': 'A person said something else of themselves',
  'export.created': 'An export was begun',
  'export.finished': 'An export is ready',
  'form.created': 'A form was created',
  'form.deleted': 'A form was deleted',
  'formresponse.created': 'Someone answered a form',
  'media.created': 'A file was uploaded',
  'media.ready': 'The public copies of a file are ready',
  'media.deleted': 'A file was deleted',
  'subscription.created': 'A subscription was made',
  'subscription.deleted': 'A subscription was deleted',
  'tag.created': 'A tag was created',
  'tagset.created': 'A tag set was created',
}

const NAMED = z.array(z.object({ id: z.string(), name: z.string() }))
const AUTHORITY = z.object({ id: z.string(), user: CONTRIBUTOR })

export const operations = [
  operation({
    name: 'contributionScopes',
    rest: get('/scopes', { answer: z.array(z.string()) }),
    input: {},
    run: async () => SCOPES,
  }),
  operation({
    name: 'contributionCredentials',
    rest: get('/credentials', {
      answer: z.array(
        z.object({
          type: z.string(),
          value: z.string(),
          user: z.string(),
          scopes: z.array(z.string()),
        }),
      ),
    }),
    refuses: { 401: 'The request is not correctly authorised.' },
    input: {},
    run: async (_input, ctx) => [credentialOf(ctx)],
  }),
  operation({
    name: 'contributionEventTypes',
    rest: get('/event-types', { answer: NAMED }),
    input: {},
    run: async () => Object.entries(EVENT_TYPES).map(([id, name]) => ({ id, name })),
  }),
  operation({
    name: 'contributionSubscriptionTypes',
    rest: get('/subscription-types', { answer: NAMED }),
    input: {},
    run: async () => Object.entries(MESSAGE_TYPES).map(([id, { name }]) => ({ id, name })),
  }),
  operation({
    name: 'verifyContributor',
    rest: post('/verify', {
      show: ({ id, user }: { id: string; user: Contributor }) => ({
        id,
        user: showContributor(user),
      }),
      answer: AUTHORITY,
    }),
    needs: FULL,
    input: {},
    async run(_input, ctx) {
      const user = await ctx.store.transaction((tx) => meet(tx, ctx))
      return { id: ctx.caller.credentialId, user }
    },
  }),
]

/** Chosen: the credential that was shown; identity lists the others of a person. */
const credentialOf = (ctx: Context) => ({
  type: 'bearer',
  value: ctx.caller.credentialId,
  user: personOf(ctx),
  scopes: SCOPES.filter((scope) => isPermitted(ctx.caller, scope)),
})

export const fields = {
  ContributionCredential: {
    user: ({ user }: { user: string }) => ({ __typename: 'User', id: user }),
  },
}
