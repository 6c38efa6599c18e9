// What the backup service refuses, by the names that its clients know. Specification 3, service K.
import { fault } from '../kernel/fault.ts'

export const AlreadyExists = fault('AlreadyExistsException', 400)
export const ConflictInProgress = fault('ConflictException', 409)
export const InvalidParameterValue = fault('InvalidParameterValueException', 400)
export const InvalidRequest = fault('InvalidRequestException', 400)
export const InvalidResourceState = fault('InvalidResourceStateException', 400)
export const LimitExceeded = fault('LimitExceededException', 400)
export const MissingParameterValue = fault('MissingParameterValueException', 400)
export const ResourceNotFound = fault('ResourceNotFoundException', 400)
/** Of a role, which refuses on its own what the caller may. */
export const AccessDenied = fault('AccessDeniedException', 403)
