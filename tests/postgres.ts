// A PostgreSQL for the tests that want one: started when the first asks, stopped after the last.
//
// Tests run in processes of their own, so they ask the process that runs vitest, over HTTP. It starts
// the server once; a run in which nobody asks does not pay for it. TEST_DATABASE_URL names a server
// that runs already.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../gateway/embedded-postgres.ts'
import type { EmbeddedPostgres } from '../gateway/embedded-postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where to ask for the address of PostgreSQL. */
    postgresAt: string
  }
}

/** The address of PostgreSQL, which runs when this answers. */
export async function postgresUrl(): Promise<string> {
  const { inject } = await import('vitest')
  const answer = await fetch(inject('postgresAt'))
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env['TEST_DATABASE_URL']
  let starting: Promise<EmbeddedPostgres> | undefined

  const server = createServer(async (_request, response) => {
    try {
      starting ??= given ? Promise.resolve({ url: given, stop: async () => {} }) : start()
      response.end((await starting).url)
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  project.provide('postgresAt', `http://127.0.0.1:${port}/`)

  return async () => {
    server.close()
    // A server that did not start was reported to those who asked.
    await starting?.then(
      ({ stop }) => stop(),
      () => {},
    )
  }
}

async function start(): Promise<EmbeddedPostgres> {
  const directory = await mkdtemp(join(tmpdir(), 'polygraph-postgres-'))
  const remove = () => rm(directory, { recursive: true, force: true })
  try {
    // The tests kill their own processes and never the server, so it need not wait for the disk.
    const settings = { fsync: 'off', synchronous_commit: 'off' }
    const { url, stop } = await startPostgres({ directory, settings })
    return { url, stop: () => stop().finally(remove) }
  } catch (error) {
    await remove()
    throw error
  }
}
