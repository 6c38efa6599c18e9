// What a job does: it calls an address. Specification 3, service J.
//
// Chosen: an action that cannot be carried out here is refused when the job is written, and not
// when it is due. Queues and topics are of services that no document here describes; a certificate
// or a directory's token cannot be shown on the one way out that services have.
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import { ActionNotSupported, refuse } from './errors.ts'
import { DAY_MS } from './recurrences.ts'
import type { Execution, Job } from './kinds.ts'
import type { Action, ErrorAction, RetryPolicy, SentAction, SentErrorAction } from './shapes.ts'

/** Chosen: what the vendor does where a policy, or a part of it, is left out. */
const RETRY_INTERVAL = 'PT30S'
const RETRY_COUNT = 4
const RETRY_MS_MIN = 1_000
const RETRY_MS_MAX = 548 * DAY_MS
const MESSAGE_BODY_MAX = 1_000
const REASON_MAX = 500
/** The transport writes these by itself. */
const OWN_HEADERS =
  /^(connection|content-length|expect|host|keep-alive|transfer-encoding|upgrade)$/i

export type Passwords = Job['passwords']

interface Accepted {
  readonly action: Action
  readonly passwords: Passwords
}

interface Before {
  readonly action?: Action | undefined
  readonly passwords: Passwords
}

/**
 * The action to be kept, and its passwords, which are sealed for this job.
 * Chosen: a password that is left out stays as it was, since answers do not show it and clients
 * send back what they got.
 */
export function acceptAction(
  sent: SentAction | undefined,
  { id, before, ctx }: { id: string; before: Before; ctx: Context },
): Accepted {
  const place = 'properties.action'
  if (!sent) throw refuse(place, 'is required')
  const passwords: Passwords = {}
  const accept = (name: Execution['actionName'], action: SentErrorAction, at: string) => {
    const kept = { action: actionOf(before.action, name), password: before.passwords[name] }
    const { accepted, password } = acceptOne(action, at, kept)
    passwords[name] =
      password.sent === undefined
        ? password.kept
        : ctx.secrets.seal(password.sent, sealOf(id, name))
    return accepted
  }
  const main = accept('MainAction', sent, place)
  const onError =
    sent.errorAction && accept('ErrorAction', sent.errorAction, `${place}.errorAction`)
  return { action: { ...main, errorAction: onError }, passwords }
}

function acceptOne(
  { type, request, retryPolicy }: SentErrorAction,
  place: string,
  kept: { action: ErrorAction | undefined; password: string | undefined },
) {
  if (!type) throw refuse(`${place}.type`, 'is required')
  if (type !== 'Http' && type !== 'Https') {
    throw unsupported(`${place}.type`, `${type} cannot be carried out here. Use Http or Https`)
  }
  if (!request?.uri) throw refuse(`${place}.request.uri`, 'is required')
  const { method = 'GET', uri, headers, body, authentication } = request
  checkUri(uri, type, `${place}.request.uri`)
  const own = Object.keys(headers ?? {}).find((name) => OWN_HEADERS.test(name))
  if (own) throw refuse(`${place}.request.headers`, `must not hold ${own}, which the call sets`)
  const at = `${place}.request.authentication`
  if (authentication && !['NotSpecified', 'Basic'].includes(authentication.type)) {
    const what = `${authentication.type} cannot be carried out here. Use Basic, or a header`
    throw unsupported(`${at}.type`, what)
  }
  const isBasic = authentication?.type === 'Basic'
  const password: { sent?: string | undefined; kept?: string | undefined } = {}
  if (isBasic) {
    if (!authentication.username) throw refuse(`${at}.username`, 'is required')
    password.sent = authentication.password
    password.kept = kept.password
    if ((password.sent ?? password.kept) === undefined) {
      throw refuse(`${at}.password`, 'is required')
    }
    // A password goes to the host that it was given for.
    const isElsewhere = kept.action && hostOf(kept.action.request.uri) !== hostOf(uri)
    if (password.sent === undefined && isElsewhere) {
      throw refuse(`${at}.password`, 'is required where the host changes')
    }
  }
  const shown = isBasic
    ? { type: 'Basic' as const, username: authentication.username }
    : authentication && { type: 'NotSpecified' as const }
  const accepted: ErrorAction = {
    type,
    request: { method, uri, headers, body, authentication: shown },
    retryPolicy: acceptRetries(retryPolicy, `${place}.retryPolicy`),
  }
  return { accepted, password }
}

const unsupported = (target: string, what: string) =>
  ActionNotSupported(`${target} ${what}.`, { details: { target } })

const hostOf = (uri: string) => new URL(uri).host

function checkUri(uri: string, type: 'Http' | 'Https', place: string): void {
  const url = URL.parse(uri)
  const isFitting =
    url && url.protocol === `${type.toLowerCase()}:` && !url.username && !url.password
  if (!isFitting) {
    throw refuse(place, `must be an ${type.toLowerCase()} address without a user name`)
  }
}

