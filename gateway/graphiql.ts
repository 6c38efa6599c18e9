// GraphiQL for a browser at /graphql, served from its package: it works without the internet.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance } from 'fastify'
import { examples } from './examples.ts'

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
# The panel at the left has queries to begin with.
{
  brailleUnicode(text: "Hello, world.") {
    contents { translated }
  }
}
`

const HEADERS = '{"Authorization": "Bearer "}'

// A panel beside the documentation. What is chosen there replaces the query and leaves the headers.
const PANEL = `
const examples = ${JSON.stringify(examples).replaceAll('<', '\\u003c')}
const h = React.createElement
function Examples() {
  const { queryEditor } = GraphiQL.React.useEditorContext({ nonNull: true })
  return h('section', { 'aria-label': 'Examples' },
    h('div', { className: 'graphiql-history-header' }, 'Examples'),
    h('ul', { className: 'graphiql-history-items' }, examples.map(({ name, about, query }) =>
      h('li', { key: name },
        h('button', {
          type: 'button',
          className: 'graphiql-un-styled example',
          onClick: () => queryEditor?.setValue(query),
        }, h('b', null, name), h('span', null, about))))))
}
const plugin = {
  title: 'Examples',
  icon: () => h('svg', { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5 },
    h('path', { d: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01' })),
  content: Examples,
}
`

const scriptOf = (hasExamples: boolean): string => `${hasExamples ? PANEL : ''}
ReactDOM.createRoot(document.getElementById('graphiql')).render(
  React.createElement(GraphiQL, {
    fetcher: GraphiQL.createFetcher({ url: '/graphql' }),
    defaultEditorToolsVisibility: 'headers',
    isHeadersEditorEnabled: true,
    defaultHeaders: ${JSON.stringify(HEADERS)},
    defaultQuery: ${JSON.stringify(EXAMPLE)},
    ${hasExamples ? 'plugins: [plugin], visiblePlugin: plugin,' : ''}
  }),
)
`

const pageOf = (script: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Polygraph</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/graphiql/graphiql.css">
<style>
body, #graphiql { margin: 0; height: 100vh }
.graphiql-history-items li { margin-bottom: 12px }
.example { display: block; text-align: left; cursor: pointer }
.example span { display: block; opacity: 0.76 }
</style>
</head>
<body>
<div id="graphiql">Loading…</div>
<script src="/graphiql/react.js"></script>
<script src="/graphiql/react-dom.js"></script>
<script src="/graphiql/graphiql.js"></script>
<script>${script}</script>
</body>
</html>
`

const policyOf = (script: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
    "style-src 'self' 'unsafe-inline'",
    "font-src 'self' data:",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Whether a browser asks for a page, and not a client for data. */
export const wantsPage = (accept: string | undefined): boolean =>
  accept?.includes('text/html') === true

/** The page; the examples are for the whole graph, and not for a service alone. */
export function graphiqlPage({ hasExamples }: { hasExamples: boolean }) {
  const script = scriptOf(hasExamples)
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policyOf(script),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  }
  return { headers, body: pageOf(script) }
}

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
