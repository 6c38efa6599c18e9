// What the graph joins on: diagnostics, their services and the cloud accounts that hold them.
// Specification 3, service D.
import { armKey } from '../families/arm.ts'
import { skipTokenOf } from '../families/arm-lists.ts'
import type { Context } from '../kernel/context.ts'
import { etagOf } from '../kernel/etag.ts'
import { load } from '../kernel/load.ts'
import { connect } from '../kernel/paging.ts'
import { resource, serviceIdOf } from './diagnostics.ts'
import { service } from './services.ts'
import { diagnostics, services, type ApiDiagnostic, type ApiManagementService } from './shapes.ts'

export const entities = {
  /** The id may be spelled in any case. Null when it is not the caller's, or nobody's. */
  async ApiDiagnostic({ id }: { id: string }, ctx: Context) {
    const key = resource.keyOfOwn(id, ctx)
    return key === undefined ? null : ((await load(ctx, diagnostics, key)) ?? null)
  },

  CloudAccount: ({ id }: { id: string }, { caller }: Context) =>
    caller.accounts.some((account) => account.id === id) ? { id } : null,
}

export const fields = {
  CloudAccount: { apiDiagnostics: resource.ofAccount, apiManagementServices: service.ofAccount },
  ApiDiagnosticList: { skipToken: skipTokenOf },
  ApiDiagnostic: {
    etag: etagOf,
    service: serviceOf,
    location: async (diagnostic: ApiDiagnostic, _: object, ctx: Context) =>
      (await serviceOf(diagnostic, _, ctx))?.location,
  },
  ApiManagementService: {
    diagnostics: (of: ApiManagementService, { first, after }: Page, ctx: Context) =>
      connect(ctx, diagnostics, {
        prefix: `${armKey(of)}/`,
        first: first ?? undefined,
        after: after ?? undefined,
      }),
  },
}

/** The service is of the subscription that its diagnostic was read from, so it is the caller's. */
function serviceOf({ id }: ApiDiagnostic, _: object, ctx: Context) {
  return load(ctx, services, armKey({ id: serviceIdOf(id) }))
}

interface Page {
  readonly first?: number | null
  readonly after?: string | null
}
