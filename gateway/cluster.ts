// npm run cluster: every service and the gateway as a process of its own, on this machine.
// npm run cluster -- hsm=2 voice=3: more than one process for some.
//
// 1. Services that run apart share what they know through PostgreSQL: the operator's DATABASE_URL, or
//    one that npm installed.
// 2. The database is prepared before any service starts: the demo needs all services in one process,
//    and no two of them migrate at once.
// 3. The gateway starts when every service is ready, and stops before any of them.
// 4. Whatever ends by itself is started again at the same address.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { clusterBanner } from './cluster-banner.ts'
import { makeFolders, type ClusterFolders } from './cluster-folders.ts'
import { BadConfiguration, readConfiguration } from './configuration.ts'
import { masterKey } from './ground.ts'
import { SERVICES } from './services.ts'
import { keepRunning, runOnce, untilReady, type Kept } from './supervisor.ts'

const LOOPBACK = '127.0.0.1'
/** Every service asks identity who calls, so there are two of it unless said. */
const REPLICAS: Readonly<Record<string, number>> = { identity: 2 }
const REPLICAS_MAX = 9
const ANSWER_MS_MAX = 5_000

type Environment = Readonly<Record<string, string | undefined>>

export interface ClusterOptions {
  /** What the operator sets, as for a single process. */
  readonly environment: Environment
  /** How many processes a service has, where that is not one. */
  readonly replicas?: Readonly<Record<string, number>>
  /** Told, in a line, when a process ends and is started again. */
  readonly tell?: (line: string) => void
}

export interface Cluster {
  readonly gateway: ClusterProcess
  readonly services: readonly ClusterProcess[]
  /** What a process must be told to belong to the cluster; `npm run credentials` is one. */
  readonly environment: Readonly<Record<string, string>>
  /** The same, for a shell to read. */
  readonly environmentFile: string
  readonly folders: ClusterFolders
  /** Whether the cluster runs PostgreSQL itself. */
  readonly hasOwnPostgres: boolean
  /** Stops the gateway, then the services, then identity, then PostgreSQL. */
  stop(): Promise<void>
}

/** One process, at the address that it keeps. */
export interface ClusterProcess {
  /** `hsm-1`, or `gateway`. */
  readonly name: string
  readonly service: string
  readonly url: string
  /** Undefined while it is not running. */
  pid(): number | undefined
}

type Place = Omit<ClusterProcess, 'pid'> & { readonly port: number }

/** Returns when the gateway is ready. What was started is stopped again when it fails. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { replicas = REPLICAS, tell = () => {} } = options
  const environment = withoutUrls(options.environment)
  const configuration = readConfiguration(environment, Object.keys(SERVICES))
  const dataFolder = resolve(configuration.dataFolder)
  const folders = makeFolders(dataFolder)
  await masterKey({ ...configuration, dataFolder })

  // Each needs those before it, so they stop in the opposite order.
  const kept = { postgres: [], identity: [], others: [], gateway: [] } as Record<string, Kept[]>
  const keep = (name: string, program: readonly string[], own: Environment): Kept => {
    const logFile = join(folders.logs, `${name}.log`)
    const one = keepRunning({ name, program, environment: own, logFile, tell })
    ;(kept[name.replace(/-\d$/, '')] ?? kept.others!).push(one)
    return one
  }
  const startOne = async (place: Place, own: Environment): Promise<ClusterProcess> => {
    const { name, service, url, port } = place
    const one = keep(name, ['gateway/start.ts', service], { ...own, PORT: String(port) })
    await untilReady(one, () => answers(`${url}/readyz`))
    return { name, service, url, pid: () => one.pid }
  }
  const stop = async () => {
    for (const group of Object.values(kept).toReversed()) {
      await Promise.all(group.map((one) => one.stop()))
    }
  }

  async function startDatabase(): Promise<string> {
    const [port] = await freePorts(1)
    const program = ['gateway/keep-postgres.ts', folders.postgres, String(port)]
    const one = keep('postgres', program, environment)
    await untilReady(one, async () => one.hasSpoken)
    return `postgres://postgres@${LOOPBACK}:${port}/postgres`
  }

  async function startAll(): Promise<Cluster> {
    const DATABASE_URL = configuration.databaseUrl ?? (await startDatabase())
    const base = { ...environment, DATABASE_URL, POLYGRAPH_DATA: dataFolder }
    const logFile = join(folders.logs, 'prepare.log')
    await runOnce({ name: 'prepare', program: ['gateway/prepare.ts'], environment: base, logFile })

    const [gatewayPort, ...ports] = await freePorts(1 + countOf(replicas))
    const places = placesOf(replicas, ports)
    const port = configuration.port || gatewayPort!
    // It is asked on this machine, wherever else it listens.
    const url = `http://${configuration.isLoopback ? configuration.host : LOOPBACK}:${port}`
    const place = { name: 'gateway', service: 'gateway', url, port }
    const urls = urlVariables([...places, place])
    // The preparation made the demo; a service alone would make but a part of one.
    const own = { ...base, ...urls, POLYGRAPH_DEMO: '0' }
    // The links of a service lead to its own address, which is where its clients come to.
    const ofServices = { ...own, HOST: LOOPBACK, POLYGRAPH_PUBLIC_URL: '' }
    const services = await Promise.all(places.map((place) => startOne(place, ofServices)))

    const PORT = String(port)
    const { publicUrl } = readConfiguration({ ...environment, PORT }, Object.keys(SERVICES))
    const gateway = await startOne(place, own)

    const shared = {
      DATABASE_URL,
      POLYGRAPH_DATA: dataFolder,
      POLYGRAPH_PUBLIC_URL: publicUrl,
      ...urls,
    }
    const environmentFile = join(folders.own, 'environment')
    writeFileSync(environmentFile, shellText(shared), { mode: 0o600 })
    const hasOwnPostgres = configuration.databaseUrl === undefined
    return {
      gateway,
      services,
      environment: shared,
      environmentFile,
      folders,
      hasOwnPostgres,
      stop,
    }
  }

  try {
    return await startAll()
  } catch (error) {
    await stop()
    throw error
  }
}

/** The addresses of a cluster that ran before, if a shell still has them, are not this one's. */
const withoutUrls = (environment: Environment): Environment =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith('POLYGRAPH_URL_')),
  )

