// A client that posts each of many forms once, in a process of its own: node bench/send-each.ts <url>, with
// a JSON array of forms on standard input.
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'

const CONNECTIONS = 16
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
const url = process.argv[2]!
const forms = (JSON.parse(await text(process.stdin)) as string[]).values()
const headers = { 'content-type': 'application/x-www-form-urlencoded' }

const send = (form: string) =>
  new Promise<void>((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.on('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`answered ${answer.statusCode}`)),
      )
    })
    sent.on('error', reject)
    sent.end(form)
  })

await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    for (const form of forms) await send(form)
  }),
)
agent.destroy()
