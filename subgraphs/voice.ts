// Voice messaging as a subgraph. Specification 3, service M.
import * as callRules from '../resolvers/voice/call-rules.ts'
import * as calls from '../resolvers/voice/calls.ts'
import * as configurationSets from '../resolvers/voice/configuration-sets.ts'
import { demo } from '../resolvers/voice/demo.ts'
import * as entities from '../resolvers/voice/entities.ts'
import * as eventDestinations from '../resolvers/voice/event-destinations.ts'
import * as events from '../resolvers/voice/events.ts'
import * as messages from '../resolvers/voice/messages.ts'
import * as snapshots from '../resolvers/voice/snapshots.ts'
import * as subscriptions from '../resolvers/voice/subscriptions.ts'
import { sigV4 } from './server/auth/sigv4.ts'
import { aws } from './server/dialects/aws.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'voice',
  title: 'Voice messaging',
  version: '2018-09-05',
  basePath: '/v1/sms-voice',
  scheme: sigV4('sms-voice'),
  dialect: aws({
    Invalid: 'BadRequestException',
    NotFound: 'NotFoundException',
    TooLarge: 'BadRequestException',
    WrongMediaType: 'BadRequestException',
    TooMany: 'TooManyRequestsException',
    Internal: 'InternalServiceErrorException',
  }),
  exceptions: { ssmlMessage: 'SSMLMessage' },
  resources: [
    configurationSets,
    eventDestinations,
    subscriptions,
    messages,
    calls,
    callRules,
    events,
    snapshots,
    entities,
  ],
  demo,
}
