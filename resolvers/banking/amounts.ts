// Money: text with two decimals outside, whole minor units inside. Specification 2, service B.
import { z } from 'zod'
import { text } from '../kernel/shape.ts'
import { BadRequest } from './errors.ts'

/** Chosen: currencies with two decimals, since amounts are written with two. */
export const CURRENCIES = [
  'EUR',
  'USD',
  'GBP',
  'CHF',
  'SEK',
  'NOK',
  'DKK',
  'PLN',
  'CZK',
  'RON',
  'BGN',
  'HUF',
] as const

const MINOR_MAX = 100_000_000_000
const VALUE = /^-?\d{1,12}(\.\d{1,2})?$/

export interface Amount {
  readonly value: string
  readonly currency: string
}

/** An amount as it is sent. `minorOf` tells what it is worth. */
export const amount = z.object({ value: text.max(32), currency: text.max(3) })

/** The shape in answers. */
export const amountShape = z.object({ value: z.string(), currency: z.string() })

export interface Money {
  readonly minor: number
  readonly currency: string
}

/** Reads an amount that moves: more than nothing, in a currency that the bank keeps. */
export function moneyOf(sent: Amount, field = 'amount'): Money {
  const money = limitOf(sent, field)
  if (money.minor === 0) throw BadRequest(`${field}.value must be more than 0.`)
  return money
}

/** Reads an amount that bounds others, which may be nothing. */
export function limitOf({ value, currency }: Amount, field: string): Money {
  if (!(CURRENCIES as readonly string[]).includes(currency)) {
    throw BadRequest(`${field}.currency must be one of ${CURRENCIES.join(', ')}, not ${currency}.`)
  }
  if (!VALUE.test(value)) {
    throw BadRequest(`${field}.value must be a number with at most two decimals, such as 12.50.`)
  }
  if (value.startsWith('-')) throw BadRequest(`${field}.value must not be negative.`)
  const [units, decimals = ''] = value.split('.') as [string, string?]
  const minor = Number(units) * 100 + Number(decimals.padEnd(2, '0'))
  if (minor > MINOR_MAX) throw BadRequest(`${field}.value must be at most ${valueOf(MINOR_MAX)}.`)
  return { minor, currency }
}

export const amountOf = (minor: number, currency: string): Amount => ({
  value: valueOf(minor),
  currency,
})

/** `-1250` is `-12.50`. */
export function valueOf(minor: number): string {
  const digits = String(Math.abs(minor)).padStart(3, '0')
  return `${minor < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`
}
