// The REST door described: OpenAPI 3.1, made from the operations themselves.
import { z } from 'zod'
import type { Operation, Route } from '../../resolvers/kernel/operation.ts'
import { isInQuery } from './body.ts'
import { operationsOf } from './graphql.ts'
import type { Subgraph } from './subgraph.ts'

const SECURITY = 'caller'
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'What was sent does not fit the operation.',
  401: 'The credential is missing or wrong.',
  403: 'The credential does not permit this.',
  404: 'There is no such resource.',
  405: 'The path exists, but not with this method.',
  409: 'The resource is not in a state that allows this.',
  412: 'The condition of the request does not hold.',
  413: 'The body is too large.',
  415: 'The body is of the wrong media type.',
  429: 'Too many requests.',
  500: 'The service failed.',
}

export function openApi(subgraph: Subgraph): object {
  const { name, title, version, basePath, scheme, dialect } = subgraph
  const paths: Record<string, Record<string, object>> = {}
  const securitySchemes: Record<string, object> = { [SECURITY]: scheme.security }
  for (const operation of operationsOf(subgraph)) {
    const { rest } = operation
    if (!rest) continue
    if (rest.scheme) securitySchemes[rest.scheme.name] = rest.scheme.security
    const path = (basePath + rest.path).replace(/\{(\w+)\+\}/g, '{$1}')
    paths[path] = {
      ...paths[path],
      [rest.method.toLowerCase()]: describe(operation, rest, subgraph),
    }
  }
  return {
    openapi: '3.1.0',
    info: { title, version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: `/${name}`, description: 'With all services on one port' }, { url: '/' }],
    paths,
    components: {
      securitySchemes,
      schemas: { Refusal: dialect.refusalSchema },
    },
  }
}

function describe(operation: Operation, rest: Route, subgraph: Subgraph): object {
  const { name, access, needs, refuses = {} } = operation
  return {
    operationId: name,
    ...(needs && { description: `Needs the permission ${[needs].flat().join(' and ')}.` }),
    security: access === 'anyone' ? [] : [{ [rest.scheme?.name ?? SECURITY]: [] }],
    parameters: [
      ...parametersOf(operation, rest),
      ...((!rest.scheme && subgraph.dialect.parameters?.(subgraph)) || []),
    ],
    ...requestBodyOf(operation, rest),
    responses: {
      ...Object.fromEntries(rest.status.map((status) => [status, successOf(rest, status)])),
      ...Object.fromEntries(
        Object.entries(refusalsOf(operation)).map(([status, description]) => [
          status,
          { description, content: jsonContent({ $ref: '#/components/schemas/Refusal' }) },
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(refuses).map(([status, description]) => [
          status,
          { description, content: jsonContent({ $ref: '#/components/schemas/Refusal' }) },
        ]),
      ),
    },
  }
}

function refusalsOf({ access, needs, input }: Operation): Record<number, string> {
  const statuses = [
    ...(Object.keys(input).length > 0 ? [400] : []),
    ...(access === 'anyone' ? [] : [401]),
    ...(needs ? [403] : []),
    500,
  ]
  return Object.fromEntries(statuses.map((status) => [status, REFUSALS[status]!]))
}

function parametersOf({ input }: Operation, rest: Route): object[] {
  const inPath = new Set([...rest.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name!))
  return Object.entries(input).flatMap(([name, shape]) => {
    const isHeader = rest.headers?.includes(name)
    const isQuery = isInQuery(rest, name)
    const place = inPath.has(name) ? 'path' : isHeader ? 'header' : isQuery ? 'query' : undefined
    if (!place) return []
    return [{ name, in: place, required: isRequired(shape), schema: schemaOf(shape) }]
  })
}

function requestBodyOf({ input }: Operation, rest: Route): object {
  if (rest.method === 'GET' || rest.method === 'HEAD') return {}
  const inPath = new Set([...rest.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name!))
  const members = Object.entries(input).filter(
    ([name]) => !inPath.has(name) && !rest.headers?.includes(name) && !isInQuery(rest, name),
  )
  if (members.length === 0) return {}
  if (rest.media === 'bytes') {
    return { requestBody: { content: { 'application/octet-stream': {} } } }
  }
  const whole = rest.body === undefined ? undefined : input[rest.body]
  const schema = whole
    ? schemaOf(whole)
    : {
        type: 'object',
        properties: Object.fromEntries(members.map(([name, shape]) => [name, schemaOf(shape)])),
        required: members.filter(([, shape]) => isRequired(shape)).map(([name]) => name),
      }
  const media = rest.media === 'form' ? 'application/x-www-form-urlencoded' : 'application/json'
  const required = members.some(([, shape]) => isRequired(shape))
  return { requestBody: { required, content: { [media]: { schema } } } }
}

function successOf(rest: Route, status: number): object {
  const description = status === 202 ? 'Accepted: it finishes later.' : 'Done.'
  const hasBody = rest.answer && status !== 204 && rest.method !== 'HEAD'
  return hasBody ? { description, content: jsonContent(schemaOf(rest.answer!)) } : { description }
}

const jsonContent = (schema: object) => ({ 'application/json': { schema } })

const isRequired = (shape: unknown): boolean => !(shape as z.ZodType).safeParse(undefined).success

function schemaOf(shape: unknown): object {
  const { $schema: _, ...schema } = z.toJSONSchema(shape as z.ZodType, {
    io: 'input',
    unrepresentable: 'any',
  }) as Record<string, unknown>
  return schema
}
