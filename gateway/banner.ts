// What a person reads when Polygraph is up: where everything is, and something to try.
import type { Configuration } from './configuration.ts'
import type { Polygraph } from './polygraph.ts'

interface Started {
  readonly configuration: Configuration
  readonly polygraph: Polygraph
  readonly only: string | undefined
  readonly readyMs: number
}

export function banner({ configuration, polygraph, only, readyMs }: Started): string {
  const { publicUrl, databaseUrl, dataFolder, isDemo } = configuration
  const isAlone = polygraph.services.length === 1 && only !== undefined
  const rows = polygraph.services.map(({ subgraph: { name, title, basePath } }) => {
    const address = `${publicUrl}${isAlone ? '' : `/${name}`}${basePath}`
    return `  ${name.padEnd(18)}${address}  ${title}`
  })
  return [
    '',
    `Polygraph is ready after ${(readyMs / 1000).toFixed(1)} s.`,
    '',
    `  graph             ${publicUrl}/graphql  (GraphiQL in a browser)`,
    ...rows,
    `  OpenAPI           ${publicUrl}${isAlone ? '' : '/<service>'}/openapi.json`,
    `  health, metrics   ${publicUrl}/healthz, /readyz, /metrics`,
    `  data              ${databaseUrl ? 'PostgreSQL' : dataFolder}`,
    ...(isDemo ? examples(publicUrl, isAlone) : []),
    '',
    '',
  ].join('\n')
}

const CREDENTIALS = 'npm run --silent credentials'
const member = (path: string) => `node -p 'JSON.parse(require("fs").readFileSync(0)).${path}'`

function examples(publicUrl: string, isAlone: boolean): string[] {
  if (isAlone) return ['', `The demo's credentials: ${CREDENTIALS} -- <service>`]
  return [
    '',
    `The demo's credentials: ${CREDENTIALS}. Try, in another terminal:`,
    '',
    `  curl -s -H "X-Vendor-Api-Secret: $(${CREDENTIALS} | ${member('braille.apiKey')})" \\`,
    `    '${publicUrl}/braille/translate/braille/unicode?text=Hello'`,
    '',
    `  curl -s -H "Authorization: Bearer $(${CREDENTIALS} | ${member('graph.token')})" \\`,
    `    -H 'content-type: application/json' ${publicUrl}/graphql \\`,
    `    -d '{"query": "{ me { name cloudAccounts { nodes { kind id } } } }"}'`,
  ]
}
