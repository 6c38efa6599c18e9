// What configuration stores refuse beside what every management service refuses. Specification 3,
// service C.
import { fault, Invalid, type Fault } from '../kernel/fault.ts'

export const NameUnavailable = fault('NameUnavailable', 409)
export const QuotaExceeded = fault('QuotaExceeded', 409)
export const SkuNotSufficient = fault('SkuNotSufficient', 409)
export const ConnectionStateNotAllowed = fault('ConnectionStateNotAllowed', 409)
export const PrivateEndpointInUse = fault('PrivateEndpointInUse', 409)
export const KeyValueLocked = fault('KeyValueLocked', 409)

/** Refuses one input, by a rule that its shape alone cannot tell. */
export const refuseInput = (name: string, message: string): Fault =>
  Invalid(`${name} ${message}.`, { details: { fields: [{ name, message }] } })
