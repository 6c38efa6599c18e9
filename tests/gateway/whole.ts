// The whole of Polygraph in the process of a test, on a free port and a folder of its own.
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfiguration } from '../../gateway/configuration.ts'
import { ensureDemo } from '../../gateway/demo.ts'
import { silent } from '../../gateway/logging.ts'
import { openPolygraph, type Polygraph } from '../../gateway/polygraph.ts'
import { SERVICES } from '../../gateway/services.ts'

export interface Whole {
  readonly url: string
  readonly polygraph: Polygraph
  readonly credentials: Record<string, Record<string, string>>
  /** Asks the graph as the demo's person; without a token as nobody. */
  graphql(query: string, variables?: object, token?: string | null): Promise<Answer>
  close(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly data: any
  readonly errors?: any[]
}

/** `env` is what an operator would set beside the folder and the port. */
export async function openWhole(env: Record<string, string> = {}, only?: string): Promise<Whole> {
  const folder = env.POLYGRAPH_DATA ?? (await mkdtemp(join(tmpdir(), 'polygraph-whole-')))
  const configuration = readConfiguration(
    { PORT: '0', POLYGRAPH_LOG: 'silent', POLYGRAPH_DATA: folder, ...env },
    Object.keys(SERVICES),
  )
  const polygraph = await openPolygraph(configuration, silent, only)
  if (configuration.isDemo) await ensureDemo(polygraph)
  await polygraph.front.listen({ port: 0, host: '127.0.0.1' })
  polygraph.start()
  const url = `http://127.0.0.1:${(polygraph.front.server.address() as AddressInfo).port}`
  const { answer } = await polygraph.ask('{ answer: demoCredentials }', {})
  const credentials = (answer ?? {}) as Whole['credentials']

  return {
    url,
    polygraph,
    credentials,
    async graphql(query, variables = {}, token = credentials.graph?.token ?? null) {
      const response = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(token && { authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ query, variables }),
      })
      return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
    },
    async close() {
      await polygraph.close()
      if (!env.POLYGRAPH_DATA) await rm(folder, { recursive: true, force: true })
    },
  }
}
