// Holds every REST answer that a test sees against the service's own OpenAPI document.
import Ajv2020 from 'ajv/dist/2020.js'

interface Document {
  readonly paths: Record<string, Record<string, { responses: Record<string, any> }>>
  readonly components: { readonly schemas: Record<string, object> }
}

export interface Answer {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly body: unknown
}

/** Throws when a status is not described for the operation, or a body does not fit its shape. */
export function answerChecker(document: Document): (answer: Answer) => void {
  const ajv = new Ajv2020.default({ strict: false, validateFormats: false })
  const routes = Object.entries(document.paths).map(([path, methods]) => ({
    methods,
    literals: path.replace(/\{\w+\}/g, '').length,
    pattern: new RegExp(`^${path.replace(/[.$()]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
  }))
  routes.sort((a, b) => b.literals - a.literals)

  return ({ method, path, status, body }) => {
    const route = routes.find(({ pattern }) => pattern.test(path))
    const operation = route?.methods[method.toLowerCase()]
    if (!operation) return
    const described = operation.responses[status]
    if (!described && status < 400) {
      throw new Error(`${method} ${path} answered ${status}, which its OpenAPI does not describe`)
    }
    const schema =
      described?.content?.['application/json']?.schema ??
      (status >= 400 ? document.components.schemas.Refusal : undefined)
    if (!schema || body === undefined || Buffer.isBuffer(body)) return
    const resolved = '$ref' in schema ? document.components.schemas.Refusal : schema
    const isFitting = ajv.compile(resolved as object)
    if (!isFitting(body)) {
      const why = ajv.errorsText(isFitting.errors)
      throw new Error(`${method} ${path} answered ${status} with a body that does not fit: ${why}`)
    }
  }
}
