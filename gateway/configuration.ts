// What an operator sets, all of it by environment. docs/configuration.md has the same table in words.
import { z } from 'zod'

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])
const KEY_BYTES = 32

export interface Configuration {
  readonly port: number
  readonly host: string
  readonly isLoopback: boolean
  readonly isProduction: boolean
  readonly dataFolder: string
  readonly databaseUrl: string | undefined
  readonly isDemo: boolean
  readonly isIntrospectable: boolean
  readonly secretKey: Uint8Array | undefined
  /** Where clients reach this installation, when it is not where it listens. */
  readonly publicUrl: string
  /** Whether an operator set it; otherwise links lead to where the client came to. */
  readonly hasPublicUrl: boolean
  readonly logLevel: string
  readonly outboundHosts: readonly string[]
  readonly mayCallPrivateAddresses: boolean
  /** Where the subgraphs are that run in processes of their own, by name. */
  readonly subgraphUrls: Readonly<Record<string, readonly string[]>>
  /** Where the gateway is, for services in processes of their own that ask the whole graph. */
  readonly gatewayUrls: readonly string[]
  /** Where traces are sent. */
  readonly tracesUrl: string | undefined
  /** How long a subgraph elsewhere may take to answer one fetch. */
  readonly fetchMs: number
  /** What one request to the graph may ask. */
  readonly limits: Readonly<Record<'queryCostMax' | 'queryMsMax' | 'batchMax', number>>
  /** For how many seconds the gateway keeps entities, by type. */
  readonly entitySeconds: ReadonlyMap<string, number>
  /** How many live queries may be open. */
  readonly live: Readonly<Record<'streamsMax' | 'callerStreamsMax', number>>
  /** Where the operations are listed that clients may send. */
  readonly safelist: string | undefined
  readonly isSafelistEnforced: boolean
}

const choice = z.enum(['0', '1'], 'must be 0 or 1').transform((value) => value === '1')
const wholeBetween = (min: number, max: number) => {
  const error = `must be a whole number between ${min} and ${max}`
  return z.coerce.number(error).int(error).min(min, error).max(max, error)
}
const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })

const environment = z.object({
  PORT: z.coerce.number('must be a port number').int().min(0).max(65535).default(4000),
  HOST: z.string().min(1).default('127.0.0.1'),
  NODE_ENV: z.string().optional(),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// URL' })
    .optional(),
  POLYGRAPH_DATA: z.string().min(1).default('./data'),
  POLYGRAPH_DEMO: choice.optional(),
  POLYGRAPH_INTROSPECTION: choice.optional(),
  POLYGRAPH_SECRET_KEY: z
    .base64('must be 32 bytes in base64')
    .refine(
      (text) => Buffer.from(text, 'base64').length === KEY_BYTES,
      'must be 32 bytes in base64',
    )
    .optional(),
  POLYGRAPH_PUBLIC_URL: httpUrl.optional(),
  POLYGRAPH_LOG: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  POLYGRAPH_OUTBOUND_HOSTS: z.string().default(''),
  POLYGRAPH_OUTBOUND_PRIVATE: choice.default(false),
  OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl.optional(),
  POLYGRAPH_FETCH_MS: wholeBetween(1, 600_000).default(10_000),
  POLYGRAPH_QUERY_COST_MAX: wholeBetween(1, 1_000_000).default(10_000),
  POLYGRAPH_QUERY_MS_MAX: wholeBetween(1, 600_000).default(60_000),
  POLYGRAPH_BATCH_MAX: wholeBetween(0, 100).default(10),
  POLYGRAPH_ENTITY_CACHE: z
    .string()
    .regex(/^(\w+=[1-9]\d{0,4}(,\s*(?=\w)|$))+$/, 'must be like Podcast=60,Episode=30, in seconds')
    .optional(),
  POLYGRAPH_LIVE_MAX: wholeBetween(0, 100_000).default(1_000),
  POLYGRAPH_LIVE_CALLER_MAX: wholeBetween(1, 100_000).default(20),
  POLYGRAPH_SAFELIST: z.string().optional(),
  POLYGRAPH_SAFELIST_MODE: z.enum(['enforce', 'log'], 'must be enforce or log').default('enforce'),
})

const URL_PREFIX = 'POLYGRAPH_URL_'
const words = (text: string) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

