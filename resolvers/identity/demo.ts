// A person who can sign in, and a client that signs them in. Specification 1, service S1.
import type { Context } from '../kernel/context.ts'
import { perform, Reply, type Operation } from '../kernel/operation.ts'
import { RESPONSE_TYPES } from './client-metadata.ts'
import * as clients from './clients.ts'
import { keepPassword } from './passwords.ts'
import { newSecret } from './secret-text.ts'
import { operations as userOperations, ownerOf } from './users.ts'

const REDIRECT_URI = 'http://127.0.0.1:8765/callback'

/** Gives the caller a profile and a password, and registers a client of theirs. */
export async function demo(ctx: Context): Promise<Record<string, string>> {
  const ask = async (list: readonly Operation[], name: string, sent: object): Promise<any> => {
    const answer = await perform(
      list.find((operation) => operation.name === name)!,
      sent,
      ctx,
    )
    return answer instanceof Reply ? answer.result : answer
  }
  const password = newSecret('demo')
  await keepPassword(ctx, ownerOf(ctx), password)
  const user = await ask(userOperations, 'updateProfile', {
    profile: {
      given_name: 'Ada',
      preferred_username: 'ada',
      locale: 'en-GB',
      zoneinfo: 'Europe/London',
      phone_number: '+441632960001',
      address: { locality: 'London', country: 'GB' },
      'vendor:location': { latitude: 51.5, longitude: -0.12 },
    },
  })
  const { client, client_secret } = await ask(clients.operations, 'createClient', {
    client_name: 'Demo client',
    client_uri: 'http://127.0.0.1:8765/',
    redirect_uris: [REDIRECT_URI],
    response_types: [...RESPONSE_TYPES],
  })
  return {
    username: user.email,
    password,
    clientId: client.client_id,
    clientSecret: client_secret,
    redirectUri: REDIRECT_URI,
    issuer: ctx.address,
    jwksUri: `${ctx.address}/.well-known/jwks.json`,
  }
}
