// What a person reads when the cluster is up.
import { relative } from 'node:path'
import type { Cluster } from './cluster.ts'

export function clusterBanner(cluster: Cluster, readyMs: number): string {
  const { gateway, services, environment, environmentFile, folders, hasOwnPostgres } = cluster
  const byService = Map.groupBy(services, ({ service }) => service)
  const rows = [...byService].map(([service, processes]) => [
    service,
    processes.map(({ url }) => url).join(', '),
  ])
  return [
    '',
    `The cluster is ready after ${(readyMs / 1000).toFixed(1)} s: ${services.length + 1} processes.`,
    '',
    `  graph             ${gateway.url}/graphql  (GraphiQL in a browser)`,
    ...rows.map(([service, urls]) => `  ${service!.padEnd(18)}${urls}`),
    `  PostgreSQL        ${withoutPassword(environment.DATABASE_URL!)}`,
    ...(hasOwnPostgres
      ? [`                    with its files in ${shortOf(folders.postgres)}/`]
      : []),
    `  logs              ${shortOf(folders.logs)}/`,
    '',
    `The demo's credentials: (. ${shortOf(environmentFile)}; npm run --silent credentials)`,
    'Ctrl-C stops everything.',
    '',
  ].join('\n')
}

/** As one would type it here. */
function shortOf(path: string): string {
  const short = relative(process.cwd(), path)
  return short.startsWith('..') ? path : `./${short}`
}

function withoutPassword(address: string): string {
  const url = new URL(address)
  if (url.password) url.password = '***'
  return url.href
}
