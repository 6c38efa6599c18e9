// Identity: people, their cloud accounts and the credentials that open the other services.
import * as clock from '../resolvers/identity/clock.ts'
import * as credentials from '../resolvers/identity/credentials.ts'
import * as demoCredentials from '../resolvers/identity/demo-credentials.ts'
import * as signingKeys from '../resolvers/identity/signing-keys.ts'
import * as users from '../resolvers/identity/users.ts'
import { bearer } from './server/auth/bearer.ts'
import { oauth } from './server/dialects/oauth.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'identity',
  title: 'Identity connect service',
  version: '1.0',
  basePath: '',
  scheme: bearer(),
  dialect: oauth,
  resources: [
    users,
    credentials,
    { operations: credentials.proofs },
    signingKeys,
    { operations: signingKeys.proofs },
    clock,
    demoCredentials,
  ],
}
