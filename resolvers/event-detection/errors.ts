// What event detection refuses. Specification 3, service T; the names are those that its clients know.
import { fault, type Fault } from '../kernel/fault.ts'

export const InvalidRequest = fault('InvalidRequestException', 400)
export const ResourceNotFound = fault('ResourceNotFoundException', 404)

// Of the graph alone: models and inputs are made there.
export const ResourceAlreadyExists = fault('ResourceAlreadyExistsException', 409)
export const ResourceInUse = fault('ResourceInUseException', 409)
export const LimitExceeded = fault('LimitExceededException', 410)

/** The refusal of one item of a batch. The others go on. */
export interface ErrorEntry {
  readonly errorCode: string
  readonly errorMessage: string
}

export const entryOf = ({ code, message }: Fault): ErrorEntry => ({
  errorCode: code,
  errorMessage: message,
})
