// The errors of the credentials. Those of OAuth are named by RFC 6749.
import { fault } from '../kernel/fault.ts'

export const AlreadyExists = fault('AlreadyExists', 409)
export const LimitExceeded = fault('LimitExceeded', 400)
export const ClockIsReal = fault('ClockIsReal', 409)
