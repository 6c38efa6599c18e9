// What the tests of modules send again and again.
import type { TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'

export const VERSION = 'api-version=2018-10-31-preview'
export const AREA = 'providers/Vendor.HardwareSecurityModules'
export const ALL = `/subscriptions/${SUBSCRIPTION}/${AREA}/dedicatedHSMs`
export const MANY = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Vaults/${AREA}/dedicatedHSMs`
export const SUBNET = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Vaults/providers/Vendor.Network/virtualNetworks/net/subnets/hsm`

/** How long a new module takes until it is Succeeded, and an old one until it is gone. */
export const READY_MS = 4_000
export const GONE_MS = 1_000

export const one = (name: string) => `${MANY}/${name}?${VERSION}`

/** The least that a module needs. */
export const PLAIN = {
  location: 'westus',
  sku: { name: 'Vendor Network HSM A790' },
  properties: {},
}

export const FULL = {
  ...PLAIN,
  tags: { team: 'keys', stage: 'test' },
  zones: ['1'],
  properties: {
    stampId: 'stamp1',
    networkProfile: {
      subnet: { id: SUBNET },
      networkInterfaces: [{ privateIpAddress: '10.0.2.4' }, { privateIpAddress: '10.0.2.5' }],
    },
  },
}

export async function putReady(service: TestService, name: string, body: object = FULL) {
  await service.rest(`PUT ${one(name)}`, body)
  await service.advance(READY_MS)
}

/** Follows an absolute link unchanged, as clients do. */
export function follow(service: TestService, link: string | undefined) {
  const { pathname, search } = new URL(link!)
  return service.rest(`GET ${pathname}${search}`)
}
