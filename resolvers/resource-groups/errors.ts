// What resource-groups refuses. Specification 3, service R.
import { Fault, fault, Forbidden, Unavailable } from '../kernel/fault.ts'

export const BadRequest = fault('BadRequestException', 400)
export const NotFound = fault('NotFoundException', 404)

/** Asks other services, and words what they refuse as clients of this one know it. */
export async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { status, message } = error
    if (status >= 500) throw Unavailable(message)
    if (status === 404) throw NotFound(message)
    throw status === 403 ? Forbidden(message) : BadRequest(message)
  }
}
