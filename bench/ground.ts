// What the benches run on: all of Polygraph with its demo, on SQLite in a folder that is deleted.
//
// It logs as it does by default, a line for each request, but to /dev/null: a terminal would be what
// is measured.
import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { GRAPH } from '../gateway/callers.ts'
import { readConfiguration } from '../gateway/configuration.ts'
import { ensureDemo } from '../gateway/demo.ts'
import { openLogging } from '../gateway/logging.ts'
import { openPolygraph } from '../gateway/polygraph.ts'
import { SERVICES } from '../gateway/services.ts'

const HOST = '127.0.0.1'
const VERSION = '2018-10-31-preview'

export async function openGround() {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  const configuration = readConfiguration({ POLYGRAPH_DATA: folder }, Object.keys(SERVICES))
  const polygraph = await openPolygraph(
    configuration,
    openLogging(configuration.logLevel, '/dev/null'),
  )
  await ensureDemo(polygraph)
  // Background work, such as filling the demo's directory, is not started: it would be measured too.
  await polygraph.front.listen({ port: 0, host: HOST })
  const { port } = polygraph.front.server.address() as AddressInfo
  const { answer } = await polygraph.ask('{ answer: demoCredentials }', {})
  const credentials = answer as Record<string, Record<string, string>>
  const { subscriptionId, resourceGroup, hsmName } = credentials.hsm!
  const caller = await polygraph.ground.credentials.byToken(GRAPH, credentials.graph!.token!)
  if (!caller) throw new Error('the demo token does not open the graph')

  return {
    polygraph,
    folder,
    caller,
    credentials,
    url: `http://${HOST}:${port}`,
    /** The demo's module, as REST has it. */
    modulePath: `/hsm/subscriptions/${subscriptionId}/resourceGroups/${resourceGroup}/providers/Vendor.HardwareSecurityModules/dedicatedHSMs/${hsmName}?api-version=${VERSION}`,
    async close() {
      await polygraph.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type BenchGround = Awaited<ReturnType<typeof openGround>>

/** A server with nothing but its routes, to be compared with. */
export async function openBare(addRoutes: (app: FastifyInstance) => void) {
  const app = Fastify()
  addRoutes(app)
  const url = await app.listen({ port: 0, host: HOST })
  return { url, close: () => app.close() }
}
