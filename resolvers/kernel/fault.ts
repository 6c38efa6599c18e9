// Refusals: what a caller did wrong and can change.

/** A refusal the caller can act on. Anything else that is thrown is our mistake and answers 500. */
export class Fault extends Error {
  readonly code: string
  readonly status: number
  /** Members beside code and message, for interfaces whose errors have more. */
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Readonly<Record<string, string>>

  constructor(code: string, status: number, message: string, more: FaultDetails = {}) {
    super(message)
    this.name = code
    this.code = code
    this.status = status
    this.details = more.details ?? {}
    this.headers = more.headers ?? {}
  }
}

export interface FaultDetails {
  readonly details?: Record<string, unknown>
  readonly headers?: Record<string, string>
}

/** Declares one documented error: its code and its status. The message says what to change. */
export const fault = (code: string, status: number) => (message: string, more?: FaultDetails) =>
  new Fault(code, status, message, more)

// What any service can refuse. A dialect gives these the code that its clients know.
export const Invalid = fault('Invalid', 400)
export const Unauthenticated = fault('Unauthenticated', 401)
export const Forbidden = fault('Forbidden', 403)
export const NotFound = fault('NotFound', 404)
export const MethodNotAllowed = fault('MethodNotAllowed', 405)
export const Conflict = fault('Conflict', 409)
export const PreconditionFailed = fault('PreconditionFailed', 412)
export const TooLarge = fault('TooLarge', 413)
export const WrongMediaType = fault('WrongMediaType', 415)
export const TooMany = fault('TooMany', 429)
export const Internal = fault('Internal', 500)
export const Unavailable = fault('Unavailable', 503)
