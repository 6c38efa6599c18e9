// What the scheduler refuses beside what every management service does. Specification 3, service J.
import { fault, Invalid } from '../kernel/fault.ts'

export const ActionNotSupported = fault('ActionNotSupported', 400)
export const QuotaExceeded = fault('QuotaExceeded', 409)
export const JobCollectionNotEnabled = fault('JobCollectionNotEnabled', 409)
export const JobStateNotAllowed = fault('JobStateNotAllowed', 409)

/** Refuses one input by its name, as the refusal of a malformed one does. */
export const refuse = (name: string, message: string) =>
  Invalid(`${name} ${message}.`, { details: { fields: [{ name, message }] } })
