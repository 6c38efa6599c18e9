// The words and shapes that the bank's resources share. Specification 2, service B.
import { z } from 'zod'
import { optional, text, whole } from '../kernel/shape.ts'
import { BadRequest } from './errors.ts'

const ID_MAX = 2 ** 53 - 1
export const DESCRIPTION_MAX = 9000

/** An id, in a path or as the graph spells it. */
export const itemId = whole.refine(
  (id) => id > 0 && id <= ID_MAX,
  'must be a positive whole number',
)
// Chosen: path variables are spelled as the graph spells arguments; monetary-accountID is no name there.
export const ofUser = { userId: itemId }
export const ofAccount = { ...ofUser, monetaryAccountId: itemId }

export const USER = '/user/{userId}'
export const ACCOUNT = `${USER}/monetary-account/{monetaryAccountId}`

/** A request that carries an id of its own can be repeated and is done once. */
export const onceInput = { 'X-Vendor-Client-Request-Id': optional(text.min(1).max(255)) }
export const onceHeaders = ['X-Vendor-Client-Request-Id'] as const

export const description = text.max(DESCRIPTION_MAX)

/** What of a result a create and an update show. */
export const showId = ({ id }: { id: number }) => ({ id })
export const showIdWrapper = ({ id }: { id: number }) => ({ Id: { id } })
export const idShape = z.object({ id: z.int() })
export const idWrapperShape = z.object({ Id: idShape })

export interface Pointer {
  readonly type: 'EMAIL' | 'PHONE_NUMBER' | 'IBAN' | 'URL'
  readonly value: string
  readonly name: string | null
  readonly service: string | null
}

export const pointer = z.object({
  type: z.enum(['EMAIL', 'PHONE_NUMBER', 'IBAN', 'URL']),
  value: text.min(1).max(500),
  name: optional(text.max(200)),
  service: optional(text.max(100)),
})
export type SentPointer = z.output<typeof pointer>

export const pointerOf = (
  type: Pointer['type'],
  value: string,
  name: string | null = null,
): Pointer => ({ type, value, name, service: null })

export const pointerShape = z.object({
  type: z.string(),
  value: z.string(),
  name: z.string().nullable(),
  service: z.string().nullable(),
})

/** An account as others see it. Chosen: avatar and label_user are the uuids of what they name. */
export interface AccountLabel {
  readonly iban: string | null
  readonly display_name: string
  readonly avatar: string | null
  readonly label_user: string | null
  readonly country: string | null
  readonly vendor_me: Pointer | null
  readonly is_light: boolean
  readonly swift_bic: string | null
  readonly swift_account_number: string | null
  readonly transferprovider_account_number: string | null
  readonly transferprovider_bank_code: string | null
  readonly merchant_category_code: string | null
}

const NO_LABEL: AccountLabel = {
  iban: null,
  display_name: '',
  avatar: null,
  label_user: null,
  country: null,
  vendor_me: null,
  is_light: false,
  swift_bic: null,
  swift_account_number: null,
  transferprovider_account_number: null,
  transferprovider_bank_code: null,
  merchant_category_code: null,
}
/** A label of which only some is known. */
export const accountLabelOf = (known: Partial<AccountLabel>): AccountLabel => ({
  ...NO_LABEL,
  ...known,
})

const textOrNull = z.string().nullable()
export const accountLabelShape = z.object({
  iban: textOrNull,
  display_name: z.string(),
  avatar: textOrNull,
  label_user: textOrNull,
  country: textOrNull,
  vendor_me: pointerShape.nullable(),
  is_light: z.boolean(),
  swift_bic: textOrNull,
  swift_account_number: textOrNull,
  transferprovider_account_number: textOrNull,
  transferprovider_bank_code: textOrNull,
  merchant_category_code: textOrNull,
})

/** A moment as the interface writes it: UTC, with six decimals and without a zone. */
export const momentOf = (time: Date | number): string =>
  `${new Date(time).toISOString().slice(0, 23).replace('T', ' ')}000`

/** The day of a moment. */
export const dayOf = (time: Date | number): string => new Date(time).toISOString().slice(0, 10)

const MOMENT = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?)?(?:Z|\+00:?00)?$/

/** Reads a moment as clients write it, with or without decimals and zone; or says what is wrong. */
export function readMoment(sent: string, field: string): number {
  const [, day, time = '00:00:00', decimals = ''] = MOMENT.exec(sent) ?? []
  const ms = day ? Date.parse(`${day}T${time}.${decimals.slice(0, 3).padEnd(3, '0')}Z`) : NaN
  if (Number.isNaN(ms)) {
    throw BadRequest(`${field} must be a moment in UTC, such as 2030-01-31 12:00:00.`)
  }
  return ms
}

/** The same moment as the graph writes it. */
export const isoOf = (moment: string): string => `${moment.slice(0, 23).replace(' ', 'T')}Z`

/** Resolvers for fields of the graph that are moments. */
export const moments = (...names: string[]) =>
  Object.fromEntries(
    names.map((name) => [
      name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase()),
      (parent: Record<string, string | null>) => (parent[name] ? isoOf(parent[name]) : null),
    ]),
  )

/** Where a browser is sent, or asked about: an address of the web without credentials in it. */
export function readUrl(sent: string, field: string): string {
  const url = URL.parse(sent)
  const isGood = url && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!isGood || sent.length > 2000) throw BadRequest(`${field} must be an http or https address.`)
  return sent
}

const COLOR = /^#[0-9A-Fa-f]{6}$/
export function readColor(sent: string, field = 'color'): string {
  if (!COLOR.test(sent)) throw BadRequest(`${field} must be a colour such as #FE2851.`)
  return sent.toUpperCase()
}
