// IBANs with check digits that hold (ISO 13616): letters count as 10 to 35, the remainder by 97 is 1.

export const BANK_COUNTRY = 'NL'
export const BANK_CODE = 'POLY'
export const BIC = 'POLYNL2A'

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/
const ACCOUNT_DIGITS = 10
const NUMBER_FIRST = 100_000_000

/** The IBAN of the n-th account of this bank. */
export function ibanOf(accountId: number): string {
  const rest = BANK_CODE + String(NUMBER_FIRST + accountId).padStart(ACCOUNT_DIGITS, '0')
  const check = 98 - remainderOf(`${rest}${BANK_COUNTRY}00`)
  return BANK_COUNTRY + String(check).padStart(2, '0') + rest
}

/** Without the spaces that people write, in capitals; undefined when the check digits do not fit. */
export function readIban(sent: string): string | undefined {
  const iban = sent.replaceAll(' ', '').toUpperCase()
  if (!IBAN.test(iban)) return undefined
  return remainderOf(iban.slice(4) + iban.slice(0, 4)) === 1 ? iban : undefined
}

/** Whether an account with this IBAN would be one of ours. */
export const isOurs = (iban: string): boolean =>
  iban.startsWith(BANK_COUNTRY) && iban.slice(4, 8) === BANK_CODE

function remainderOf(text: string): number {
  let remainder = 0
  for (const letter of text) {
    const value = parseInt(letter, 36)
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97
  }
  return remainder
}
