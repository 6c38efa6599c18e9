// A first start in production: nobody is there, and the log has the link for the first person.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Starts identity alone, and returns the line in which it invites someone, if there is one. */
async function start(folder: string, port: number) {
  const env = { ...process.env, NODE_ENV: 'production', POLYGRAPH_DATA: folder, PORT: String(port) }
  const child = spawn(process.execPath, ['gateway/start.ts', 'identity'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const stop = async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
  }
  onTestFinished(stop)
  let url: string | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as { msg: string; url?: string }
    url ??= said.url
    if (said.msg === 'ready') break
  }
  child.stdout.resume()
  return { url, stop }
}

test('the log invites the first person once, by a page that works', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-first-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const port = await freePort()

  const first = await start(folder, port)
  const page = await fetch(first.url!)
  const form = { name: 'Grace', email: 'grace@example.org', password: 'a long enough one' }
  const registered = await fetch(first.url!, {
    method: 'POST',
    body: new URLSearchParams(form),
    redirect: 'manual',
  })
  await first.stop()
  const second = await start(folder, port)

  expect(first.url).toMatch(new RegExp(`^http://127\\.0\\.0\\.1:${port}/welcome/pgw_[\\w-]{40}$`))
  expect(page.status).toBe(200)
  expect(registered.status).toBe(303)
  expect(second.url).toBeUndefined()
})
