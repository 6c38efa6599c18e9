// Attachments: files of an account, for its owner alone. Specification 2, service B.
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, post } from '../kernel/operation.ts'
import { kind, numberOf, type Records } from '../kernel/store.ts'
import { needAccount } from './accounts.ts'
import { BadRequest, LimitExceeded, NoSuch } from './errors.ts'
import { readImage } from './images.ts'
import { nextId } from './numbers.ts'
import { once } from './once.ts'
import {
  ACCOUNT,
  idShape,
  itemId,
  momentOf,
  moments,
  ofAccount,
  ofUser,
  showId,
  USER,
} from './shapes.ts'
import {
  attachmentShape,
  descriptionOf,
  digested,
  readContent,
  showBytes,
  uploadInput,
  uploadRefuses,
  uploadRoute,
  viewAttachment,
  type KeptFile,
  type Upload,
} from './uploads.ts'
import { needUser } from './users.ts'

const ATTACHMENTS_MAX = 1000

export interface Attachment extends KeptFile {
  readonly user_id: number
  readonly monetary_account_id: number
}

export const attachments = kind<Attachment>('attachment', {
  key: ({ id }) => String(id),
  columns: { account: numberOf(({ monetary_account_id }) => monetary_account_id) },
  indexes: [['account']],
})
export const kinds = [attachments]

const MANY = `${ACCOUNT}/attachment`
const ONE = `${USER}/attachment/{itemId}`
const content = { isBeyond: true, show: showBytes }

export const operations = [
  operation({
    name: 'createBankAttachment',
    rest: post(MANY, { ...uploadRoute, show: showId, answer: idShape }),
    input: { ...ofAccount, ...uploadInput },
    refuses: uploadRefuses,
    run: createAttachment,
  }),
  operation({
    name: 'bankAttachment',
    rest: get(ONE, {
      show: ({ id, created, updated, attachment }) => ({ id, created, updated, attachment }),
      answer: z.object({
        id: z.int(),
        created: z.string(),
        updated: z.string(),
        attachment: attachmentShape,
      }),
    }),
    input: { ...ofUser, itemId },
    run: async ({ userId, itemId }, ctx) => view(ctx, await needAttachment(ctx, userId, itemId)),
  }),
  operation({
    name: 'bankAttachmentContent',
    rest: get(`${ONE}/content`, content),
    input: { ...ofUser, itemId },
    async run({ userId, itemId }, ctx) {
      const found = await needAttachment(ctx, userId, itemId)
      return readContent(ctx, found, blobOf(itemId))
    },
  }),
  operation({
    name: 'monetaryAccountAttachmentContent',
    rest: get(`${MANY}/{itemId}/content`, content),
    input: { ...ofAccount, itemId },
    async run({ userId, monetaryAccountId, itemId }, ctx) {
      await needAccount(ctx, userId, monetaryAccountId)
      const found = await needAttachment(ctx, userId, itemId)
      if (found.monetary_account_id !== monetaryAccountId) throw NoSuch('attachment', itemId)
      return readContent(ctx, found, blobOf(itemId))
    },
  }),
]

export const fields = { BankAttachment: moments('created', 'updated') }

const blobOf = (id: number): string => `attachment/${id}`

const view = (ctx: Context, found: Attachment) => ({
  ...found,
  attachment: viewAttachment(ctx, found, `/user/${found.user_id}/attachment/${found.id}/content`),
})

async function needAttachment(
  ctx: Context,
  userId: number,
  id: number,
  from: Records = ctx.store,
): Promise<Attachment> {
  await needUser(ctx, userId, from)
  const found = await from.get(attachments, String(id))
  if (found?.user_id !== userId) throw NoSuch('attachment', id)
  return found
}

async function createAttachment(
  input: { userId: number; monetaryAccountId: number } & Upload,
  ctx: Context,
) {
  const { userId, monetaryAccountId, content } = input
  await needAccount(ctx, userId, monetaryAccountId)
  const image = await readImage(content, input['Content-Type'])
  const made = await ctx.store.transaction(async (tx) => {
    const account = await needAccount(ctx, userId, monetaryAccountId, tx)
    return once(
      ctx,
      tx,
      { name: 'createBankAttachment', input: digested(input) },
      {
        async make() {
          const count = await tx.count(attachments, { where: { account: account.id } })
          if (count >= ATTACHMENTS_MAX) {
            throw LimitExceeded(`An account has at most ${ATTACHMENTS_MAX} attachments.`)
          }
          const id = await nextId(tx, 'attachment')
          const now = momentOf(ctx.clock.now())
          const attachment: Attachment = {
            id,
            user_id: userId,
            monetary_account_id: account.id,
            created: now,
            updated: now,
            description: descriptionOf(ctx, input),
            size_bytes: content.length,
            ...image,
          }
          await tx.insert(attachments, attachment)
          await ctx.blobs.write(tx, blobOf(id), content)
          await ctx.events.announce(tx, {
            type: 'banking.attachment.created',
            subject: String(id),
            body: { user_id: userId, monetary_account_id: account.id },
          })
          return attachment
        },
        recall: (id) => needAttachment(ctx, userId, id, tx),
      },
    )
  })
  return view(ctx, made)
}

/** The attachments of an account that a payment names. Refuses any other. */
export async function attachmentsOf(
  tx: Records,
  accountId: number,
  named: readonly { id: number }[],
): Promise<{ id: number; monetary_account_id: number }[]> {
  const found = await tx.getMany(
    attachments,
    named.map(({ id }) => String(id)),
  )
  return found.map((attachment, i) => {
    if (attachment?.monetary_account_id === accountId) {
      return { id: attachment.id, monetary_account_id: accountId }
    }
    throw BadRequest(`attachment: there is no attachment ${named[i]!.id} of this account.`)
  })
}
