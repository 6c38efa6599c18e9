// HTTP Basic: a name and a password (RFC 7617).
import { Unauthenticated } from '../../../resolvers/kernel/fault.ts'
import type { Scheme } from '../subgraph.ts'

const SHOWN_MAX = 1024
const CHALLENGE = { headers: { 'www-authenticate': 'Basic realm="polygraph", charset="UTF-8"' } }

export const basic = (): Scheme => ({
  kind: 'basic',
  header: 'authorization',
  security: { type: 'http', scheme: 'basic' },

  async prove({ service, headers }, credentials) {
    const shown = /^Basic +([\w+/=-]+)$/i.exec(String(headers.authorization ?? ''))?.[1]
    if (!shown || shown.length > SHOWN_MAX) {
      throw Unauthenticated('Send a name and a password of this service by HTTP Basic.', CHALLENGE)
    }
    const text = Buffer.from(shown, 'base64').toString('utf8')
    const colon = text.indexOf(':')
    const caller =
      colon > 0
        ? await credentials.byPassword(service, text.slice(0, colon), text.slice(colon + 1))
        : undefined
    if (!caller) throw Unauthenticated('The name or the password is wrong.', CHALLENGE)
    return caller
  },
})
