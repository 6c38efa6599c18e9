// Banking as a subgraph. Specification 2, service B.
import * as accountChanges from '../resolvers/banking/account-changes.ts'
import * as accounts from '../resolvers/banking/accounts.ts'
import * as attachments from '../resolvers/banking/attachments.ts'
import * as avatars from '../resolvers/banking/avatars.ts'
import * as callbackUrls from '../resolvers/banking/callback-urls.ts'
import * as cardChanges from '../resolvers/banking/card-changes.ts'
import * as cardPayments from '../resolvers/banking/card-payments.ts'
import * as cards from '../resolvers/banking/cards.ts'
import * as categories from '../resolvers/banking/categories.ts'
import { demo } from '../resolvers/banking/demo.ts'
import * as entities from '../resolvers/banking/entities.ts'
import * as fundraisers from '../resolvers/banking/fundraisers.ts'
import * as installations from '../resolvers/banking/installations.ts'
import { migrations } from '../resolvers/banking/migrations.ts'
import * as oauthClients from '../resolvers/banking/oauth-clients.ts'
import * as paymentBatches from '../resolvers/banking/payment-batches.ts'
import * as paymentCodes from '../resolvers/banking/payment-codes.ts'
import * as paymentViews from '../resolvers/banking/payment-views.ts'
import * as payments from '../resolvers/banking/payments.ts'
import * as pendingPayments from '../resolvers/banking/pending-payments.ts'
import * as publicAttachments from '../resolvers/banking/public-attachments.ts'
import * as registration from '../resolvers/banking/registration.ts'
import * as requests from '../resolvers/banking/requests.ts'
import * as schedules from '../resolvers/banking/schedules.ts'
import * as serverKey from '../resolvers/banking/server-key.ts'
import * as statements from '../resolvers/banking/statements.ts'
import * as subscriptions from '../resolvers/banking/subscriptions.ts'
import * as tabResults from '../resolvers/banking/tab-results.ts'
import * as tabs from '../resolvers/banking/tabs.ts'
import * as uploads from '../resolvers/banking/uploads.ts'
import * as users from '../resolvers/banking/users.ts'
import { bank } from './banking/dialect.ts'
import { mount } from './banking/mount.ts'
import { bankScheme } from './banking/scheme.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'banking',
  title: 'Banking service',
  version: '1.0',
  basePath: '/v1',
  scheme: bankScheme,
  dialect: bank,
  resources: [
    installations,
    serverKey,
    registration,
    users,
    accounts,
    accountChanges,
    payments,
    paymentViews,
    paymentBatches,
    paymentCodes,
    pendingPayments,
    schedules,
    requests,
    tabs,
    tabResults,
    fundraisers,
    statements,
    categories,
    uploads,
    attachments,
    publicAttachments,
    avatars,
    subscriptions,
    oauthClients,
    callbackUrls,
    cards,
    cardChanges,
    cardPayments,
    entities,
  ],
  migrations,
  mount,
  sweep: installations.sweepSessions,
  demo,
  demoAfter: ['identity'],
}
