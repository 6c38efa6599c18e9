// A key in a header of the service's own name.
import { Unauthenticated } from '../../../resolvers/kernel/fault.ts'
import type { Scheme } from '../subgraph.ts'

const KEY_MAX = 512

export function apiKey(headerName: string): Scheme {
  const header = headerName.toLowerCase()
  return {
    kind: 'api-key',
    header,
    security: { type: 'apiKey', in: 'header', name: headerName },

    async prove({ service, headers }, credentials) {
      const key = headers[header]
      if (typeof key !== 'string' || key === '') {
        throw Unauthenticated(`Send an API key of this service in the header ${headerName}.`)
      }
      const caller = key.length <= KEY_MAX ? await credentials.byApiKey(service, key) : undefined
      if (!caller) throw Unauthenticated(`The key in ${headerName} is unknown or was revoked.`)
      return caller
    },
  }
}
