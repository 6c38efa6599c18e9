// One module by REST, over real HTTP, against a bare fastify route that answers the same bytes.
import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import Fastify from 'fastify'
import pino from 'pino'
import { openBare, openGround } from './ground.ts'
import { rateOf } from './load.ts'
import { compare } from './measure.ts'

const ROUNDS = 5

export async function benchRest(): Promise<boolean> {
  const ground = await openGround()
  const { url, modulePath, credentials } = ground
  const token = credentials.hsm!.token!
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = (await (await fetch(url + modulePath, { headers })).json()) as { id: string }
  // fastify has parsed the body before the route answers.
  const bare = await openBare((app) => {
    app.get('/hsm/*', async () => answer)
    app.patch('/hsm/*', async () => answer)
  })
  const byHand = await openByHand({ token, answer, file: `${ground.folder}/by-hand.db` })
  const read = { headers }
  const write = { method: 'PATCH', headers, body: JSON.stringify({ tags: { team: 'blue' } }) }
  const shared = { rounds: ROUNDS, unit: 'a second of processor time' }
  const ours = (how: object) => () => rateOf({ ...how, url: url + modulePath })

  const results = [
    await compare({
      ...shared,
      title: 'REST read against bare fastify',
      atLeast: 0.5,
      ours: ours(read),
      theirs: () => rateOf({ ...read, url: bare.url + modulePath }),
    }),
    await compare({
      ...shared,
      title: 'REST read against a route by hand that proves the caller, reads SQLite and logs',
      atLeast: 0.5,
      ours: ours(read),
      theirs: () => rateOf({ ...read, url: byHand.url + modulePath }),
    }),
    await compare({
      ...shared,
      title: 'REST write, durable, against bare fastify',
      atLeast: 0.15,
      ours: ours(write),
      theirs: () => rateOf({ ...write, url: bare.url + modulePath }),
    }),
  ]
  await bare.close()
  await byHand.close()
  await ground.close()
  return results.every(Boolean)
}

interface ByHand {
  readonly token: string
  readonly answer: { readonly id: string }
  readonly file: string
}

/** What one would write for this one route: it promises as much of it, and nothing else. */
async function openByHand({ token, answer, file }: ByHand) {
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; CREATE TABLE modules (id TEXT PRIMARY KEY, body TEXT) STRICT')
  db.prepare('INSERT INTO modules VALUES (?, ?)').run(
    answer.id.toLowerCase(),
    JSON.stringify(answer),
  )
  const one = db.prepare('SELECT body FROM modules WHERE id = ?')
  const tokens = new Set([hash('sha256', token)])
  const log = pino(pino.destination('/dev/null'))
  const app = Fastify()
  app.get('/hsm/*', async (request, reply) => {
    const shown = request.headers.authorization?.slice('Bearer '.length) ?? ''
    if (!tokens.has(hash('sha256', shown))) return reply.status(401).send()
    const id = request.url.slice('/hsm'.length).split('?', 1)[0]!
    const row = one.get(id.toLowerCase())
    if (!row) return reply.status(404).send()
    return JSON.parse(String(row.body))
  })
  app.addHook('onResponse', (request, reply, done) => {
    log.info({ url: request.url, status: reply.statusCode, ms: reply.elapsedTime }, 'answered')
    done()
  })
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    url,
    async close() {
      await app.close()
      db.close()
    },
  }
}
