// Phone numbers, as the numbering plans of the world have them.
import { BadRequest } from './errors.ts'

const E164 = /^\+[1-9]\d{1,14}$/

/** The plans are large, and are loaded with the first number. */
async function parse(number: string) {
  const { parsePhoneNumberFromString } = await import('libphonenumber-js/max')
  return parsePhoneNumberFromString(number)
}

/** Reads a number in E.164 form. Refuses one whose country or length no numbering plan has. */
export async function readNumber(field: string, sent: string | undefined): Promise<string> {
  if (sent === undefined) throw BadRequest(`${field} is missing.`)
  const number = E164.test(sent) ? await parse(sent) : undefined
  if (number?.isPossible()) return number.number
  throw BadRequest(`${field} must be a phone number in E.164 form, such as +12065550142.`)
}

/** Whether a number of that form can be anyone's: many ranges are given to nobody. */
export const canExist = async (number: string): Promise<boolean> =>
  (await parse(number))?.isValid() === true
