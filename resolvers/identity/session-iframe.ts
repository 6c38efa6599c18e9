// GET /{client_id}/iframe: tells a client's page whether the session changed. Specification 1, service S1.
//
// OpenID Connect Session Management 1.0: the page sends `client_id session_state` and hears `changed`,
// `unchanged` or `error`. The hash is written out, since browsers have none on pages without https.
import { createHash } from 'node:crypto'
import type { Context } from '../kernel/context.ts'
import { NotFound } from '../kernel/fault.ts'
import { get, operation, reply, type Reply } from '../kernel/operation.ts'
import { text } from '../kernel/shape.ts'
import { originsOf } from './client-metadata.ts'
import { clients } from './clients.ts'
import { BROWSER_STATE } from './provider.ts'

export const operations = [
  operation({
    name: 'sessionIframe',
    rest: get('/{client_id}/iframe'),
    access: 'anyone',
    refuses: { 404: 'There is no such client.' },
    input: { client_id: text },
    run: sessionIframe,
  }),
]

const SCRIPT = `
const K = [], H0 = []
for (let n = 2; K.length < 64; n += 1) {
  let isPrime = true
  for (let d = 2; d * d <= n; d += 1) if (n % d === 0) isPrime = false
  if (!isPrime) continue
  if (H0.length < 8) H0.push((Math.sqrt(n) % 1 * 4294967296) | 0)
  K.push((Math.cbrt(n) % 1 * 4294967296) | 0)
}
function sha256(text) {
  const bytes = new TextEncoder().encode(text)
  const blocks = (bytes.length + 72) >> 6
  const data = new DataView(new ArrayBuffer(blocks * 64))
  bytes.forEach((byte, i) => data.setUint8(i, byte))
  data.setUint8(bytes.length, 128)
  data.setUint32(blocks * 64 - 4, bytes.length * 8)
  const hash = [...H0], turn = (x, n) => (x >>> n) | (x << (32 - n))
  for (let at = 0; at < blocks; at += 1) {
    const w = []
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) { w[i] = data.getInt32(at * 64 + i * 4); continue }
      const x = w[i - 15], y = w[i - 2]
      const s0 = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3), s1 = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10)
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0
    }
    let [a, b, c, d, e, f, g, h] = hash
    for (let i = 0; i < 64; i += 1) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25), s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0
      h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0
    }
    ;[a, b, c, d, e, f, g, h].forEach((word, i) => { hash[i] = (hash[i] + word) | 0 })
  }
  const out = new DataView(new ArrayBuffer(32))
  hash.forEach((word, i) => out.setInt32(i * 4, word))
  const chars = String.fromCharCode(...new Uint8Array(out.buffer))
  return btoa(chars).replace(/[+]/g, '-').replace(/[/]/g, '_').replace(/=/g, '')
}
const { client, origins } = document.documentElement.dataset
function answer(origin, message) {
  if (typeof message !== 'string') return 'error'
  const parts = message.split(' ')
  if (parts.length !== 2 || (client && parts[0] !== client)) return 'error'
  const [hash, salt] = parts[1].split('.')
  if (!hash || !salt) return 'error'
  const state = (/(?:^|; )${BROWSER_STATE}=([^;]*)/.exec(document.cookie) || [])[1] || ''
  return sha256([parts[0], origin, state, salt].join(' ')) === hash ? 'unchanged' : 'changed'
}
addEventListener('message', (event) => {
  if (!event.source || (origins !== '*' && !origins.split(' ').includes(event.origin))) return
  event.source.postMessage(answer(event.origin, event.data), event.origin)
})
`
const SCRIPT_HASH = createHash('sha256').update(SCRIPT).digest('base64')

async function sessionIframe({ client_id }: { client_id: string }, ctx: Context): Promise<Reply> {
  const client = await ctx.store.get(clients, client_id)
  if (!client) throw NotFound(`There is no client ${client_id}.`)
  const origins = client.test_mode ? '*' : originsOf(client).join(' ')
  return iframe(client_id, origins)
}

/** The page for any client, which discovery names; the message says which. */
export const anyIframe = (): Reply => iframe('', '*')

function iframe(clientId: string, origins: string): Reply {
  const html = `<!doctype html>
<html lang="en" data-client="${clientId}" data-origins="${origins}">
<meta charset="utf-8"><title>Session</title>
<script>${SCRIPT}</script>
</html>
`
  return reply(200, html, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'public, max-age=7200',
    'content-security-policy': `default-src 'none'; script-src 'sha256-${SCRIPT_HASH}'; frame-ancestors ${origins || "'none'"}`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
}
