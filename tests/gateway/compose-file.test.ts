// docker-compose.yml lists the services by hand, so it is held against those that there are.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfiguration } from '../../gateway/configuration.ts'
import { SERVICES } from '../../gateway/services.ts'

const ROOT = join(import.meta.dirname, '../..')
const AROUND = ['gateway', 'postgres', 'prepare']
const IS_SECRET = /KEY|PASSWORD|SECRET|TOKEN|DATABASE_URL/
/** A variable that must be set by whoever starts it. */
const REQUIRED = /\$\{\w+:\?[^}]+\}/

interface Block {
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
  readonly depends_on?: Readonly<Record<string, { condition: string }>>
}

const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
const blocks: Record<string, Block> = parse(text, { merge: true }).services
const names = Object.keys(SERVICES)

test('every service has a block, and every block is a service or stands around them', () => {
  expect(Object.keys(blocks).toSorted()).toEqual([...AROUND, ...names].toSorted())
})

test.each(names)('%s is started alone, at a port of its own', (name) => {
  const { command, ports } = blocks[name]!
  const others = Object.values(blocks).flatMap((block) =>
    block === blocks[name] ? [] : block.ports,
  )

  expect(command).toEqual(['gateway/start.ts', name])
  expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:41\d\d:4000$/)])
  expect(others).not.toContain(ports![0])
})

test('nothing is published beyond this machine, and PostgreSQL not at all', () => {
  const published = Object.values(blocks).flatMap(({ ports = [] }) => ports)

  expect(published.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([])
  expect(blocks.postgres!.ports).toBeUndefined()
})

test('the gateway waits for every service, and every service for the prepared database', () => {
  const ofGateway = Object.keys(blocks.gateway!.depends_on!)
  const conditions = names.map((name) => blocks[name]!.depends_on!.prepare!.condition)

  expect(ofGateway.toSorted()).toEqual(names.toSorted())
  expect(new Set(conditions)).toEqual(new Set(['service_completed_successfully']))
  expect(blocks.prepare!.depends_on!.postgres!.condition).toBe('service_healthy')
})

test('every process knows where every service is, in settings that exist', () => {
  const urls = Object.fromEntries(names.map((name) => [name, [`http://${name}:4000`]]))

  for (const name of ['gateway', ...names]) {
    const { environment } = blocks[name]!
    const settings = Object.entries(environment).map(([variable, value]) => [
      variable,
      filled(value),
    ])
    const configuration = readConfiguration(Object.fromEntries(settings), names)
    expect(configuration.subgraphUrls).toEqual(urls)
    expect(configuration.gatewayUrls).toEqual(['http://gateway:4000'])
  }
})

test('no secret is written down, and none has a default', () => {
  for (const [name, { environment }] of Object.entries(blocks)) {
    const secrets = Object.entries(environment).filter(([variable]) => IS_SECRET.test(variable))
    expect(secrets.length, name).toBeGreaterThan(0)
    for (const [variable, value] of secrets) expect(value, `${name} ${variable}`).toMatch(REQUIRED)
  }
  expect(text).not.toMatch(/[\w+/]{43}=/)
})

test('the image holds no more than is copied by name, and runs as nobody special', () => {
  const image = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
  const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n')

  expect(ignored).toContain('*')
  expect(image).toMatch(/^USER node$/m)
  expect(image).not.toMatch(/^(ARG|ENV) .*(KEY|PASSWORD|SECRET|TOKEN)/m)
  expect(image).not.toMatch(/^COPY \. /m)
})

const docker = (env: Record<string, string>, ...args: string[]) =>
  spawnSync('docker', ['compose', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } as NodeJS.ProcessEnv,
  })

test.skipIf(docker({}, 'version').status !== 0)(
  'docker compose accepts the file, and not without its secrets',
  () => {
    const secrets = { POLYGRAPH_SECRET_KEY: 'k', POSTGRES_PASSWORD: 'p' }

    expect(docker(secrets, 'config', '--quiet')).toMatchObject({ status: 0, stderr: '' })
    expect(docker({}, 'config', '--quiet').status).not.toBe(0)
  },
)

/** A value as it is when whoever starts it set what must be set. */
const filled = (value: string): string =>
  value
    .replace(/\$\{POLYGRAPH_SECRET_KEY:\?[^}]+\}/, Buffer.alloc(32).toString('base64'))
    .replace(/\$\{\w+:\?[^}]+\}/g, 'given')
    .replace(/\$\{\w+:-([^}]*)\}/g, '$1')
