// Opens a subgraph on a given ground: both doors, its work and its events.
import type { FastifyInstance } from 'fastify'
import type { GraphQLSchema } from 'graphql'
import { blobsMigration, openBlobs } from '../../resolvers/kernel/blobs.ts'
import type { Clock } from '../../resolvers/kernel/clock.ts'
import type { Caller, Context } from '../../resolvers/kernel/context.ts'
import {
  eventsMigration,
  listenerSteps,
  openEvents,
  sweepEvents,
} from '../../resolvers/kernel/events.ts'
import { graphFor, type GraphPort } from '../../resolvers/kernel/graph.ts'
import { idMaker } from '../../resolvers/kernel/ids.ts'
import { tellingCommits, type News } from '../../resolvers/kernel/news.ts'
import type { Outbound } from '../../resolvers/kernel/outbound.ts'
import { cursors } from '../../resolvers/kernel/paging.ts'
import type { Secrets } from '../../resolvers/kernel/secrets.ts'
import type { MigrationSet } from '../../resolvers/kernel/migrations.ts'
import type { Kind, Store } from '../../resolvers/kernel/store.ts'
import { openWork, workMigration, type Runner } from '../../resolvers/kernel/work.ts'
import { graphqlDoor } from './graphql.ts'
import { restDoor, type ContextRequest } from './rest.ts'
import { requestIds } from './request-ids.ts'
import type { Credentials, Subgraph } from './subgraph.ts'
import type { Telemetry } from './telemetry.ts'

const SWEEP_MS = 60 * 60_000

/** What a subgraph stands on. */
export interface Ground {
  readonly store: Store
  readonly clock: Clock
  readonly wallClock: Clock
  readonly credentials: Credentials
  readonly telemetry: Telemetry
  readonly outbound: Outbound
  readonly graph: GraphPort
  /** Signs page tokens; the same at every start and in every process. */
  readonly cursorKey: Uint8Array
  readonly secrets: Secrets
  readonly advance?: Context['advance']
  /** Where it tells what it announced, if anyone may follow. */
  readonly news?: News
}

export interface Opened {
  readonly subgraph: Subgraph
  readonly ground: Ground
  readonly schema: GraphQLSchema
  /** Ready when its `ready()` is. */
  readonly rest: FastifyInstance
  readonly work: Runner
  contextFor(caller: Caller, request: ContextRequest): Context
  /** Forgets what has expired. It happens by itself every hour of the world's time. */
  sweep(): Promise<void>
  /** Runs work in the background from now on. */
  start(): void
  /** Finishes what is running, and closes the store. */
  close(): Promise<void>
}

/** Who acts when a service acts by itself. */
export const serviceCaller = (name: string): Caller => ({
  kind: 'service',
  userId: '',
  credentialId: `service ${name}`,
  accounts: [],
  permissions: ['*'],
  isAdmin: true,
})

export const kindsOf = ({ resources }: Subgraph): Kind<any>[] =>
  resources.flatMap(({ kinds = [] }) => kinds)

/** What the kernel stores for every service, and what the service stores beside its kinds. */
export const migrationsOf = ({ name, migrations = [] }: Subgraph): MigrationSet[] => [
  { set: 'kernel', list: [workMigration, eventsMigration, blobsMigration] },
  { set: name, list: migrations },
]

export async function open(subgraph: Subgraph, given: Ground): Promise<Opened> {
  const { name, resources } = subgraph
  const { news } = given
  const telling = news && tellingCommits(given.store, (announced) => news.tell(name, announced))
  const ground = telling ? { ...given, store: telling.store } : given
  const { store, clock, wallClock, telemetry, cursorKey } = ground
  const newId = idMaker(clock)
  const listeners = Object.assign({}, ...resources.map(({ listeners }) => listeners))
  const steps = Object.assign(listenerSteps(listeners), ...resources.map(({ steps }) => steps))

  const work = openWork({
    store,
    clock,
    newId,
    steps,
    contextOf: () => contextFor(serviceCaller(name), { address: '', headers: {} }),
    onFailure: ({ step, error, isParked }) =>
      telemetry.mistake(error, { service: name, step, isParked }),
  })
  const shared = {
    store,
    clock,
    wallClock,
    work,
    newId,
    events: openEvents({ clock, newId, work, listeners, onAnnounced: telling?.announced }),
    cursors: cursors(cursorKey),
    outbound: ground.outbound,
    secrets: ground.secrets,
    blobs: openBlobs({ clock }),
    ...(ground.advance && { advance: ground.advance }),
  }
  const contextFor = (caller: Caller, { address, headers, remote }: ContextRequest): Context => ({
    ...shared,
    caller,
    graph: graphFor(ground.graph, caller),
    address,
    headers,
    remote,
  })

  // The doors are made when somebody first comes to them: making all of them takes most of a start.
  let schema: GraphQLSchema | undefined
  const openSchema = () =>
    graphqlDoor(subgraph, {
      performed: (operation, status, ms) =>
        telemetry.performed({ service: name, operation, status, ms }),
      mistake: (error, operation) => telemetry.mistake(error, { service: name, operation }),
    })
  let rest: FastifyInstance | undefined
  function openRest(): FastifyInstance {
    const { credentials } = ground
    const now = () => wallClock.now()
    const own = { store, wallClock }
    const newId = requestIds()
    const app = restDoor({ subgraph, credentials, now, newId, telemetry, own, contextFor })
    void app.register(inside(async () => subgraph.mount?.(app, contextFor)))
    return app
  }
  let sweeper: NodeJS.Timeout | undefined
  async function sweep(): Promise<void> {
    await sweepEvents(store, clock)
    await subgraph.sweep?.(contextFor(serviceCaller(name), { address: '', headers: {} }))
  }

  return {
    subgraph,
    ground,
    get schema() {
      return (schema ??= openSchema())
    },
    get rest() {
      return (rest ??= openRest())
    },
    work,
    contextFor,
    sweep,
    start() {
      work.start()
      const sweepOrTell = () =>
        sweep().catch((error: unknown) =>
          telemetry.mistake(error, { service: name, step: '(sweep)' }),
        )
      sweeper = setInterval(sweepOrTell, SWEEP_MS).unref()
    },
    async close() {
      clearInterval(sweeper)
      await rest?.close()
      await work.stop()
      await store.close()
    },
  }
}

/** A plugin whose routes obey what the server itself was told. */
const inside = (plugin: () => Promise<void>) =>
  Object.assign(plugin, { [Symbol.for('skip-override')]: true })
