// Polygraph as a process of its own, started by the command that people type.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export const ROOT = join(import.meta.dirname, '../..')
const run = promisify(execFile)

export interface Started {
  readonly url: string
  readonly port: number
  readonly env: NodeJS.ProcessEnv
  readonly child: ChildProcess
  /** What it has written so far. */
  output(): { stdout: string; stderr: string }
  stop(): Promise<number | null>
  clean(): Promise<void>
}

/** Returns when it says that it is ready. */
export async function startProcess(env: Record<string, string> = {}): Promise<Started> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-process-'))
  const port = await freePort()
  const all = { ...process.env, POLYGRAPH_DATA: folder, PORT: String(port), ...env }
  const child = spawn(process.execPath, ['bin/run.mjs', 'start'], {
    cwd: ROOT,
    env: all,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  const isReady = Promise.withResolvers<void>()
  child.stdout.on('data', (part) => {
    stdout += part
    if (stdout.includes('"msg":"ready"')) isReady.resolve()
  })
  child.stderr.on('data', (part) => (stderr += part))
  child.once('exit', () => isReady.reject(new Error(`it ended: ${stderr}`)))
  await isReady.promise

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    env: all,
    child,
    output: () => ({ stdout, stderr }),
    async stop() {
      if (child.exitCode !== null) return child.exitCode
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      return (await exited)[0] as number | null
    },
    clean: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Runs one of the npm scripts to its end. */
export async function runTask(env: NodeJS.ProcessEnv, ...args: string[]) {
  try {
    const { stdout, stderr } = await run(process.execPath, ['bin/run.mjs', ...args], {
      cwd: ROOT,
      env,
    })
    return { code: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, stdout, stderr }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
