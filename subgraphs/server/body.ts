// What a request sends, gathered into one flat object.
import { Invalid, WrongMediaType } from '../../resolvers/kernel/fault.ts'
import type { Operation, Route } from '../../resolvers/kernel/operation.ts'

const HAS_NO_BODY = new Set(['GET', 'HEAD'])

interface Sent {
  readonly params: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, unknown>>
  readonly body: Buffer
  readonly contentType: string | undefined
}

/** The inputs of an operation as a request sends them. The path wins over the rest. */
export function gather(operation: Operation, request: Sent): object {
  const { params, query, headers = {}, body, contentType } = request
  const route = operation.rest!
  const read = HAS_NO_BODY.has(route.method) ? {} : readBody(route, body, contentType)
  const sent: Record<string, unknown> = route.body
    ? { [route.body]: read }
    : { ...(read as object) }
  for (const name in query) {
    if (Object.hasOwn(operation.input, name) && isInQuery(route, name)) sent[name] = query[name]
  }
  for (const name of route.headers ?? []) {
    const value = headers[name.toLowerCase()]
    if (value !== undefined) sent[name] = value
  }
  return Object.assign(sent, params)
}

/** Whether an input outside the path travels in the query. */
export const isInQuery = (route: Route, name: string): boolean =>
  name !== route.body &&
  !route.headers?.includes(name) &&
  (HAS_NO_BODY.has(route.method) ||
    route.method === 'DELETE' ||
    route.body !== undefined ||
    route.query?.includes(name) === true)

function readBody(route: Route, body: Buffer, contentType = ''): unknown {
  // Clients announce JSON also when they send nothing.
  if (body.length === 0) return route.body ? undefined : {}
  if (route.media === 'bytes') return body
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase()
  if (route.media === 'form') return readForm(type, body)
  if (type !== '' && !/^application\/(json|[\w.+-]*json[\w.-]*)$/.test(type)) {
    throw WrongMediaType(`Send the body as application/json, not as ${type}.`)
  }
  return readJson(route, body)
}

function readJson(route: Route, body: Buffer): unknown {
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw Invalid(`The body is not JSON: ${(error as Error).message}.`)
  }
  if (text.includes('"__proto__"')) throw Invalid('The body must not have a member __proto__.')
  if (!route.body && (typeof value !== 'object' || value === null || Array.isArray(value))) {
    throw Invalid('The body must be a JSON object.')
  }
  return value
}

function readForm(type: string, body: Buffer): Record<string, string> {
  if (type !== 'application/x-www-form-urlencoded') {
    throw WrongMediaType(
      `Send the body as application/x-www-form-urlencoded, not as ${type || 'nothing'}.`,
    )
  }
  const form = new URLSearchParams(body.toString('utf8'))
  const names = [...form.keys()]
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw Invalid(`${twice} must be there once.`)
  return Object.fromEntries(form)
}
