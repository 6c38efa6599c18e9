// Whether answers fit the questions of a form. Pure.
import { z } from 'zod'
import { invalidField } from './errors.ts'
import type { Form, FormField } from './form-records.ts'
import { readLatLong } from './places.ts'

const ANSWER_CHARS_MAX = 10_000

/** Refuses answers that are missing, too long, not among the options, or to no question. */
export function checkAnswers({ fields }: Form, responses: Readonly<Record<string, string>>): void {
  const unknown = Object.keys(responses).find(
    (name) => !fields.some((field) => field.name === name),
  )
  if (unknown !== undefined) throw invalidField(`responses.${unknown}`, 'is no field of the form')
  for (const field of fields) {
    const problem = problemOf(field, responses[field.name] ?? '')
    if (problem) throw invalidField(`responses.${field.name}`, problem)
  }
}

function problemOf(field: FormField, answer: string): string | undefined {
  if (answer === '') return field.required ? 'is required' : undefined
  if (answer.length > ANSWER_CHARS_MAX) return `has at most ${ANSWER_CHARS_MAX} characters`
  switch (field.type) {
    case 'select':
    case 'radio':
      return field.options!.includes(answer)
        ? undefined
        : `must be one of ${field.options!.join(', ')}`
    case 'checkbox':
      if (answer !== 'true' && answer !== 'false') return 'must be true or false'
      return field.required && answer === 'false' ? 'must be true' : undefined
    case 'location':
      return isPoint(answer) ? undefined : 'must be a latitude and a longitude, such as 52.5,13.4'
    case 'input':
      if (/[\r\n]/.test(answer)) return 'must be one line'
      if (field.validator !== 'email' || z.email().safeParse(answer).success) return undefined
      return 'must be an address for mail'
    default:
      return undefined
  }
}

function isPoint(answer: string): boolean {
  try {
    readLatLong(answer)
    return true
  } catch {
    // It refuses in the name of another field.
    return false
  }
}
