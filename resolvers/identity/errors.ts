// The errors of identity. Those of OAuth are spelled as RFC 6749, RFC 7591 and OpenID Connect spell them.
import { fault } from '../kernel/fault.ts'

export const AlreadyExists = fault('AlreadyExists', 409)
export const LimitExceeded = fault('LimitExceeded', 400)
export const ClockIsReal = fault('ClockIsReal', 409)
export const WrongPassword = fault('WrongPassword', 400)
export const InvalidRequest = fault('invalid_request', 400)
export const UnknownClient = fault('invalid_client', 400)
export const InvalidRedirectUri = fault('invalid_redirect_uri', 400)
export const InvalidClientMetadata = fault('invalid_client_metadata', 400)
