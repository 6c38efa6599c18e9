// The OpenID provider's store: our own records and clients, as it asks for them.
import Provider, { errors, type AdapterPayload } from 'oidc-provider'
import { clients, type Client } from './clients.ts'
import {
  consumeRecord,
  endGrant,
  findRecord,
  findSession,
  keepPayload,
  nameOf,
  payloadOf,
  removeRecord,
  type Ground,
  type ProviderRecord,
} from './provider-records.ts'

/** What is asked of one model: sessions, codes, grants and the like. */
export const adapterOf = (ground: Ground, model: string) =>
  model === 'Client' ? clientAdapter(ground) : recordAdapter(ground, model)

function recordAdapter(ground: Ground, model: string) {
  return {
    ...unused,
    upsert: (id: string, payload: AdapterPayload, lifeS: number) =>
      keepPayload(ground, model, {
        id,
        payload,
        lifeS,
        userAgent: model === 'Session' ? Provider.ctx?.get('user-agent') : undefined,
      }),
    async find(id: string) {
      const record = await findRecord(ground, model, id)
      if (record && model === 'AuthorizationCode' && Provider.ctx) codes.set(Provider.ctx, record)
      return record && payloadOf(record, ground)
    },
    async findByUid(uid: string) {
      const record = await findSession(ground, uid)
      return record && payloadOf(record, ground)
    },
    async consume(id: string) {
      const record = Provider.ctx && codes.get(Provider.ctx)
      if (record?.name !== nameOf(model, id)) throw new Error('a code is used that was not read')
      if (await consumeRecord(ground, record)) return
      // Two who show one code at the same moment: neither can be told from a thief.
      if (record.grantId) await endGrant(ground, record.grantId)
      throw new errors.InvalidGrant('authorization code already consumed')
    },
    destroy: (id: string) => removeRecord(ground, model, id),
    revokeByGrantId: (grantId: string) => endGrant(ground, grantId),
  }
}

/** The code of a request as it was read: it is used only if nobody used it since. */
const codes = new WeakMap<object, ProviderRecord>()

const clientAdapter = ({ store }: Ground) => ({
  ...unused,
  async find(id: string) {
    const client = await store.get(clients, id)
    return client && metadataFor(client)
  },
})

const refuseUse = async (): Promise<never> => {
  throw new Error('the provider asked its store for what is not offered here')
}
const unused = {
  upsert: refuseUse as any,
  find: refuseUse as any,
  findByUid: refuseUse as any,
  findByUserCode: refuseUse as any,
  consume: refuseUse as any,
  destroy: refuseUse as any,
  revokeByGrantId: refuseUse as any,
}

const TYPES = ['code', 'id_token', 'id_token token', 'code id_token', 'code token']

/** The response types that the provider knows, in its own order of words. */
export const PROVIDER_TYPES = [...TYPES, 'code id_token token'] as any[]

/** A client as the provider knows it. Redirect URLs, types and secrets are checked by rules of ours. */
const metadataFor = (client: Client): AdapterPayload =>
  ({
    client_id: client.client_id,
    client_name: client.client_name,
    client_secret: client.secretHash,
    application_type: client.application_type,
    id_token_signed_response_alg: client.id_token_signed_response_alg,
    redirect_uris: ['https://client.invalid/'],
    grant_types: ['authorization_code', 'implicit'],
    response_types: PROVIDER_TYPES,
    ...(client.default_max_age !== undefined && { default_max_age: client.default_max_age }),
    ours: client,
  }) as unknown as AdapterPayload

/** Our record of a client that the provider hands out. */
export const oursOf = (client: object): Client => (client as { ours: Client }).ours
