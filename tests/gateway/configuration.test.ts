import { expect, test } from 'vitest'
import { readConfiguration } from '../../gateway/configuration.ts'

const SERVICES = ['voice', 'sql-db']
const read = (env: Record<string, string>) => readConfiguration(env, SERVICES)

test('without any setting it is a demo for one machine', () => {
  expect(read({})).toEqual({
    port: 4000,
    host: '127.0.0.1',
    isLoopback: true,
    isProduction: false,
    dataFolder: './data',
    databaseUrl: undefined,
    entitySeconds: new Map(),
    isDemo: true,
    isIntrospectable: true,
    secretKey: undefined,
    publicUrl: 'http://127.0.0.1:4000',
    hasPublicUrl: false,
    logLevel: 'info',
    outboundHosts: [],
    mayCallPrivateAddresses: false,
    subgraphUrls: {},
    gatewayUrls: [],
    fetchMs: 10_000,
    limits: { queryCostMax: 10_000, queryMsMax: 60_000, batchMax: 10 },
    live: { streamsMax: 1_000, callerStreamsMax: 20 },
    safelist: undefined,
    isSafelistEnforced: true,
  })
})

test.each([
  [{}, true],
  [{ POLYGRAPH_DEMO: '0' }, false],
  [{ HOST: '0.0.0.0' }, false],
  [{ HOST: '0.0.0.0', POLYGRAPH_DEMO: '1' }, true],
  [{ NODE_ENV: 'production' }, false],
  [{ NODE_ENV: 'production', POLYGRAPH_DEMO: '1' }, false],
])('%j makes the demo: %s', (env, isDemo) => {
  expect(read(env as Record<string, string>).isDemo).toBe(isDemo)
})

test('the schema can be read on loopback alone, unless it is asked for', () => {
  expect(read({ HOST: '0.0.0.0' }).isIntrospectable).toBe(false)
  expect(read({ HOST: '0.0.0.0', POLYGRAPH_INTROSPECTION: '1' }).isIntrospectable).toBe(true)
})

test('subgraphs elsewhere are named by their addresses', () => {
  const env = { POLYGRAPH_URL_SQL_DB: 'http://a:1/, http://b:2', POLYGRAPH_URL_VOICE: '' }

  expect(read(env).subgraphUrls).toEqual({ 'sql-db': ['http://a:1', 'http://b:2'] })
})

test('where the gateway is, is no address of a service', () => {
  const { gatewayUrls, subgraphUrls } = read({ POLYGRAPH_URL_GATEWAY: 'http://g:1/' })

  expect(gatewayUrls).toEqual(['http://g:1'])
  expect(subgraphUrls).toEqual({})
})

test('traces are sent where the collector takes them', () => {
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/' }).tracesUrl).toBe(
    'http://c:4318/v1/traces',
  )
  expect(() => read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'c:4318' })).toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT: must be an http or https URL',
  )
})

test('everything that is wrong is named at once', () => {
  const env = {
    PORT: 'eighty',
    DATABASE_URL: 'mysql://x',
    POLYGRAPH_DEMO: 'yes',
    POLYGRAPH_SECRET_KEY: 'c2hvcnQ=',
    POLYGRAPH_FETCH_MS: '10s',
    POLYGRAPH_QUERY_COST_MAX: '0',
    POLYGRAPH_QUERY_MS_MAX: '1.5',
    POLYGRAPH_BATCH_MAX: 'ten',
    POLYGRAPH_SAFELIST_MODE: 'on',
    POLYGRAPH_DATTA: './x',
    POLYGRAPH_URL_VOCE: 'http://x',
    POLYGRAPH_URL_VOICE: 'voice',
  }

  expect(() => read(env)).toThrow(
    [
      '  - PORT: must be a port number',
      '  - DATABASE_URL: must be a postgres:// URL',
      '  - POLYGRAPH_DEMO: must be 0 or 1',
      '  - POLYGRAPH_SECRET_KEY: must be 32 bytes in base64',
      '  - POLYGRAPH_FETCH_MS: must be a whole number between 1 and 600000',
      '  - POLYGRAPH_QUERY_COST_MAX: must be a whole number between 1 and 1000000',
      '  - POLYGRAPH_QUERY_MS_MAX: must be a whole number between 1 and 600000',
      '  - POLYGRAPH_BATCH_MAX: must be a whole number between 0 and 100',
      '  - POLYGRAPH_SAFELIST_MODE: must be enforce or log',
      '  - POLYGRAPH_URL_VOCE: there is no service voce',
      '  - POLYGRAPH_URL_VOICE: must be http URLs, separated by commas',
      '  - POLYGRAPH_DATTA: there is no such setting',
    ].join('\n'),
  )
})
