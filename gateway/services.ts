// The services that are there, by name. Each is loaded when it is served.
import type { Subgraph } from '../subgraphs/server/subgraph.ts'

type Load = () => Promise<{ subgraph: Subgraph }>

export const SERVICES: Readonly<Record<string, Load>> = {
  backup: () => import('../subgraphs/backup.ts'),
  banking: () => import('../subgraphs/banking.ts'),
  braille: () => import('../subgraphs/braille.ts'),
  'config-store': () => import('../subgraphs/config-store.ts'),
  contributions: () => import('../subgraphs/contributions.ts'),
  diagnostics: () => import('../subgraphs/diagnostics.ts'),
  'event-detection': () => import('../subgraphs/event-detection.ts'),
  hsm: () => import('../subgraphs/hsm.ts'),
  identity: () => import('../subgraphs/identity.ts'),
  podcasts: () => import('../subgraphs/podcasts.ts'),
  'resource-groups': () => import('../subgraphs/resource-groups.ts'),
  scheduler: () => import('../subgraphs/scheduler.ts'),
  'sql-db': () => import('../subgraphs/sql-db.ts'),
  'sql-vm': () => import('../subgraphs/sql-vm.ts'),
  voice: () => import('../subgraphs/voice.ts'),
}

/** Loads the named services, in the order of their names. */
export const loadServices = (names: readonly string[]): Promise<Subgraph[]> =>
  Promise.all(names.toSorted().map(async (name) => (await SERVICES[name]!()).subgraph))
