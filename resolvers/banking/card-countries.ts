// Countries in which a card may be used, and until when. Specification 2, service B.
import { z } from 'zod'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import type { Card, CountryPermission } from './card-records.ts'
import { BadRequest } from './errors.ts'
import { nextId } from './numbers.ts'
import { itemId, readMoment } from './shapes.ts'

/** ISO 3166-1. */
const COUNTRIES = new Set(
  `
  AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ
  BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM
  DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS
  GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
  KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ
  MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM
  PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV
  SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
  VN VU WF WS YE YT ZA ZM ZW
`
    .trim()
    .split(/\s+/),
)

export const permissions = z
  .array(
    z.object({
      country: text.max(2),
      expiry_time: optional(text.max(40)),
      id: optional(itemId),
    }),
  )
  .max(COUNTRIES.size)
export type SentPermissions = z.output<typeof permissions>

export function readCountry(sent: string, field: string): string {
  if (COUNTRIES.has(sent)) return sent
  throw BadRequest(`${field} must be a country of ISO 3166-1, such as NL.`)
}

/** The permissions that a card has from now on: those that were sent, and no others. */
export async function readPermissions(
  tx: Records,
  { country_permission: before }: Pick<Card, 'country_permission'>,
  { sent, nowMs }: { sent: SentPermissions; nowMs: number },
): Promise<CountryPermission[]> {
  const after: CountryPermission[] = []
  for (const { id, country: code, expiry_time } of sent) {
    const country = readCountry(code, 'country_permission.country')
    if (after.some((other) => other.country === country)) {
      throw BadRequest(`country_permission names ${country} twice.`)
    }
    if (id !== undefined && !before.some((other) => other.id === id)) {
      throw BadRequest(`country_permission: the card has no permission ${id}.`)
    }
    const field = 'country_permission.expiry_time'
    const expiresMs = expiry_time === undefined ? null : readMoment(expiry_time, field)
    if (expiresMs !== null && expiresMs <= nowMs)
      throw BadRequest(`${field} must be in the future.`)
    after.push({ id: id ?? (await nextId(tx, 'country-permission')), country, expiresMs })
  }
  return after
}
