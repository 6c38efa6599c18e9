// What the voice service refuses. Specification 3, service M; names and statuses of wire/voice.md.
import { fault } from '../kernel/fault.ts'

export const AlreadyExists = fault('AlreadyExistsException', 409)
export const BadRequest = fault('BadRequestException', 400)
export const LimitExceeded = fault('LimitExceededException', 412)
export const NotFound = fault('NotFoundException', 404)
export const TooManyRequests = fault('TooManyRequestsException', 429)
