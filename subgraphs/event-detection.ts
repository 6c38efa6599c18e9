// Event detection as a subgraph. Specification 3, service T.
import * as alarmModels from '../resolvers/event-detection/alarm-models.ts'
import * as alarms from '../resolvers/event-detection/alarms.ts'
import * as cloudResources from '../resolvers/event-detection/cloud-resources.ts'
import { demo } from '../resolvers/event-detection/demo.ts'
import * as detectorModels from '../resolvers/event-detection/detector-models.ts'
import * as detectors from '../resolvers/event-detection/detectors.ts'
import * as entities from '../resolvers/event-detection/entities.ts'
import * as inputs from '../resolvers/event-detection/inputs.ts'
import * as instances from '../resolvers/event-detection/instances.ts'
import * as messages from '../resolvers/event-detection/messages.ts'
import * as notifications from '../resolvers/event-detection/notifications.ts'
import * as removals from '../resolvers/event-detection/removals.ts'
import * as snapshots from '../resolvers/event-detection/snapshots.ts'
import * as timers from '../resolvers/event-detection/timers.ts'
import { sigV4 } from './server/auth/sigv4.ts'
import { aws } from './server/dialects/aws.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'event-detection',
  title: 'Event-detector and alarm data',
  version: '2018-10-23',
  basePath: '',
  scheme: sigV4('ioteventsdata'),
  dialect: aws(
    {
      Invalid: 'InvalidRequestException',
      NotFound: 'ResourceNotFoundException',
      TooLarge: 'InvalidRequestException',
      WrongMediaType: 'InvalidRequestException',
      TooMany: 'ThrottlingException',
      Internal: 'InternalFailureException',
    },
    { spelling: 'camel' },
  ),
  exceptions: { batchPutMessageErrorEntries: 'BatchPutMessageErrorEntries' },
  resources: [
    inputs,
    messages,
    detectorModels,
    detectors,
    alarmModels,
    alarms,
    instances,
    timers,
    notifications,
    removals,
    cloudResources,
    snapshots,
    entities,
  ],
  demo,
  demoAfter: ['sql-db', 'sql-vm', 'voice'],
}
