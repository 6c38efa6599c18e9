// npm run --silent credentials: the demo's credentials as JSON, for the running process's environment.
import pino from 'pino'
import { readConfiguration } from './configuration.ts'
import { openPolygraph } from './polygraph.ts'
import { loadServices, SERVICES } from './services.ts'

const configuration = readConfiguration(process.env, Object.keys(SERVICES))
const log = pino({ level: 'silent' })
const polygraph = await openPolygraph(configuration, log, 'identity')
const { answer } = await polygraph.ask('{ answer: demoCredentials }', {})
await polygraph.close()

if (!answer) {
  console.error(
    'There are no demo credentials here. They are made by a first start on this machine, or with POLYGRAPH_DEMO=1.',
  )
  process.exit(1)
}

const kept = answer as Record<string, Record<string, string>>
const { publicUrl, subgraphUrls } = configuration
const shown: Record<string, object> = {}
for (const { name, basePath } of await loadServices(Object.keys(SERVICES))) {
  const address = subgraphUrls[name]?.[0] ?? `${publicUrl}/${name}`
  if (kept[name]) shown[name] = { baseUrl: address + basePath, ...kept[name] }
}
console.log(
  JSON.stringify({ ...shown, graph: { url: `${publicUrl}/graphql`, ...kept.graph } }, null, 2),
)
