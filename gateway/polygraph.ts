// Puts a process together: all services and the gateway, one service alone, or the gateway alone.
import { setImmediate as immediate } from 'node:timers/promises'
import type { ApolloServer } from '@apollo/server'
import { virtualClock, wallClock } from '../resolvers/kernel/clock.ts'
import type { Context } from '../resolvers/kernel/context.ts'
import { noGraph, type GraphPort } from '../resolvers/kernel/graph.ts'
import { keyFor, openSecrets } from '../resolvers/kernel/secrets.ts'
import { goOn, type Soon } from '../resolvers/kernel/soon.ts'
import { advanceTo } from '../resolvers/kernel/work.ts'
import { apolloDoor } from '../subgraphs/server/apollo.ts'
import { openCredentials, type AskIdentity } from '../subgraphs/server/auth/credentials.ts'
import { NOTE_HEADER, openNotes, type Notes } from '../subgraphs/server/auth/gateway.ts'
import { open, serviceCaller, type Ground, type Opened } from '../subgraphs/server/open.ts'
import { remoteOf } from '../subgraphs/server/remote.ts'
import { requestIds } from '../subgraphs/server/request-ids.ts'
import type { Subgraph } from '../subgraphs/server/subgraph.ts'
import { openTelemetry } from '../subgraphs/server/telemetry.ts'
import { batchOf } from './batch.ts'
import { callerOf, GATEWAY, type GatewayContext } from './callers.ts'
import type { Configuration } from './configuration.ts'
import { keepingAsks } from './executor/source.ts'
import { fetchesDoor } from './fetches-door.ts'
import { openFront, type Front } from './front.ts'
import type { GraphRequest } from './graph-door.ts'
import type { Gateway } from './gateway.ts'
import { masterKey, openStores } from './ground.ts'
import { inProcess } from './in-process.ts'
import { openLive } from './live.ts'
import type { Logging } from './logging.ts'
import { openOutbound } from './outbound.ts'
import { askOverHttp, overHttp } from './over-http.ts'
import { composedTypes, graphInProcess, graphOverHttp } from './graph-port.ts'
import { loadServices, SERVICES } from './services.ts'
import type { Traces } from './traces.ts'

export interface Polygraph {
  readonly services: readonly Opened[]
  /** Where this process keeps people and credentials, if it does. */
  readonly identity: Opened | undefined
  readonly front: Front
  readonly ground: Omit<Ground, 'store'>
  /** Asks identity as a service asks. */
  readonly ask: AskIdentity
  /** Runs work in the background from now on. */
  start(): void
  /** Does ahead, between requests, what the first query to each service would wait for. */
  makeReady(): Promise<void>
  /** Answers what is in flight, finishes the steps that are running, closes the stores. */
  close(): Promise<void>
}

