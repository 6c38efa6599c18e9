// npm start and the commands beside it, and the examples of the README as they stand there.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SERVICES } from '../../gateway/services.ts'
import { ROOT, runTask, startProcess, type Started } from './process.ts'

const run = promisify(execFile)
let started: Started
beforeAll(async () => {
  started = await startProcess()
}, 60_000)
afterAll(async () => {
  await started.stop()
  await started.clean()
})

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const [preparation, ...examples] = [...readme.matchAll(/```sh\n([^]*?)```/g)]
  .map(([, block]) => block!)
  .filter((block) => !block.startsWith('npm '))

/** Runs an example in a shell, on the port of this test. */
async function runExample(example: string): Promise<any> {
  const script = `${preparation}\n${example}`.replaceAll(
    '127.0.0.1:4000',
    `127.0.0.1:${started.port}`,
  )
  const { stdout } = await run('bash', ['-c', script], { cwd: ROOT, env: started.env })
  return JSON.parse(stdout)
}

test('the README has five examples', () => {
  expect(examples).toHaveLength(5)
})

test('example 1: braille over REST', async () => {
  const { contents } = await runExample(examples[0]!)

  expect(contents.translated.join('')).toBe('⠀⠀⠠⠓⠑⠇⠇⠕\r\n')
})

test('example 2: one query, several services', async () => {
  const { data, errors } = await runExample(examples[1]!)

  expect(errors).toBeUndefined()
  expect(data.me.name).toBe('Ada')
  expect(data.brailleDots.contents.translated).toEqual([
    'none',
    'none',
    '6',
    '125',
    '24',
    '\r',
    '\n',
  ])
})

test('example 3: a security module, created', async () => {
  const module = await runExample(examples[2]!)

  expect(module).toMatchObject({ name: 'first', properties: { provisioningState: 'Provisioning' } })
})

test('example 4: a year later', async () => {
  const { data } = await runExample(examples[3]!)

  expect(data.advance.stepsRun).toBeGreaterThan(0)
}, 60_000)

test('example 5: a key of your own', async () => {
  const { data } = await runExample(examples[4]!)

  expect(data.createApiKey.secret).toMatch(/^pgk_/)
})

test('the start says where everything is and how long it took', () => {
  const { stdout, stderr } = started.output()
  const ready = stdout.split('\n').find((line) => line.includes('"msg":"ready"'))

  expect(JSON.parse(ready!)).toMatchObject({
    services: expect.arrayContaining(['braille', 'voice']),
  })
  expect(stderr).toMatch(/Polygraph is ready after \d+\.\d s\./)
  expect(stderr).toContain(`${started.url}/graphql`)
  expect(stderr).toContain(`${started.url}/voice/v1/sms-voice`)
})

test('every line of the log is JSON, with the request id of the answer', async () => {
  const answer = await fetch(`${started.url}/hsm/nothing`)
  const requestId = answer.headers.get('x-request-id')

  await expect.poll(() => started.output().stdout).toContain(requestId)
  const lines = started.output().stdout.trim().split('\n')
  expect(() => lines.map((line) => JSON.parse(line))).not.toThrow()
})

test('the examples of the banner work', async () => {
  const banner = started.output().stderr
  const commands = [...banner.matchAll(/^ {2}(curl [^]*?)\n\n/gm)].map(([, command]) => command!)

  expect(commands).toHaveLength(2)
  for (const command of commands) {
    const { stdout } = await run('bash', ['-c', command], { cwd: ROOT, env: started.env })
    expect(stdout).toMatch(/"contents"|"Ada"/)
  }
})

test('credentials are printed for every service, as JSON and nothing else', async () => {
  const { stdout } = await runTask(started.env, 'credentials')
  const shown = JSON.parse(stdout)

  expect(Object.keys(shown).toSorted()).toEqual([...Object.keys(SERVICES), 'graph'].toSorted())
  expect(shown.voice).toMatchObject({
    baseUrl: `${started.url}/voice/v1/sms-voice`,
    accessKeyId: expect.stringMatching(/^AKIA/),
    secretAccessKey: expect.any(String),
    region: 'us-east-1',
    accountId: expect.stringMatching(/^\d{12}$/),
  })
  expect(shown.hsm).toMatchObject({
    baseUrl: `${started.url}/hsm`,
    token: expect.any(String),
    subscriptionId: expect.any(String),
    resourceGroup: 'polygraph-demo',
  })
  expect(shown.graph).toEqual({ url: `${started.url}/graphql`, token: expect.any(String) })
})

test('an administrator is registered from the command line, once', async () => {
  const first = await runTask(started.env, 'admin', 'root@example.org', 'Root')
  const answer = await fetch(`${started.url}/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${first.stdout.trim()}`,
    },
    body: JSON.stringify({ query: '{ me { name isAdmin } }' }),
  })

  expect(await answer.json()).toEqual({ data: { me: { name: 'Root', isAdmin: true } } })
  const second = await runTask(started.env, 'admin', 'root@example.org')
  expect(second).toMatchObject({ code: 1, stdout: '' })
  expect(second.stderr).toContain('There is a user with the address root@example.org already.')
})

test('parked work is listed from the command line', async () => {
  const { stdout } = await runTask(started.env, 'work', 'hsm')

  expect(JSON.parse(stdout)).toEqual([])
  const unknown = await runTask(started.env, 'work', 'hsm', 'retry', 'nothing')
  expect(unknown).toMatchObject({ code: 1, stderr: 'hsm has no parked step nothing.\n' })
})

test.each([
  [{ PORT: 'eighty' }, [], 'PORT: must be a port number'],
  [{ POLYGRAPH_DATTA: 'x' }, [], 'POLYGRAPH_DATTA: there is no such setting'],
  [{}, ['nothing'], 'There is no service nothing. There are: backup, banking, braille, '],
])('a start with %j and %j is refused with a reason', async (env, args, reason) => {
  const { code, stderr } = await runTask({ ...started.env, ...env }, 'start', ...args)

  expect(code).toBe(1)
  expect(stderr).toContain(reason)
})

test('a port that is taken is named', async () => {
  const { code, stderr } = await runTask(
    { ...started.env, POLYGRAPH_DEMO: '0', POLYGRAPH_DATA: join(started.env.POLYGRAPH_DATA!, 'b') },
    'start',
  )

  expect(code).toBe(1)
  expect(stderr).toContain(`Port ${started.port} is taken.`)
})

test('what is in flight is answered before it stops', async () => {
  const other = await startProcess({ POLYGRAPH_DEMO: '0' })
  const socket = connect(other.port, '127.0.0.1')
  await once(socket, 'connect')
  let answer = ''
  socket.on('data', (part) => (answer += part))
  const body = '{"query":"{ clock { now } }"}'
  // The request has begun and is not yet whole when the process is told to stop.
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  await expect.poll(() => fetch(`${other.url}/healthz`).then(({ status }) => status)).toBe(200)
  const stopped = other.stop()
  await expect
    .poll(() =>
      fetch(`${other.url}/healthz`)
        .then(() => 'open')
        .catch(() => 'closed'),
    )
    .toBe('closed')

  socket.write(body.slice(5))

  expect(await stopped).toBe(0)
  expect(answer).toContain('HTTP/1.1 200')
  await other.clean()
})
