// Instances of API management, which diagnostics belong to. Specification 3, service D.
//
// The document shows no operation that makes an instance, so these are of the graph alone.
import { armResource } from '../families/arm.ts'
import { CannotDeleteResource } from '../families/arm-errors.ts'
import { under } from '../families/arm-lists.ts'
import {
  checkSubscription,
  group,
  inGroup,
  resourceLocation,
  subscription,
  type Input,
} from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { connect, paging, type Paging } from '../kernel/paging.ts'
import { optional, text } from '../kernel/shape.ts'
import type { Records } from '../kernel/store.ts'
import { diagnostics, services, type ApiManagementService } from './shapes.ts'

export const VERSION = '2019-12-01-preview'
export const SERVICE_TYPE = 'Vendor.ApiManagement/service'
export const SERVICE = `${inGroup(SERVICE_TYPE)}/{serviceName}`
const SERVICE_NAME_MAX = 50

export const service = armResource<ApiManagementService>({
  type: SERVICE_TYPE,
  path: SERVICE,
  version: VERSION,
  kind: services,
  body: 'parameters',
  announces: 'diagnostics.service',
  accept({ location }: { location?: string }, { before }) {
    const place = location ?? before?.location
    return { ...(place !== undefined && { location: place }), properties: {} }
  },
  checkRemoval: checkEmpty,
})

export const key = {
  ...group,
  serviceName: text
    .max(SERVICE_NAME_MAX, `must be at most ${SERVICE_NAME_MAX} characters`)
    .regex(
      /^[a-zA-Z](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/,
      'must begin with a letter, have letters, digits and hyphens, and not end in a hyphen',
    ),
}

export const operations = [
  operation({
    name: 'putApiManagementService',
    input: { ...key, location: optional(resourceLocation) },
    run: ({ location, ...at }, ctx) => service.put({ ...at, parameters: { location } }, ctx),
  }),
  operation({ name: 'deleteApiManagementService', input: key, run: service.remove }),
  operation({ name: 'apiManagementService', input: key, run: service.get }),
  operation({ name: 'apiManagementServices', input: { ...subscription, ...paging }, run: list }),
]

export const kinds = [services]
export const steps = service.steps

function list(sent: Input & Paging, ctx: Context) {
  const { first, after, ...input } = checkSubscription(sent, ctx)
  return connect(ctx, services, {
    ...under('/subscriptions/{subscriptionId}', input),
    first,
    after,
  })
}

async function checkEmpty({ id, name }: ApiManagementService, tx: Records): Promise<void> {
  const prefix = `${id}/`.toLowerCase()
  const { items } = await tx.list(diagnostics, { prefix, limit: 1 })
  if (items.length === 0) return
  throw CannotDeleteResource(
    `${name} has diagnostics, of which ${items[0]!.name} is one. Delete them before it.`,
  )
}
