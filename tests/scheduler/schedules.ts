// What the tests of the scheduler send again and again.
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../resolvers/kernel/outbound.ts'
import { subgraph } from '../../subgraphs/scheduler.ts'
import { openForTest, type OpenOptions, type TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'

export const VERSION = 'api-version=2016-03-01'
export const AREA = 'providers/Vendor.Scheduler'
export const ALL = `/subscriptions/${SUBSCRIPTION}/${AREA}/jobCollections`
export const MANY = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Ops/${AREA}/jobCollections`

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

export const collectionAt = (name: string) => `${MANY}/${name}?${VERSION}`
export const jobsAt = (query = '') => `${MANY}/main/jobs?${VERSION}${query}`
export const jobAt = (name: string) => `${MANY}/main/jobs/${name}?${VERSION}`
export const runAt = (name: string) => `${MANY}/main/jobs/${name}/run?${VERSION}`
export const historyAt = (name: string, query = '') =>
  `${MANY}/main/jobs/${name}/history?${VERSION}${query}`

/** The arguments of the graph that name the collection `main`, and a job in it. */
export const MAIN = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Ops", jobCollectionName: "main"`
export const named = (job: string) => `${MAIN}, jobName: "${job}"`

export const COLLECTION = { location: 'westus', properties: { sku: { name: 'Standard' } } }

export const URI = 'https://hooks.example/run'
export const ONCE = { retryType: 'None' }
export const ACTION = { type: 'Https', request: { method: 'POST', uri: URI }, retryPolicy: ONCE }

export const jobOf = (properties: object) => ({ properties: { action: ACTION, ...properties } })
export const every = (frequency: string, more: object = {}) =>
  jobOf({ recurrence: { frequency, interval: 1, ...more } })

type Answering = (request: OutboundRequest, nth: number) => number | OutboundAnswer | Error

/** A way out that notes what was sent and answers as it is told: 200 unless said. */
export function fakeOutbound(answer: Answering = () => 200) {
  const sent: OutboundRequest[] = []
  const outbound: Outbound = {
    async send(request) {
      sent.push(request)
      const answered = answer(request, sent.length - 1)
      if (answered instanceof Error) throw answered
      if (typeof answered !== 'number') return answered
      return { status: answered, headers: {}, body: Buffer.from('') }
    },
  }
  return { sent, outbound }
}

/** A service with the collection `main`, whose calls are answered. */
export async function openMain(
  options: OpenOptions & { answer?: Answering; collection?: object } = {},
) {
  const { sent, outbound } = fakeOutbound(options.answer)
  const service = await openForTest(subgraph, { outbound, ...options })
  await put(service, collectionAt('main'), options.collection ?? COLLECTION)
  return { service, sent }
}

/** Puts what must be accepted. */
export async function put(service: TestService, path: string, body: object) {
  const answer = await service.rest(`PUT ${path}`, body)
  if (answer.status > 201) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer
}

export async function statusOf(service: TestService, job: string) {
  const { body } = await service.rest(`GET ${jobAt(job)}`)
  return { state: body.properties.state, ...body.properties.status }
}

export async function historyOf(service: TestService, job: string, query = '') {
  const { body } = await service.rest(`GET ${historyAt(job, query)}`)
  return body.value.map(({ properties }: any) => properties)
}

/** The moments at which a job ran, the first first. */
export async function momentsOf(service: TestService, job: string): Promise<string[]> {
  const entries = await historyOf(service, job)
  return entries.map((entry: any) => entry.expectedExecutionTime).toReversed()
}

/** Follows an absolute link unchanged, as clients do. */
export function follow(service: TestService, link: string | undefined) {
  const { pathname, search } = new URL(link!)
  return service.rest(`GET ${pathname}${search}`)
}
