// Diagnostics, which say what an instance of API management logs. Specification 3, service D.
import { armKey, armResource, type Acceptance, type Accepted } from '../families/arm.ts'
import { ParentResourceNotFound } from '../families/arm-errors.ts'
import type { FilterFields } from '../families/arm-filter.ts'
import { under } from '../families/arm-lists.ts'
import { checkSubscription, idAt, partsOf, type Input } from '../families/arm-paths.ts'
import { filtering, scanAt } from '../families/arm-scan.ts'
import type { Context } from '../kernel/context.ts'
import { Invalid } from '../kernel/fault.ts'
import { del, get, head, operation, patch, put, reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { key as serviceKey, SERVICE, SERVICE_TYPE, VERSION } from './services.ts'
import {
  diagnostic,
  diagnosticAnswer,
  diagnosticListAnswer,
  diagnosticPatch,
  diagnostics,
  services,
  type ApiDiagnostic,
  type Diagnostic,
} from './shapes.ts'

const MANY = `${SERVICE}/diagnostics`
const ONE = `${MANY}/{diagnosticId}`
const DIAGNOSTIC_ID_MAX = 80
/** The id of a logger as a whole, or as seen from its service. */
const LOGGER = `${SERVICE}/loggers/{loggerName}`
const LOGGER_HERE = '/loggers/{loggerName}'

const FIELDS: FilterFields<ApiDiagnostic> = {
  name: { type: 'text', of: ({ name }) => name, ignoreCase: true },
}

export const resource = armResource<ApiDiagnostic>({
  type: `${SERVICE_TYPE}/diagnostics`,
  path: ONE,
  version: VERSION,
  kind: diagnostics,
  body: 'parameters',
  announces: 'diagnostics.diagnostic',
  accept,
})

export const key = {
  ...serviceKey,
  diagnosticId: text
    .max(DIAGNOSTIC_ID_MAX, `must be at most ${DIAGNOSTIC_ID_MAX} characters`)
    .regex(/^[^*#&+:<>?/]+$/, 'must not be empty or contain * # & + : < > ? or /')
    .refine((id) => id.isWellFormed(), 'must be whole characters'),
}
const condition = { 'If-Match': text }
const body = { ...key, 'If-Match': optional(text), parameters: diagnostic }
const change = { ...key, ...condition, parameters: diagnosticPatch }
const removal = { ...key, ...condition }

const headers = Object.keys(condition)
const nothing = () => undefined
const page = { answer: diagnosticListAnswer }
const tagged = { show: nothing }
const one = { answer: diagnosticAnswer }
const written = { status: [201, 200], body: 'parameters', headers, answer: diagnosticAnswer }
const changed = { status: [204], body: 'parameters', headers, show: nothing }
const erased = { status: [200, 204], headers }

export const operations = [
  operation({
    name: 'apiDiagnostics',
    rest: get(MANY, page),
    input: { ...serviceKey, ...filtering },
    run: list,
  }),
  operation({
    name: 'apiDiagnosticEntityTag',
    rest: head(ONE, tagged),
    input: key,
    run: readEntityTag,
  }),
  operation({ name: 'apiDiagnostic', rest: get(ONE, one), input: key, run: resource.get }),
  operation({ name: 'putApiDiagnostic', rest: put(ONE, written), input: body, run: write }),
  operation({ name: 'patchApiDiagnostic', rest: patch(ONE, changed), input: change, run: update }),
  operation({ name: 'deleteApiDiagnostic', rest: del(ONE, erased), input: removal, run: remove }),
]

export const kinds = [diagnostics]
export const steps = resource.steps

async function list(sent: Input, ctx: Context) {
  const input = checkSubscription(sent, ctx)
  await checkService(input, ctx.store)
  const at = { path: MANY, select: (input: Input) => under(MANY, input), fields: FIELDS }
  return scanAt({ kind: diagnostics, version: VERSION }, at, input, ctx)
}

async function readEntityTag(input: Input, ctx: Context) {
  const { headers } = await resource.get(input, ctx)
  return reply(200, headers.ETag, headers)
}

function write(input: Input, ctx: Context) {
  return resource.put(input, onCondition(input, ctx))
}

/** The document answers a change with 204; the graph shows what came of it. */
async function update(input: Input, ctx: Context) {
  const { result, headers } = await resource.patch(input, onCondition(input, ctx))
  return reply(204, result, headers)
}

/** Removes at once (200); what is not there needs no removing (204), but its service must be. */
async function remove(input: Input, ctx: Context) {
  await checkService(checkSubscription(input, ctx), ctx.store)
  return resource.remove(input, onCondition(input, ctx))
}

/** The condition is a header at one door and an argument at the other. */
const onCondition = (input: Input, ctx: Context): Context => ({
  ...ctx,
  headers: { ...ctx.headers, 'if-match': input['If-Match'] },
})

async function accept(
  { properties }: Diagnostic,
  { id, tx }: Acceptance<ApiDiagnostic>,
): Promise<Accepted<ApiDiagnostic>> {
  await checkPlace(id, properties.loggerId, tx)
  return { properties }
}

/** Refuses a diagnostic where there is no service for it, or its logger is another's. */
export async function checkPlace(id: string, loggerId: string, tx: Records): Promise<void> {
  await checkService(partsOf(ONE, id)!, tx)
  checkLogger(loggerId, serviceIdOf(id))
}

/** The id of the service that a diagnostic belongs to. */
export function serviceIdOf(id: string): string {
  return idAt(SERVICE, partsOf(ONE, id)!)
}

async function checkService(place: Input, records: Records): Promise<void> {
  const id = idAt(SERVICE, place)
  if (await records.get(services, armKey({ id }))) return
  throw ParentResourceNotFound(`There is no API management service ${id}.`)
}

/** Chosen: a logger is checked for its form and its service alone, since no service keeps loggers. */
function checkLogger(loggerId: string, serviceId: string): void {
  const elsewhere = partsOf(LOGGER, loggerId)
  const isHere = elsewhere && armKey({ id: idAt(SERVICE, elsewhere) }) === armKey({ id: serviceId })
  if (isHere || partsOf(LOGGER_HERE, loggerId)) return
  const name = 'parameters.properties.loggerId'
  const message = `must be ${LOGGER_HERE}, or the whole id of a logger of the same service`
  throw Invalid(`${name} ${message}.`, { details: { fields: [{ name, message }] } })
}
