// Where a service in a process of its own takes the fetches of the gateway; see fetches.ts.
//
// Nobody but who holds the key of the notes gets anything here. What is asked was checked and measured by
// the gateway, so that it is neither again.
import type { ServerResponse } from 'node:http'
import { GraphQLError } from 'graphql'
import { Fault } from '../resolvers/kernel/fault.ts'
import type { Notes } from '../subgraphs/server/auth/gateway.ts'
import { wordRefusal } from '../subgraphs/server/needs.ts'
import type { Opened } from '../subgraphs/server/open.ts'
import type { Telemetry } from '../subgraphs/server/telemetry.ts'
import { keepingAsks, type Answer } from './executor/source.ts'
import { answerFetches, FETCHES_PATH, type Fetch } from './fetches.ts'
import { begin, BODY_MAX, refusal, tooLarge, type Reply } from './graph-door.ts'
import { executing } from './in-process.ts'
import type { Traces } from './traces.ts'
import type { WholeBody } from './whole-body.ts'

/** A fetch is what a client sent and a note, and several come together only while they are small. */
const BYTES_MAX = 2 * BODY_MAX

interface FetchesDoorOptions {
  readonly opened: Pick<Opened, 'subgraph' | 'schema' | 'contextFor'>
  readonly notes: Pick<Notes, 'read'>
  readonly telemetry: Telemetry
  readonly traces?: Traces | undefined
  readonly newId: () => string
}

export function fetchesDoor(options: FetchesDoorOptions) {
  const { opened, notes, telemetry, traces } = options
  const { name } = opened.subgraph
  const { prepare } = keepingAsks(
    executing(
      () => opened.schema,
      ({ caller, publicUrl: address, headers }) => opened.contextFor(caller, { address, headers }),
    ),
  )

  async function answer(fetch: Fetch, publicUrl: string): Promise<Answer> {
    const { note, requestId, traceparent, query, variables } = fetch
    const trace = traces?.begin({ method: 'POST', route: FETCHES_PATH, requestId, traceparent })
    let status = 200
    try {
      const caller = await notes.read(note, name)
      const headers = { 'x-request-id': requestId }
      return await prepare(query, undefined)(variables, { caller, publicUrl, requestId, headers })
    } catch (error) {
      const refused = error instanceof Fault ? error : undefined
      status = refused?.status ?? 500
      if (!refused) telemetry.mistake(error, { service: name, id: requestId })
      return { data: null, errors: [refused ? wordRefusal(refused, name) : FAILED] }
    } finally {
      trace?.end(status)
    }
  }

  return (raw: WholeBody, response: ServerResponse): void => {
    const { id, answered } = begin(options, FETCHES_PATH)
    response.setHeader('x-request-id', id)
    const refuse = ({ status, headers, text }: Reply) => {
      response.writeHead(status, headers).end(text)
      answered(status)
    }
    raw.gather(BYTES_MAX, (body) => {
      if (!body) return refuse(tooLarge(BYTES_MAX))
      const fetches = fetchesIn(body)
      if (!fetches) return refuse(NOT_FETCHES)
      response.once('finish', () => answered(200))
      answerFetches(fetches, response, (fetch) => answer(fetch, raw.address ?? ''))
    })
  }
}

const FAILED = new GraphQLError('The service failed to answer.', {
  extensions: { code: 'INTERNAL_SERVER_ERROR' },
})

const NOT_FETCHES = refusal(
  400,
  'BAD_REQUEST',
  'The gateway posts its fetches here, a list in JSON. Post what you ask to /graphql.',
)

function fetchesIn(body: Buffer): readonly Fetch[] | undefined {
  try {
    const fetches: unknown = JSON.parse(body.toString())
    return Array.isArray(fetches) && fetches.every(isFetch) ? fetches : undefined
  } catch {
    return undefined
  }
}

const isFetch = (value: any): value is Fetch =>
  typeof value?.note === 'string' &&
  typeof value.requestId === 'string' &&
  typeof value.query === 'string' &&
  typeof value.variables === 'object' &&
  value.variables !== null
