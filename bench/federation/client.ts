// The process that asks: many connections, each with other variables and as another caller.
import { createRequire } from 'node:module'
import { serveParent } from './child.ts'
import { askedOf, authorizationOf } from './queries.ts'

const CONNECTIONS = 16
const SAMPLE_MS = 100
const autocannon: (options: object) => Promise<any> = createRequire(import.meta.url)('autocannon')

export interface Loaded {
  readonly p99Ms: number
}

serveParent({
  // A number of requests, and not a time: what is cut off in the middle has used the processor too.
  async load({ url, query, requests: amount }: { url: string; query: string; requests: number }) {
    const requests = askedOf(query).map((asked, i) => ({
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: authorizationOf(i) },
      body: JSON.stringify(asked),
    }))
    let connected = 0
    const result = await autocannon({
      url,
      requests,
      connections: CONNECTIONS,
      amount,
      sampleInt: SAMPLE_MS,
      // Each connection begins elsewhere: no two ask the same at the same time.
      setupClient(client: { setRequests(requests: object[]): void }) {
        const from = Math.floor((connected++ * requests.length) / CONNECTIONS)
        client.setRequests([...requests.slice(from), ...requests.slice(0, from)])
      },
      verifyBody: (body: string) => body.startsWith('{"data":{') && !body.includes('"errors":'),
    })
    const { non2xx, errors, mismatches, latency } = result
    if (non2xx + errors + mismatches > 0) {
      throw new Error(
        `${query} at ${url} was refused ${non2xx} times, broke ${errors} times, and was answered with errors ${mismatches} times`,
      )
    }
    return { p99Ms: latency.p99 } satisfies Loaded
  },
})
