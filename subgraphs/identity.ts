// Identity: people, the clients that sign them in, and the credentials that open the other services.
// Specification 1, service S1.
import * as authorize from '../resolvers/identity/authorize.ts'
import * as clients from '../resolvers/identity/clients.ts'
import * as clock from '../resolvers/identity/clock.ts'
import * as consents from '../resolvers/identity/consents.ts'
import * as credentials from '../resolvers/identity/credentials.ts'
import * as demoCredentials from '../resolvers/identity/demo-credentials.ts'
import { demo } from '../resolvers/identity/demo.ts'
import * as firstUser from '../resolvers/identity/first-user.ts'
import * as passwords from '../resolvers/identity/passwords.ts'
import * as providerRecords from '../resolvers/identity/provider-records.ts'
import * as sessionIframe from '../resolvers/identity/session-iframe.ts'
import * as sessions from '../resolvers/identity/sessions.ts'
import * as signIns from '../resolvers/identity/sign-ins.ts'
import * as signingKeys from '../resolvers/identity/signing-keys.ts'
import { sweep } from '../resolvers/identity/sweep.ts'
import * as throttle from '../resolvers/identity/throttle.ts'
import * as tokenExchange from '../resolvers/identity/token-exchange.ts'
import * as tokenKeys from '../resolvers/identity/token-keys.ts'
import * as tokens from '../resolvers/identity/tokens.ts'
import * as userInfo from '../resolvers/identity/user-info.ts'
import * as users from '../resolvers/identity/users.ts'
import { mount } from './identity/mount.ts'
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
  exceptions: { vendorLocation: 'vendor:location' },
  resources: [
    authorize,
    tokenExchange,
    userInfo,
    clients,
    sessionIframe,
    users,
    passwords,
    sessions,
    signIns,
    consents,
    firstUser,
    credentials,
    { operations: credentials.proofs },
    { operations: tokens.proofs },
    signingKeys,
    { operations: signingKeys.proofs },
    tokenKeys,
    providerRecords,
    throttle,
    clock,
    demoCredentials,
  ],
  mount,
  sweep,
  demo,
}
