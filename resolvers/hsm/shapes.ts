// A module as it is kept, as it is sent and as it is shown. Specification 3, service H.
import { z } from 'zod'
import type { ArmResource } from '../families/arm.ts'
import { inGroup, partsOf, resourceLocation, resourceTags } from '../families/arm-paths.ts'
import { oneOf, optional, tags, text } from '../kernel/shape.ts'

const SUBNET = `${inGroup('Vendor.Network/virtualNetworks')}/{networkName}/subnets/{subnetName}`
const INTERFACES_MAX = 8

export interface DedicatedHsm extends ArmResource {
  location: string
  sku: { name: string }
  zones?: string[] | undefined
  properties: {
    networkProfile?: NetworkProfile | undefined
    stampId?: string | undefined
    provisioningState?: string
    /** Why provisioning failed. */
    statusMessage?: string
  }
}

export interface NetworkProfile {
  subnet?: { id: string } | undefined
  networkInterfaces?: { id: string; privateIpAddress?: string | undefined }[] | undefined
}

const isUnique = (values: readonly unknown[]) => new Set(values).size === values.length

// Chosen: a subnet is checked for its form alone, since no service here keeps networks.
const subnet = z.object({
  id: text.refine((id) => partsOf(SUBNET, id) !== undefined, `must have the form ${SUBNET}`),
})

const networkInterfaces = z
  .array(z.object({ privateIpAddress: optional(z.ipv4('must be an IPv4 address')) }))
  .max(INTERFACES_MAX, `must be at most ${INTERFACES_MAX} interfaces`)
  .refine(
    (all) => isUnique(all.flatMap(({ privateIpAddress }) => privateIpAddress ?? [])),
    'must not name an address twice',
  )

const networkProfile = z.object({
  subnet: optional(subnet),
  networkInterfaces: optional(networkInterfaces),
})

/** The body of PUT. */
export const module = z.object({
  location: resourceLocation,
  sku: z.object({ name: oneOf(['Vendor Network HSM A790']) }),
  tags: optional(resourceTags),
  zones: optional(z.array(oneOf(['1', '2', '3'])).refine(isUnique, 'must not name a zone twice')),
  properties: z.object({
    networkProfile: optional(networkProfile),
    stampId: optional(
      text.regex(/^stamp[1-9]\d?$/, 'must be the word stamp and a number, such as stamp1'),
    ),
  }),
})

/**
 * The body of PATCH. It documents tags alone; what else belongs to a module is read too, so that an
 * attempt to change it is refused and not silently ignored.
 */
export const modulePatch = module.extend({
  location: optional(module.shape.location),
  sku: optional(module.shape.sku),
  properties: optional(module.shape.properties),
})

export type Module = z.output<typeof module>
export type SentNetworkProfile = z.output<typeof networkProfile>

const reference = z.object({ id: text })

export const moduleAnswer = z.object({
  id: text,
  name: text,
  type: text,
  location: text,
  sku: z.object({ name: text }),
  tags: tags.optional(),
  zones: z.array(text).optional(),
  properties: z.object({
    provisioningState: oneOf([
      'Provisioning',
      'CheckingQuota',
      'Allocating',
      'Connecting',
      'Succeeded',
      'Failed',
      'Deleting',
    ]),
    statusMessage: text.optional(),
    stampId: text.optional(),
    networkProfile: z
      .object({
        subnet: reference.optional(),
        networkInterfaces: z
          .array(reference.extend({ privateIpAddress: text.optional() }))
          .optional(),
      })
      .optional(),
  }),
})

export const moduleListAnswer = z.object({
  value: z.array(moduleAnswer),
  nextLink: text.optional(),
})

export const operationListAnswer = z.object({
  value: z.array(
    z.object({
      name: text,
      display: z.object({ provider: text, resource: text, operation: text, description: text }),
    }),
  ),
})
