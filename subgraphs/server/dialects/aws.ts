// How the four signed services refuse: a name in the header and in the body, a text beside it.
import type { Dialect } from '../subgraph.ts'

/** What any service can refuse, by the kernel's code, where the clients know no name of their own. */
const NAMES = {
  Invalid: 'ValidationException',
  Unauthenticated: 'MissingAuthenticationTokenException',
  Forbidden: 'AccessDeniedException',
  NotFound: 'UnknownOperationException',
  MethodNotAllowed: 'MethodNotAllowedException',
  Conflict: 'ConflictException',
  PreconditionFailed: 'PreconditionFailedException',
  TooLarge: 'RequestEntityTooLargeException',
  WrongMediaType: 'UnsupportedMediaTypeException',
  TooMany: 'ThrottlingException',
  Internal: 'InternalFailure',
  Unavailable: 'ServiceUnavailableException',
}

export type AwsNames = Partial<Record<keyof typeof NAMES, string>>

/** Signed services answer 403, not 401, to a caller who showed nothing. */
const STATUSES: Readonly<Record<string, number>> = { Unauthenticated: 403 }

/**
 * The dialect of one signed service. `own` holds the names that its clients know for what any
 * service can refuse; a service's own faults carry their names already.
 */
export function aws(own: AwsNames, { spelling = 'pascal' as Dialect['spelling'] } = {}): Dialect {
  const names: Readonly<Record<string, string>> = { ...NAMES, ...own }
  return {
    spelling,
    requestIdHeader: 'x-amzn-requestid',
    refuse({ code, status, message, details }) {
      const name = names[code] ?? code
      return {
        status: STATUSES[code] ?? status,
        headers: { 'x-amzn-errortype': name },
        // Some clients read `message` and some `Message`; each takes the one it knows.
        body: { __type: name, message, Message: message, ...details },
      }
    },
    refusalSchema: {
      type: 'object',
      properties: {
        __type: { type: 'string', description: 'The name of the error.' },
        message: { type: 'string' },
        Message: { type: 'string' },
      },
      required: ['__type', 'message', 'Message'],
    },
  }
}