/** `only` names the one service, or `gateway`; without it everything runs in this process. */
export async function openPolygraph(
  configuration: Configuration,
  { log, write }: Logging,
  only?: string,
): Promise<Polygraph> {
  const key = await masterKey(configuration)
  const telemetry = openTelemetry(log, write)
  const stores = await openStores(configuration, (error) =>
    telemetry.mistake(error, { service: 'gateway', at: 'news' }),
  )
  const traces = await openTracesIfWanted(configuration, log, only)
  const clock = virtualClock()
  const notes = openNotes(keyFor('notes', key), wallClock)
  const { subgraphUrls } = configuration
  const opened: Opened[] = []

  const isIdentityRemote = only !== undefined && only !== 'identity' && 'identity' in subgraphUrls
  const ask = isIdentityRemote
    ? askRemotely(subgraphUrls.identity!, notes, only)
    : askInProcess(() => opened.find(({ subgraph }) => subgraph.name === 'identity')!)
  const credentials = openCredentials(ask, wallClock)
  const ground = {
    clock,
    wallClock,
    telemetry,
    credentials,
    outbound: openOutbound({
      hosts: configuration.outboundHosts,
      mayCallPrivateAddresses: configuration.mayCallPrivateAddresses,
    }),
    graph: graphPort(),
    cursorKey: keyFor('cursors', key),
    secrets: openSecrets(keyFor('secrets', key)),
    ...(configuration.live.streamsMax > 0 && { news: stores.news }),
    // Time can be moved where one process keeps it for all services.
    ...(Object.keys(subgraphUrls).length === 0 && { advance }),
  }

  const names = namesServed(only, isIdentityRemote)
  const subgraphs = await loadServices(names)
  opened.push(...(await Promise.all(subgraphs.map(openOne))))
  if (ground.advance) {
    const { answer } = await ask('{ answer: clockAheadMs }', {})
    clock.moveTo(new Date(wallClock.now().getTime() + Number(answer)))
  }

  function graphPort(): GraphPort {
    const { gatewayUrls, publicUrl } = configuration
    if (only === undefined)
      return graphInProcess({ gateway: () => gateway!, credentials, publicUrl })
    return gatewayUrls.length > 0
      ? graphOverHttp({ urls: gatewayUrls, credentials, notes })
      : noGraph
  }

  async function openOne(subgraph: Subgraph): Promise<Opened> {
    return open(subgraph, { ...ground, store: await stores.open(subgraph) })
  }

  let moving: Promise<unknown> = Promise.resolve()
  function advance(byMs: number): Promise<{ now: Date; stepsRun: number }> {
    const moved = moving.then(async () => {
      const aheadMs = clock.aheadMs + byMs
      const target = new Date(wallClock.now().getTime() + aheadMs)
      const runners = opened.map(({ work }) => work)
      // Background runs would take steps out of the order of time.
      await Promise.all(runners.map((runner) => runner.stop()))
      try {
        const stepsRun = await advanceTo(target, clock, runners)
        // The steps took time of the world, by which the clock must not fall short.
        clock.moveTo(new Date(wallClock.now().getTime() + aheadMs))
        return { now: clock.now(), stepsRun }
      } finally {
        for (const runner of runners) runner.start()
      }
    })
    moving = moved.catch(() => {})
    return moved
  }

  watchFigures(opened, ground)
  const served = only ? opened.filter(({ subgraph }) => subgraph.name === only) : opened
  const isAlone = only !== undefined && only !== GATEWAY
  // The planner is loaded by those alone who plan.
  const gateway = isAlone
    ? undefined
    : await (
        await import('./gateway.ts')
      ).openGateway({
        isIntrospectable: configuration.isIntrospectable,
        sourceOf: (name) => sourceOf(name, opened, notes, configuration),
        limits: configuration.limits,
        entitySeconds: configuration.entitySeconds,
        safelist: await safelistOf(configuration, log),
      })
  if (gateway) telemetry.add(gateway.figures.text)
  const apollo: ApolloServer<any> =
    gateway?.server ??
    (await apolloDoor(served[0]!, { introspection: configuration.isIntrospectable }))
  const proveAtGateway = (request: GraphRequest) =>
    gatewayContext(configuration, ground, notes, request)
  const newId = requestIds()
  const front = await openFront<any>({
    services: served,
    isAlone,
    apollo,
    shortly: gateway?.shortly,
    contextOf: isAlone ? (request) => aloneContext(served[0]!, notes, request) : proveAtGateway,
    telemetry,
    traces,
    publicUrl: configuration.hasPublicUrl ? configuration.publicUrl : undefined,
    hasPage: configuration.isIntrospectable,
    newId,
    fetches: isAlone
      ? fetchesDoor({ opened: served[0]!, notes, telemetry, traces, newId })
      : undefined,
    live: await openLive({
      configuration,
      gateway,
      contextOf: proveAtGateway,
      news: stores.news,
      telemetry,
      newId,
    }),
  })

  return {
    services: served,
    identity: opened.find(({ subgraph }) => subgraph.name === 'identity'),
    front,
    ground,
    ask,
    start: () => opened.forEach((service) => service.start()),
    makeReady: () => makeReady(served, gateway),
    async close() {
      if (front.server.listening) await front.close()
      // A step may ask the graph, which is therefore there until all have ended.
      await Promise.all(opened.map(({ work }) => work.stop()))
      await apollo.stop()
      await traces?.close()
      await Promise.all(opened.map((service) => service.close()))
      await stores.close()
    },
  }
}

