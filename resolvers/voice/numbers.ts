// Phone numbers, as the numbering plans of the world have them.
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { BadRequest } from './errors.ts'

const E164 = /^\+[1-9]\d{1,14}$/

/** Reads a number in E.164 form. Refuses one whose country or length no numbering plan has. */
export function readNumber(field: string, sent: string | undefined): string {
  if (sent === undefined) throw BadRequest(`${field} is missing.`)
  const number = E164.test(sent) ? parsePhoneNumberFromString(sent) : undefined
  if (number?.isPossible()) return number.number
  throw BadRequest(`${field} must be a phone number in E.164 form, such as +12065550142.`)
}

/** Whether a number of that form can be anyone's: many ranges are given to nobody. */
export const canExist = (number: string): boolean =>
  parsePhoneNumberFromString(number)?.isValid() === true
