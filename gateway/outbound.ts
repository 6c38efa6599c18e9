// The way out, for operators who allow it: named hosts alone, never private addresses unless allowed.
import { lookup } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import { closedOutbound, OutboundRefused, type Outbound } from '../resolvers/kernel/outbound.ts'

const TIME_MS = 10_000
const ANSWER_MAX = 1024 * 1024

interface OutboundOptions {
  /** Host names; `*.example.org` allows every name below it, `*` every host. */
  readonly hosts: readonly string[]
  readonly mayCallPrivateAddresses: boolean
}

export function openOutbound({ hosts, mayCallPrivateAddresses }: OutboundOptions): Outbound {
  if (hosts.length === 0) return closedOutbound
  let opened: ReturnType<typeof openClient> | undefined
  return {
    async send({ method, url, headers, body, answerMax = ANSWER_MAX }) {
      const { hostname, protocol } = new URL(url)
      if (protocol !== 'http:' && protocol !== 'https:') {
        throw OutboundRefused(`Only http and https can be called, not ${protocol}`)
      }
      const host = hostname.replace(/^\[|\]$/g, '')
      if (!hosts.some((allowed) => isAllowed(allowed, host))) {
        throw OutboundRefused(
          `Calls to ${host} are not allowed. An operator allows hosts with POLYGRAPH_OUTBOUND_HOSTS.`,
        )
      }
      // A literal address is not looked up, so it is checked here.
      if (isIP(host) && !mayCallPrivateAddresses && isPrivate(host)) throw refuseAddress(host, host)
      const { agent, request } = await (opened ??= openClient(mayCallPrivateAddresses))
      const answer = await request(url, {
        method: method as 'GET',
        headers: headers ?? null,
        body: body ?? null,
        dispatcher: agent,
        headersTimeout: TIME_MS,
        bodyTimeout: TIME_MS,
      })
      return {
        status: answer.statusCode,
        headers: Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: await readLimited(answer.body, answerMax),
      }
    },
  }
}

/** Loaded with the first call: most installations make none. */
async function openClient(mayCallPrivateAddresses: boolean) {
  const { Agent, request } = await import('undici')
  // The address is checked where the connection is made, so that a name cannot lead elsewhere
  // between a check and the call. Redirects are not followed.
  const agent = new Agent({
    connect: {
      timeout: TIME_MS,
      lookup: (host, options, done) =>
        lookup(host, { ...options, all: true }, (error, addresses) => {
          const refused =
            !error &&
            !mayCallPrivateAddresses &&
            addresses.find(({ address }) => isPrivate(address))
          if (refused) done(refuseAddress(host, refused.address), [])
          else done(error, addresses)
        }),
    },
  })
  return { agent, request }
}

const refuseAddress = (host: string, address: string) =>
  OutboundRefused(`${host} is at ${address}, a private address, which may not be called.`)

function isAllowed(allowed: string, host: string): boolean {
  if (allowed === '*') return true
  if (allowed.startsWith('*.')) return host.endsWith(allowed.slice(1))
  return allowed.toLowerCase() === host.toLowerCase()
}

async function readLimited(body: AsyncIterable<Buffer>, max: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.length
    if (size >= max) break
  }
  return Buffer.concat(parts).subarray(0, max)
}

const privateAddresses = new BlockList()
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 3],
] as const) {
  privateAddresses.addSubnet(network, bits, 'ipv4')
}
for (const [network, bits] of [
  ['::', 127],
  ['64:ff9b::', 96],
  ['fc00::', 7],
  ['fe80::', 10],
  ['ff00::', 8],
] as const) {
  privateAddresses.addSubnet(network, bits, 'ipv6')
}

/** IPv4 written as IPv6 is checked as IPv4; BlockList does that by itself. */
export const isPrivate = (address: string): boolean =>
  privateAddresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