export class BadConfiguration extends Error {}

/** Throws BadConfiguration, naming every variable that is wrong. */
export function readConfiguration(
  env: Readonly<Record<string, string | undefined>>,
  services: readonly string[],
): Configuration {
  const problems: string[] = []
  const read = environment.safeParse(withoutEmpty(env))
  for (const { path, message } of read.error?.issues ?? [])
    problems.push(`${String(path[0])}: ${message}`)
  const { gateway: gatewayUrls = [], ...subgraphUrls } = readUrls(env, services, problems)
  for (const name of Object.keys(env)) {
    const isKnown = name in environment.shape || name.startsWith(URL_PREFIX)
    if (name.startsWith('POLYGRAPH_') && !isKnown)
      problems.push(`${name}: there is no such setting`)
  }
  if (!read.success || problems.length > 0) {
    throw new BadConfiguration(problems.map((problem) => `  - ${problem}`).join('\n'))
  }
  const set = read.data
  const isLoopback = LOOPBACK.has(set.HOST)
  const isProduction = set.NODE_ENV === 'production'
  return {
    port: set.PORT,
    host: set.HOST,
    isLoopback,
    isProduction,
    dataFolder: set.POLYGRAPH_DATA,
    databaseUrl: set.DATABASE_URL,
    // Demo credentials are for one's own machine: elsewhere they must be asked for.
    isDemo: !isProduction && (set.POLYGRAPH_DEMO ?? isLoopback),
    isIntrospectable: set.POLYGRAPH_INTROSPECTION ?? isLoopback,
    secretKey: set.POLYGRAPH_SECRET_KEY
      ? Buffer.from(set.POLYGRAPH_SECRET_KEY, 'base64')
      : undefined,
    publicUrl: (set.POLYGRAPH_PUBLIC_URL ?? `http://${urlHost(set.HOST)}:${set.PORT}`).replace(
      /\/$/,
      '',
    ),
    hasPublicUrl: set.POLYGRAPH_PUBLIC_URL !== undefined,
    logLevel: set.POLYGRAPH_LOG,
    outboundHosts: words(set.POLYGRAPH_OUTBOUND_HOSTS),
    mayCallPrivateAddresses: set.POLYGRAPH_OUTBOUND_PRIVATE,
    subgraphUrls,
    gatewayUrls,
    tracesUrl: set.OTEL_EXPORTER_OTLP_ENDPOINT?.replace(/\/?$/, '/v1/traces'),
    fetchMs: set.POLYGRAPH_FETCH_MS,
    limits: {
      queryCostMax: set.POLYGRAPH_QUERY_COST_MAX,
      queryMsMax: set.POLYGRAPH_QUERY_MS_MAX,
      batchMax: set.POLYGRAPH_BATCH_MAX,
    },
    entitySeconds: new Map(
      words(set.POLYGRAPH_ENTITY_CACHE ?? '').map((one) => {
        const [type, seconds] = one.split('=') as [string, string]
        return [type, Number(seconds)]
      }),
    ),
    live: {
      streamsMax: set.POLYGRAPH_LIVE_MAX,
      callerStreamsMax: set.POLYGRAPH_LIVE_CALLER_MAX,
    },
    safelist: set.POLYGRAPH_SAFELIST,
    isSafelistEnforced: set.POLYGRAPH_SAFELIST_MODE === 'enforce',
  }
}

/** An empty variable is one that is not set. */
const withoutEmpty = (env: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))

function readUrls(
  env: Readonly<Record<string, string | undefined>>,
  services: readonly string[],
  problems: string[],
): Record<string, string[]> {
  const urls: Record<string, string[]> = {}
  for (const [name, value = ''] of Object.entries(env)) {
    if (!name.startsWith(URL_PREFIX) || value === '') continue
    const service = name.slice(URL_PREFIX.length).toLowerCase().replaceAll('_', '-')
    if (service !== 'gateway' && !services.includes(service))
      problems.push(`${name}: there is no service ${service}`)
    const addresses = words(value)
    if (!addresses.every((address) => httpUrl.safeParse(address).success)) {
      problems.push(`${name}: must be http URLs, separated by commas`)
    }
    urls[service] = addresses.map((address) => address.replace(/\/$/, ''))
  }
  return urls
}

const urlHost = (host: string) => (host.includes(':') ? `[${host}]` : host)
