// Groups and listeners as they are sent and shown. Specification 3, service V.
import { z } from 'zod'
import { inGroup, partsOf, resourceLocation, resourceTags } from '../families/arm-paths.ts'
import { oneOf, optional, tags, text } from '../kernel/shape.ts'

const LABEL_MAX = 128
const PATH_MAX = 1_024
const PORT_MAX = 65_535
const CONFIGURATIONS_MAX = 8
/** The database engine lets an availability group have nine replicas. */
const INSTANCES_MAX = 9
const NETWORK = 'Vendor.Network'
const SUBNET = `${inGroup(`${NETWORK}/virtualNetworks`)}/{networkName}/subnets/{subnetName}`
const LOAD_BALANCER = `${inGroup(`${NETWORK}/loadBalancers`)}/{loadBalancerName}`
const PUBLIC_ADDRESS = `${inGroup(`${NETWORK}/publicIPAddresses`)}/{addressName}`

export const label = text.max(LABEL_MAX, `must be at most ${LABEL_MAX} characters`)
export const path = text.max(PATH_MAX, `must be at most ${PATH_MAX} characters`)
export const address = path.refine((url) => URL.canParse(url), 'must be an absolute URL')
export const port = wholeFrom(1, PORT_MAX)

/** Chosen: the vendor's usual rule for names of resources. */
export const resourceName = text.regex(
  /^[a-zA-Z0-9](?:[\w.-]{0,78}\w)?$/,
  'must be 1 to 80 letters, digits, periods, underscores or hyphens, begin with a letter or digit and not end in a period or hyphen',
)

/** A whole number in a body, where text is not one. */
export function wholeFrom(least: number, most: number) {
  return z
    .int('must be a whole number')
    .min(least, `must be at least ${least}`)
    .max(most, `must be at most ${most}`)
}

/** Chosen: what other services would keep is checked for its form alone. */
export const idOf = (form: string) =>
  path.refine(
    (id) => id.isWellFormed() && partsOf(form, id) !== undefined,
    `must have the form ${form}`,
  )

const wsfcDomainProfile = z.object({
  domainFqdn: optional(label),
  ouPath: optional(path),
  clusterBootstrapAccount: optional(label),
  clusterOperatorAccount: optional(label),
  sqlServiceAccount: optional(label),
  fileShareWitnessPath: optional(path),
  storageAccountUrl: optional(address),
  storageAccountPrimaryKey: optional(path),
})

const groupProperties = z.object({
  sqlImageOffer: optional(label),
  sqlImageSku: optional(oneOf(['Developer', 'Enterprise'])),
  wsfcDomainProfile: optional(wsfcDomainProfile),
})

/** The body of PUT on a group. */
export const group = z.object({
  location: resourceLocation,
  tags: optional(resourceTags),
  properties: optional(groupProperties),
})

/** The body of PATCH, on a group and on a machine. */
export const tagsPatch = z.object({ tags: optional(resourceTags) })

const loadBalancerConfiguration = z.object({
  privateIpAddress: optional(
    z.object({
      ipAddress: optional(z.ipv4('must be an IPv4 address')),
      subnetResourceId: optional(idOf(SUBNET)),
    }),
  ),
  publicIpAddressResourceId: optional(idOf(PUBLIC_ADDRESS)),
  loadBalancerResourceId: optional(idOf(LOAD_BALANCER)),
  probePort: optional(port),
  sqlVirtualMachineInstances: optional(
    z.array(path).max(INSTANCES_MAX, `must be at most ${INSTANCES_MAX} machines`),
  ),
})

const listenerProperties = z.object({
  availabilityGroupName: optional(label),
  createDefaultAvailabilityGroupIfNotExist: optional(z.boolean()),
  port: optional(port),
  loadBalancerConfigurations: optional(
    z
      .array(loadBalancerConfiguration)
      .max(CONFIGURATIONS_MAX, `must be at most ${CONFIGURATIONS_MAX} configurations`),
  ),
})

/** The body of PUT on a listener. */
export const listener = z.object({ properties: optional(listenerProperties) })

export type Group = z.output<typeof group>
export type GroupProperties = z.output<typeof groupProperties>
export type Listener = z.output<typeof listener>
export type ListenerProperties = z.output<typeof listenerProperties>

export const state = oneOf(['Creating', 'Updating', 'Succeeded', 'Failed', 'Deleting'])
export const identified = { id: text, name: text, type: text }

export const groupAnswer = z.object({
  ...identified,
  location: text,
  tags: tags.optional(),
  properties: z.object({
    provisioningState: state,
    clusterManagerType: text,
    clusterConfiguration: text,
    scaleType: text,
    sqlImageOffer: text.optional(),
    sqlImageSku: text.optional(),
    // Without the key, which is never shown.
    wsfcDomainProfile: z
      .strictObject({
        domainFqdn: text.optional(),
        ouPath: text.optional(),
        clusterBootstrapAccount: text.optional(),
        clusterOperatorAccount: text.optional(),
        sqlServiceAccount: text.optional(),
        fileShareWitnessPath: text.optional(),
        storageAccountUrl: text.optional(),
      })
      .optional(),
  }),
})

export const listenerAnswer = z.object({
  ...identified,
  properties: z.object({
    provisioningState: state,
    availabilityGroupName: text.optional(),
    createDefaultAvailabilityGroupIfNotExist: z.boolean().optional(),
    port: z.int().optional(),
    loadBalancerConfigurations: z
      .array(
        z.object({
          privateIpAddress: z
            .object({ ipAddress: text.optional(), subnetResourceId: text.optional() })
            .optional(),
          publicIpAddressResourceId: text.optional(),
          loadBalancerResourceId: text.optional(),
          probePort: z.int().optional(),
          sqlVirtualMachineInstances: z.array(text).optional(),
        }),
      )
      .optional(),
  }),
})

export const listOf = (answer: z.ZodType) =>
  z.object({ value: z.array(answer), nextLink: text.optional() })

export const operationListAnswer = z.object({
  value: z.array(
    z.object({
      name: text,
      origin: oneOf(['user', 'system']),
      display: z.object({ provider: text, resource: text, operation: text, description: text }),
    }),
  ),
})
