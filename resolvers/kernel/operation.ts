// What an operation is, and perform(), the only caller of its rules.
import { z } from 'zod'
import { isPermitted, type Caller, type Context } from './context.ts'
import { Forbidden, Invalid, Unauthenticated, type Fault } from './fault.ts'
import { plainReaderOf, type PlainReader } from './plain-texts.ts'

/** One thing a caller can ask of a service. Both doors reach it through `perform`. */
export interface Operation<Shape extends z.ZodRawShape = z.ZodRawShape> {
  /** The root field in schema/<service>.graphql, and the name in logs, tests and OpenAPI. */
  readonly name: string
  /** Where the REST interface has it. Absent when it is of the graph alone. */
  readonly rest?: Route
  /** What the caller sends: the arguments of the field, and path, query and body of the request. */
  readonly input: Shape
  /** Who may ask. The usual is a proved caller. */
  readonly access?: 'anyone' | 'administrators' | 'services'
  /** The permission that the credential must hold, where one is documented, or all of several. */
  readonly needs?: string | readonly string[]
  /** The documented refusals, for OpenAPI: status and when. */
  readonly refuses?: Readonly<Record<number, string>>
  /** The rules. Returns the result, or `reply(...)` when the status is not the first one. */
  run(input: z.output<z.ZodObject<Shape>>, ctx: Context): Promise<unknown>
}

export interface Route extends RouteOptions {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly status: readonly number[]
}

export interface RouteOptions {
  /** Every documented success status; the first is the usual one. */
  readonly status?: readonly number[]
  /** The input that takes the whole body; the inputs outside the path are then in the query. */
  readonly body?: string
  /** Inputs in the query although the method has a body. */
  readonly query?: readonly string[]
  /** Inputs in the header of the request, by the names that it has there, such as If-Match. */
  readonly headers?: readonly string[]
  /** What the body is written in. JSON unless said. */
  readonly media?: 'json' | 'form' | 'bytes'
  /** How many bytes a body may have, where that is more than what holds for all. */
  readonly bodyMax?: number
  /** What the documented body shows of the result, or a promise of it. GraphQL shows what is asked for. */
  readonly show?: (result: any, ctx: Context) => unknown
  /** The shape of the shown body, for OpenAPI and for the tests that hold answers against it. */
  readonly answer?: z.ZodType
  /** Not in the specification: ours, and beside what it documents. */
  readonly isBeyond?: boolean
  /**
   * How callers prove who they are here, where it is not the way of the service: the path is then of
   * another interface, and the formalities of the service's own, such as a version, do not apply.
   */
  readonly scheme?: OwnScheme
}

/** A way to prove a caller that one operation has for itself, out of what its service keeps. */
export interface OwnScheme {
  /** Its name among the OpenAPI security schemes, and what it is there. */
  readonly name: string
  readonly security: object
  /** Returns the caller, or throws a Fault that says what is wrong with the credential. */
  prove(shown: Shown, ctx: Context): Promise<Caller>
}

/** What a request shows of its caller. */
export interface Shown {
  /** The service that is asked. */
  readonly service: string
  readonly method: string
  /** Path and query exactly as the client sent them, before any prefix was cut or anything decoded. */
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Uint8Array
  /** The time of the world outside. */
  readonly now: Date
}

/** A result with a status of its own, and headers. A string or bytes are written as they are. */
export class Reply {
  readonly status: number
  readonly result: unknown
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, result: unknown, headers: Record<string, string>) {
    this.status = status
    this.result = result
    this.headers = headers
  }
}

export const reply = (
  status: number,
  result: unknown = null,
  headers: Record<string, string> = {},
): Reply => new Reply(status, result, headers)

export const operation = <Shape extends z.ZodRawShape>(definition: Operation<Shape>): Operation =>
  definition as unknown as Operation

const route =
  (method: Route['method']) =>
  (path: string, options: RouteOptions = {}): Route => ({ status: [200], ...options, method, path })

export const get = route('GET')
export const head = route('HEAD')
export const put = route('PUT')
export const post = route('POST')
export const patch = route('PATCH')
export const del = route('DELETE')

interface Reader {
  readonly shape: z.ZodObject
  readonly plain: PlainReader | undefined
}

const readers = new WeakMap<Operation, Reader>()

function readerOf(operation: Operation): Reader {
  let reader = readers.get(operation)
  if (!reader) {
    const { input } = operation
    readers.set(operation, (reader = { shape: z.object(input), plain: plainReaderOf(input) }))
  }
  return reader
}

/** The input of an operation as one shape. */
export const shapeOf = (operation: Operation): z.ZodObject => readerOf(operation).shape

/** Checks the caller and what was sent, then runs the operation. */
export async function perform(operation: Operation, sent: object, ctx: Context): Promise<unknown> {
  const refused = refusalOf(ctx.caller, operation)
  if (refused) throw refused
  const { shape, plain } = readerOf(operation)
  const plainly = plain?.(sent as Record<string, unknown>)
  if (plainly) return operation.run(plainly, ctx)
  const read = shape.safeParse(sent)
  if (!read.success) throw invalid(read.error, sent)
  return operation.run(read.data, ctx)
}

/** What must be true of a caller. */
export type Needs = Pick<Operation, 'access' | 'needs'>

/** Why this caller may not ask; undefined if they may. */
export function refusalOf(caller: Caller, { access, needs }: Needs): Fault | undefined {
  if (access === 'anyone') return undefined
  if (caller.kind === 'nobody') return Unauthenticated('Show a credential of this service.')
  if (access === 'services' && caller.kind !== 'service') {
    return Forbidden('Only the services themselves may ask this.')
  }
  if (access === 'administrators' && !caller.isAdmin) {
    return Forbidden('Only an administrator may ask this.')
  }
  if (needs === undefined) return undefined
  for (const needed of typeof needs === 'string' ? [needs] : needs) {
    if (!isPermitted(caller, needed)) return Forbidden(`The credential does not permit ${needed}.`)
  }
  return undefined
}

const FIELDS_MAX = 10

function invalid(error: z.ZodError, sent: object) {
  const fields = error.issues.slice(0, FIELDS_MAX).map((issue) => {
    const name = issue.path.join('.')
    const isMissing = valueAt(sent, issue.path) == null && issue.code === 'invalid_type'
    return { name, message: isMissing ? 'is required' : lowerFirst(issue.message) }
  })
  const message = fields.map(({ name, message }) => `${name || 'The input'} ${message}`).join('; ')
  return Invalid(`${message}.`, { details: { fields } })
}

const lowerFirst = (message: string) => message.charAt(0).toLowerCase() + message.slice(1)

const valueAt = (from: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<any>((value, step) => value?.[step], from)
