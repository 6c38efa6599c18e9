// npm run --silent credentials: the demo's credentials as JSON, for the running process's environment.
// With the name of a service after `--`, as that service has them when it runs alone.
import { ADDRESS } from './demo.ts'
import { configurationOrExit } from './command.ts'
import { silent } from './logging.ts'
import { openPolygraph } from './polygraph.ts'
import { loadServices, SERVICES } from './services.ts'

const configuration = configurationOrExit()
const polygraph = await openPolygraph(configuration, silent, 'identity')
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
const alone = process.argv[2]
const shown: Record<string, object> = {}
for (const { name, basePath } of await loadServices(Object.keys(SERVICES))) {
  if (!kept[name] || (alone !== undefined && alone !== name)) continue
  const address =
    subgraphUrls[name]?.[0] ?? (alone === undefined ? `${publicUrl}/${name}` : publicUrl)
  const things = Object.entries(kept[name]).map(([key, value]) => [
    key,
    value.replace(ADDRESS, address),
  ])
  shown[name] = { baseUrl: address + basePath, ...Object.fromEntries(things) }
}
console.log(
  JSON.stringify({ ...shown, graph: { url: `${publicUrl}/graphql`, ...kept.graph } }, null, 2),
)
