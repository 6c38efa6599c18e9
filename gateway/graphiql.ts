// GraphiQL for a browser at /graphql, served from its package: it works without the internet.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'

const require = createRequire(import.meta.url)
const ASSETS: Readonly<Record<string, { from: string; type: string }>> = {
  'react.js': { from: 'react/umd/react.production.min.js', type: 'text/javascript' },
  'react-dom.js': { from: 'react-dom/umd/react-dom.production.min.js', type: 'text/javascript' },
  'graphiql.js': { from: 'graphiql/graphiql.min.js', type: 'text/javascript' },
  'graphiql.css': { from: 'graphiql/graphiql.min.css', type: 'text/css' },
}
const YEAR_S = 365 * 24 * 3600

const EXAMPLE = `# Who asks is said under Headers, below.
# The demo's token, under "graph":
#   npm run --silent credentials
{
  brailleUnicode(text: "Hello, world.") {
    contents { translated }
  }
}
`

const HEADERS = '{"Authorization": "Bearer "}'

const SCRIPT = `
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: '/graphql' }),
    defaultEditorToolsVisibility: 'headers',
    isHeadersEditorEnabled: true,
    defaultHeaders: ${JSON.stringify(HEADERS)},
    defaultQuery: ${JSON.stringify(EXAMPLE)},
  }),
)
`

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Polygraph</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/graphiql/graphiql.css">
<style>body, #graphiql { margin: 0; height: 100vh }</style>
</head>
<body>
<div id="graphiql">Loading…</div>
<script src="/graphiql/react.js"></script>
<script src="/graphiql/react-dom.js"></script>
<script src="/graphiql/graphiql.js"></script>
<script>${SCRIPT}</script>
</body>
</html>
`

const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`,
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

/** Whether a browser asks for a page, and not a client for data. */
export const wantsPage = (accept: string | undefined): boolean =>
  accept?.includes('text/html') === true

export const graphiqlPage = { headers: PAGE_HEADERS, body: PAGE }

export function addGraphiqlAssets(app: FastifyInstance): void {
  for (const [name, { from, type }] of Object.entries(ASSETS)) {
    app.get(`/graphiql/${name}`, async (_request, reply) =>
      reply
        .headers({ 'cache-control': `public, max-age=${YEAR_S}`, 'content-type': type })
        .send(await readFile(pathOf(from))),
    )
  }
}

/** Packages hide their files behind exports, so the file is found from the package's own. */
function pathOf(asset: string): string {
  const [name, ...rest] = asset.split('/')
  return require.resolve(`${name}/package.json`).replace('package.json', rest.join('/'))
}
