// What the bank refuses. Specification 2, service B; statuses as its clients know them.
import { fault, Forbidden, NotFound } from '../kernel/fault.ts'

/** What was sent does not fit the rules of the bank: the usual refusal, and the documented one. */
export const BadRequest = fault('BadRequest', 400)
export const InsufficientFunds = fault('InsufficientFunds', 400)
export const LimitExceeded = fault('LimitExceeded', 400)
/** The account, tab, request or card is not in a state that allows this. */
export const WrongState = fault('WrongState', 400)
/** The PIN of a card was wrong, and that was counted. */
export const WrongPin = fault('WrongPin', 400)
/** A request id was used before, with something else in the body. */
export const RequestIdReused = fault('RequestIdReused', 400)
export const BadSignature = fault('BadSignature', 401)
export const SignatureRequired = fault('SignatureRequired', 466)

/** Chosen: the same for a user that is someone else's and for one that does not exist. */
export const NotYourUser = (userId: number) =>
  Forbidden(`The credential does not open user ${userId}.`)

export const NoSuch = (what: string, id: number | string) => NotFound(`There is no ${what} ${id}.`)
