// Diagnostics and what they belong to, as they are kept, sent and shown. Specification 3, service D.
import { z } from 'zod'
import { armKey, type ArmResource } from '../families/arm.ts'
import { oneOf, optional, text } from '../kernel/shape.ts'
import { kind } from '../kernel/store.ts'

const BODY_BYTES_MAX = 8_192
/** Chosen: as many as the bytes that a request's headers usually may have can hold. */
const HEADERS_MAX = 200
const HEADER_NAME_MAX = 256
const LOGGER_ID_MAX = 1_024

/** An instance of API management. */
export type ApiManagementService = ArmResource

export interface ApiDiagnostic extends ArmResource {
  properties: DiagnosticProperties & { provisioningState?: string }
}

export const services = kind<ApiManagementService>('api_management_services', { key: armKey })
export const diagnostics = kind<ApiDiagnostic>('api_diagnostics', { key: armKey })

/** What of a request or of an answer is logged. */
const message = z.object({
  headers: optional(
    z
      .array(
        text
          .max(HEADER_NAME_MAX, `must be at most ${HEADER_NAME_MAX} characters`)
          .regex(/^[\w!#$%&'*+.^`|~-]+$/, 'must be the name of a header'),
      )
      .max(HEADERS_MAX, `must be at most ${HEADERS_MAX} names`),
  ),
  body: optional(
    z.object({
      bytes: optional(
        z
          .int('must be a whole number')
          .min(0, 'must be at least 0')
          .max(BODY_BYTES_MAX, `must be at most ${BODY_BYTES_MAX}`),
      ),
    }),
  ),
})

const pipeline = z.object({ request: optional(message), response: optional(message) })

const properties = z.object({
  loggerId: text.min(1, 'must not be empty').max(LOGGER_ID_MAX),
  alwaysLog: optional(oneOf(['allErrors'])),
  sampling: optional(
    z.object({
      samplingType: optional(oneOf(['fixed'])),
      percentage: optional(z.number().min(0, 'must be at least 0').max(100, 'must be at most 100')),
    }),
  ),
  frontend: optional(pipeline),
  backend: optional(pipeline),
  logClientIp: optional(z.boolean()),
  httpCorrelationProtocol: optional(oneOf(['None', 'Legacy', 'W3C'])),
  verbosity: optional(oneOf(['verbose', 'information', 'error'])),
})

export type DiagnosticProperties = z.output<typeof properties>

/** The body of PUT. */
export const diagnostic = z.object({ properties })

/** The body of PATCH: what is left out stays. */
export const diagnosticPatch = z.object({
  properties: optional(properties.extend({ loggerId: optional(properties.shape.loggerId) })),
})

export type Diagnostic = z.output<typeof diagnostic>

const shownMessage = z
  .object({
    headers: z.array(text).optional(),
    body: z.object({ bytes: z.int().optional() }).optional(),
  })
  .optional()
const shownPipeline = z.object({ request: shownMessage, response: shownMessage }).optional()

export const diagnosticAnswer = z.object({
  id: text,
  name: text,
  type: text,
  properties: z.object({
    loggerId: text,
    alwaysLog: text.optional(),
    sampling: z
      .object({ samplingType: text.optional(), percentage: z.number().optional() })
      .optional(),
    frontend: shownPipeline,
    backend: shownPipeline,
    logClientIp: z.boolean().optional(),
    httpCorrelationProtocol: text.optional(),
    verbosity: text.optional(),
  }),
})

export const diagnosticListAnswer = z.object({
  value: z.array(diagnosticAnswer),
  nextLink: text.optional(),
})