function acceptRetries(sent: SentErrorAction['retryPolicy'], place: string): RetryPolicy {
  const retryType = sent?.retryType ?? 'Fixed'
  const retryInterval = sent?.retryInterval ?? RETRY_INTERVAL
  const retryCount = sent?.retryCount ?? RETRY_COUNT
  if (retryType === 'None') return { retryType }
  const ms = durationMs(retryInterval)
  if (ms === undefined || ms < RETRY_MS_MIN || ms > RETRY_MS_MAX) {
    throw refuse(`${place}.retryInterval`, 'must be a duration from PT1S to P548D, such as PT30S')
  }
  return { retryType, retryInterval, retryCount }
}

/** An ISO 8601 duration of days and less; undefined when it is none. */
function durationMs(duration: string): number | undefined {
  const [found, ...parts] =
    /^P(?!$)(?:(\d{1,4})D)?(?:T(?!$)(?:(\d{1,6})H)?(?:(\d{1,7})M)?(?:(\d{1,9})S)?)?$/.exec(
      duration,
    ) ?? []
  if (found === undefined) return undefined
  const [days, hours, minutes, seconds] = parts.map((part) => Number(part ?? 0)) as number[]
  return (((days! * 24 + hours!) * 60 + minutes!) * 60 + seconds!) * 1_000
}

export const actionOf = (action: Action | undefined, name: Execution['actionName']) =>
  name === 'MainAction' ? action : action?.errorAction

/** How long to wait before the next attempt; undefined when there is to be none. */
export function retryMsOf({ retryPolicy }: ErrorAction, retryCount: number): number | undefined {
  const { retryType, retryInterval, retryCount: most } = retryPolicy
  return retryType === 'Fixed' && retryCount < most! ? durationMs(retryInterval!) : undefined
}

/** Passwords that were sealed for one job, sealed for another. */
export function resealed(
  passwords: Passwords,
  { from, to }: { from: string; to: string },
  { secrets }: Context,
): Passwords {
  const after: Passwords = {}
  for (const name of ['MainAction', 'ErrorAction'] as const) {
    const sealed = passwords[name]
    if (sealed === undefined) continue
    after[name] = secrets.seal(secrets.open(sealed, sealOf(from, name)), sealOf(to, name))
  }
  return after
}

const sealOf = (id: string, name: string) => `${id.toLowerCase()} ${name}`

export interface Outcome {
  readonly isDone: boolean
  /** Whether another attempt could end differently. */
  readonly mayRetry: boolean
  readonly message: string
}

/**
 * Carries an action out once. What goes wrong on the other side is an outcome and not an error.
 * A call that is repeated after a crash carries the same tag, by which the other side can tell.
 */
export async function carryOut(job: Job, execution: Execution, ctx: Context): Promise<Outcome> {
  const action = actionOf(job.properties.action, execution.actionName)
  if (!action) return { isDone: false, mayRetry: false, message: 'The job has no such action now.' }
  const { method, uri, headers, body } = action.request
  const { host } = new URL(uri)
  try {
    const answer = await ctx.outbound.send({
      method,
      url: uri,
      headers: { ...lowerCased(headers), ...ownHeaders(job, execution, ctx) },
      ...(body !== undefined && { body }),
    })
    const isDone = answer.status >= 200 && answer.status < 300
    const text = storable(answer.body.toString('utf8'), MESSAGE_BODY_MAX)
    const message = `${host} answered ${answer.status}${text === '' ? '.' : `: ${text}`}`
    return { isDone, mayRetry: true, message }
  } catch (error) {
    // The other side's failure is what history is for.
    if (error instanceof Fault) return { isDone: false, mayRetry: false, message: error.message }
    const reason = storable(String((error as Error).message), REASON_MAX)
    return { isDone: false, mayRetry: true, message: `${host} could not be called: ${reason}` }
  }
}

/** What others said, cut, and without what a store or JSON cannot hold. */
const storable = (said: string, most: number) =>
  said.replaceAll('\0', '').slice(0, most).toWellFormed()

/** In one case, so that a header of the job does not stand beside one of ours. */
const lowerCased = (headers: Record<string, string> = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

function ownHeaders(job: Job, execution: Execution, ctx: Context): Record<string, string> {
  const { actionName, expected, retryCount } = execution
  const { authentication } = actionOf(job.properties.action, actionName)!.request
  const sealed = job.passwords[actionName]
  const login =
    authentication?.type === 'Basic' && sealed !== undefined
      ? `${authentication.username}:${ctx.secrets.open(sealed, sealOf(job.id, actionName))}`
      : undefined
  return {
    'x-vendor-scheduler-job-id': job.id,
    'x-vendor-scheduler-expected-execution-time': new Date(expected).toISOString(),
    'x-vendor-execution-tag': `${execution.key.slice(execution.key.lastIndexOf('/') + 1)}-${retryCount}`,
    ...(login !== undefined && {
      authorization: `Basic ${Buffer.from(login).toString('base64')}`,
    }),
  }
}
