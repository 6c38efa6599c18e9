// Call rules: how calls to which numbers end, since no telephone network is behind us.
// Of the graph alone.
import { accountOf } from '../families/aws.ts'
import { operation, reply } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { oneOf, text } from '../kernel/shape.ts'
import { kind, type Records } from '../kernel/store.ts'
import { BadRequest, LimitExceeded, NotFound } from './errors.ts'

const CALL_RULES_MAX = 100
const DIGITS_MAX = 15
const PATTERN = /^\+([1-9]\d{0,14}|[1-9]\d{0,13}\*|\*)$/

export const OUTCOMES = ['ANSWERED', 'BUSY', 'NO_ANSWER', 'FAILED'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface CallRule {
  readonly Account: string
  /** A number, or how it begins: `+1206555*`. */
  readonly Pattern: string
  readonly Outcome: Outcome
}

export const callRules = kind<CallRule>('voice_call_rule', {
  key: ({ Account, Pattern }) => `${Account}/${Pattern}`,
})
export const kinds = [callRules]

export const operations = [
  operation({
    name: 'putVoiceCallRule',
    input: { Pattern: text, Outcome: oneOf(OUTCOMES) },
    needs: 'sms-voice:PutCallRule',
    async run({ Pattern, Outcome }, ctx) {
      if (!PATTERN.test(Pattern)) {
        throw BadRequest('Pattern must be a number such as +12065550142, or its beginning and *.')
      }
      const rule: CallRule = { Account: accountOf(ctx), Pattern, Outcome }
      await ctx.store.transaction(async (tx) => {
        await tx.save(callRules, rule)
        if ((await tx.count(callRules, { prefix: `${rule.Account}/` })) > CALL_RULES_MAX) {
          throw LimitExceeded(`An account has at most ${CALL_RULES_MAX} call rules.`)
        }
      })
      return rule
    },
  }),
  operation({
    name: 'deleteVoiceCallRule',
    input: { Pattern: text },
    needs: 'sms-voice:DeleteCallRule',
    async run({ Pattern }, ctx) {
      const isRemoved = await ctx.store.remove(callRules, `${accountOf(ctx)}/${Pattern}`)
      if (!isRemoved) throw NotFound(`There is no call rule for ${Pattern}.`)
      return reply(200)
    },
  }),
  operation({
    name: 'voiceCallRules',
    input: paging,
    needs: 'sms-voice:ListCallRules',
    run: ({ first, after }, ctx) =>
      connect(ctx, callRules, { first, after, prefix: `${accountOf(ctx)}/` }),
  }),
]

/**
 * How a call to this number ends. The rule that names most of the number decides.
 * Chosen: a call is answered unless a rule says otherwise.
 */
export async function outcomeOf(
  tx: Records,
  { Account, DestinationPhoneNumber }: { Account: string; DestinationPhoneNumber: string },
): Promise<Outcome> {
  const digits = DestinationPhoneNumber.slice(1)
  const beginnings = Array.from({ length: DIGITS_MAX }, (_, i) => DIGITS_MAX - 1 - i)
    .filter((length) => length < digits.length)
    .map((length) => `+${digits.slice(0, length)}*`)
  const keys = [DestinationPhoneNumber, ...beginnings].map((pattern) => `${Account}/${pattern}`)
  const found = await tx.getMany(callRules, keys)
  return found.find((rule) => rule !== undefined)?.Outcome ?? 'ANSWERED'
}