const countOf = (replicas: Readonly<Record<string, number>>): number =>
  Object.keys(SERVICES).reduce((sum, service) => sum + (replicas[service] ?? 1), 0)

function placesOf(replicas: Readonly<Record<string, number>>, ports: readonly number[]): Place[] {
  const names = Object.keys(SERVICES).flatMap((service) =>
    Array.from({ length: replicas[service] ?? 1 }, (_, i) => ({
      service,
      name: `${service}-${i + 1}`,
    })),
  )
  return names.map(({ service, name }, i) => {
    const port = ports[i]!
    return { name, service, port, url: `http://${LOOPBACK}:${port}` }
  })
}

function urlVariables(places: readonly Place[]): Record<string, string> {
  const variables: Record<string, string> = {}
  for (const [service, ofService] of Map.groupBy(places, ({ service }) => service)) {
    const name = `POLYGRAPH_URL_${service.toUpperCase().replaceAll('-', '_')}`
    variables[name] = ofService.map(({ url }) => url).join(',')
  }
  return variables
}

/** Ports that nobody listens on. They are held together, so they differ. */
async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer().listen(0, LOOPBACK))
  await Promise.all(probes.map((probe) => once(probe, 'listening')))
  const ports = probes.map((probe) => (probe.address() as AddressInfo).port)
  await Promise.all(probes.map((probe) => once(probe.close(), 'close')))
  return ports
}

const answers = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) }).then(
    ({ ok }) => ok,
    () => false,
  )

const shellText = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'\n`)
    .join('')

/** `hsm=2`, for each service that is to have other than its usual number. */
function readReplicas(words: readonly string[]): Record<string, number> {
  const replicas = { ...REPLICAS }
  for (const word of words) {
    const [service = '', count = ''] = word.split('=')
    if (!Object.hasOwn(SERVICES, service) || !/^[1-9]$/.test(count)) {
      throw new BadConfiguration(
        `  - ${word}: write a service and how many of it, up to ${REPLICAS_MAX}, such as hsm=2`,
      )
    }
    replicas[service] = Number(count)
  }
  return replicas
}

const say = (line: string) => process.stderr.write(`${line}\n`)

async function main(): Promise<void> {
  let cluster: Cluster | undefined
  // A second signal, which a terminal and npm may both send, changes nothing. While it starts there
  // is nothing to be finished, and the processes notice that their supervisor is gone.
  let isStopping = false
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (isStopping) return
      isStopping = true
      say('Stopping the gateway, then the services.')
      void Promise.resolve(cluster?.stop()).finally(() => process.exit(0))
    })
  }
  try {
    cluster = await startCluster({
      environment: process.env,
      replicas: readReplicas(process.argv.slice(2)),
      tell: say,
    })
    say(clusterBanner(cluster, Math.round(performance.now())))
  } catch (error) {
    const { message } = error as Error
    say(`The cluster does not start.\n${message}`)
    process.exit(1)
  }
}

if (import.meta.main) await main()
