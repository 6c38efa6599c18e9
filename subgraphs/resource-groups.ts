// Resource groups as a subgraph. Specification 3, service R.
import * as configurations from '../resolvers/resource-groups/configurations.ts'
import { demo } from '../resolvers/resource-groups/demo.ts'
import * as entities from '../resolvers/resource-groups/entities.ts'
import * as groupPages from '../resolvers/resource-groups/group-pages.ts'
import * as groups from '../resolvers/resource-groups/groups.ts'
import * as members from '../resolvers/resource-groups/members.ts'
import * as records from '../resolvers/resource-groups/records.ts'
import * as resources from '../resolvers/resource-groups/resources.ts'
import * as settings from '../resolvers/resource-groups/settings.ts'
import * as stacks from '../resolvers/resource-groups/stacks.ts'
import * as tags from '../resolvers/resource-groups/tags.ts'
import { sigV4 } from './server/auth/sigv4.ts'
import { aws } from './server/dialects/aws.ts'
import type { Subgraph } from './server/subgraph.ts'

export const subgraph: Subgraph = {
  name: 'resource-groups',
  title: 'Resource groups',
  version: '2017-11-27',
  basePath: '',
  scheme: sigV4('resource-groups'),
  dialect: aws({
    Invalid: 'BadRequestException',
    Forbidden: 'ForbiddenException',
    NotFound: 'NotFoundException',
    TooLarge: 'BadRequestException',
    WrongMediaType: 'BadRequestException',
    TooMany: 'TooManyRequestsException',
    Internal: 'InternalServerErrorException',
  }),
  resources: [
    records,
    groups,
    groupPages,
    configurations,
    members,
    resources,
    tags,
    stacks,
    settings,
    entities,
  ],
  demo,
}