async function makeReady(served: readonly Opened[], gateway: Gateway | undefined): Promise<void> {
  // Settled, since one that fails meanwhile must not go unseen.
  const starting = Promise.allSettled(served.map(async ({ subgraph }) => subgraph.makeReady?.()))
  if (gateway) {
    for (const service of served) {
      await immediate()
      void service.schema
    }
    const resources = served.flatMap(({ subgraph }) => subgraph.resources)
    const asked = resources.flatMap(({ asks }) => asks?.(composedTypes()) ?? [])
    await gateway.makeReady([...new Set(asked)])
  }
  for (const outcome of await starting) if (outcome.status === 'rejected') throw outcome.reason
  // Starting leaves behind what nobody needs again; V8 would keep most of its memory.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}

/** What traces need is loaded by those alone who want them. */
async function openTracesIfWanted(
  { tracesUrl: url }: Configuration,
  log: Logging['log'],
  only: string | undefined,
): Promise<Traces | undefined> {
  if (!url) return undefined
  const { openTraces } = await import('./traces.ts')
  return openTraces({ url, log, service: only ? `polygraph-${only}` : 'polygraph' })
}

/** Identity comes along wherever it is not elsewhere, since every service asks it. */
function namesServed(only: string | undefined, isIdentityRemote: boolean): string[] {
  if (only === undefined) return Object.keys(SERVICES)
  const names = only === GATEWAY ? [] : [only]
  return isIdentityRemote || only === 'identity' ? names : [...names, 'identity']
}

function sourceOf(
  name: string,
  opened: readonly Opened[],
  notes: Notes,
  { subgraphUrls, fetchMs }: Configuration,
) {
  const urls = subgraphUrls[name]
  if (urls) return overHttp({ name, urls, notes, fetchMs })
  const service = opened.find(({ subgraph }) => subgraph.name === name)
  if (service) return inProcess(service)
  const variable = `POLYGRAPH_URL_${name.toUpperCase().replaceAll('-', '_')}`
  throw new Error(`the gateway does not know where ${name} is: set ${variable}`)
}

function askInProcess(identity: () => Opened): AskIdentity {
  const { prepare } = keepingAsks({
    prepare: (query) => inProcess(identity()).prepare(query, undefined),
  })
  const context: GatewayContext = {
    caller: serviceCaller('polygraph'),
    publicUrl: '',
    requestId: '',
    headers: {},
  }
  return async (query, variables) => {
    return answerOf(await prepare(query, undefined)(variables, context))
  }
}

function askRemotely(urls: readonly string[], notes: Notes, asker: string): AskIdentity {
  const ask = askOverHttp({ name: 'identity', urls })
  return async (query, variables) => {
    const note = await notes.write(serviceCaller(asker), 'identity')
    return answerOf(await ask({ query, variables }, { [NOTE_HEADER]: note }))
  }
}

function answerOf(result: any): { answer: unknown } {
  if (result.errors?.length) throw new Error(`identity refused: ${result.errors[0].message}`)
  return result.data
}

function gatewayContext(
  { publicUrl, limits }: Configuration,
  { credentials }: Pick<Ground, 'credentials'>,
  notes: Notes,
  { id, raw, json, trace }: GraphRequest,
): Soon<GatewayContext> {
  const { headers } = raw
  const note = headers[NOTE_HEADER]
  const isOurs = typeof note === 'string'
  // A service of ours that asks for a person says so in a note, as the gateway does to services.
  const proved = isOurs ? notes.read(note, GATEWAY) : callerOf(headers, credentials)
  return goOn(proved, (caller) => ({
    caller,
    publicUrl,
    requestId: id,
    headers: headers as Record<string, string | undefined>,
    trace,
    isOurs,
    batch: batchOf(json, limits.batchMax),
  }))
}

async function safelistOf(
  { safelist: path, isSafelistEnforced: isEnforced }: Configuration,
  log: Logging['log'],
) {
  if (path === undefined) return undefined
  return (await import('./safelist.ts')).openSafelist({ path, isEnforced, log })
}

/** A service alone takes the gateway's note, or a credential of its own scheme. */
async function aloneContext(
  { subgraph, ground, contextFor }: Opened,
  notes: Notes,
  { raw, body }: GraphRequest,
): Promise<Context> {
  const { headers, method = '' } = raw
  const note = headers[NOTE_HEADER]
  const caller =
    typeof note === 'string'
      ? await notes.read(note, subgraph.name)
      : await subgraph.scheme.prove(
          {
            service: subgraph.name,
            method,
            url: raw.url!,
            headers,
            body,
            now: ground.wallClock.now(),
          },
          ground.credentials,
          { ...ground, remote: remoteOf(raw) },
        )
  return contextFor(caller, {
    address: raw.address ?? '',
    headers: headers as Record<string, string | undefined>,
  })
}

function watchFigures(opened: readonly Opened[], { telemetry }: Pick<Ground, 'telemetry'>): void {
  telemetry.watch(
    'polygraph_work_steps',
    'Steps of work that wait, and steps that failed too often and were parked.',
    async (set) => {
      for (const { subgraph, work } of opened) {
        const { waiting, parked } = await work.counts()
        set({ service: subgraph.name, state: 'waiting' }, waiting)
        set({ service: subgraph.name, state: 'parked' }, parked)
      }
    },
  )
  telemetry.watch(
    'polygraph_store_commits',
    'Commits of the store since the start.',
    async (set) => {
      for (const { subgraph, ground } of opened) {
        set({ service: subgraph.name }, ground.store.stats().commits)
      }
    },
  )
  telemetry.watch(
    'polygraph_store_writes',
    'Writes of the store since the start, of which several share a commit.',
    async (set) => {
      for (const { subgraph, ground } of opened) {
        set({ service: subgraph.name }, ground.store.stats().writes)
      }
    },
  )
}
