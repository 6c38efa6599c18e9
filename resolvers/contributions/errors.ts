// The refusals of contribution collection: a message, and the fields that it is about. Specification 1,
// service S2.
import { Invalid, NotFound } from '../kernel/fault.ts'

/** Refuses one field of what was sent. */
export const invalidField = (name: string, message: string) =>
  Invalid(`${name} ${message}.`, { details: { fields: [{ name, message }] } })

export const missing = (what: string, id: string) => NotFound(`There is no ${what} ${id}.`)
