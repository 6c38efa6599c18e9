// The network address that a request came from.
import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** A proxy in front of us is on this machine or in our own network, and says whom it speaks for. */
const near = new BlockList()
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const) {
  near.addSubnet(network, bits, 'ipv4')
}
near.addAddress('::1', 'ipv6')
near.addSubnet('fc00::', 7, 'ipv6')

/** The last address that a proxy added, or that of the connection. */
export function remoteOf({ socket, headers }: IncomingMessage): string {
  const peer = socket?.remoteAddress ?? ''
  const forwarded = headers['x-forwarded-for']
  if (forwarded === undefined) return peer
  const family = isIP(peer)
  if (family === 0) return peer
  if (!near.check(peer, family === 6 ? 'ipv6' : 'ipv4')) return peer
  const last = String(forwarded).split(',').at(-1)!.trim()
  return isIP(last) ? last : peer
}
