// Groups joined with two services that have resources: modules in a subscription, sets in an account.
import { subgraph as hsm } from '../../subgraphs/hsm.ts'
import { subgraph } from '../../subgraphs/resource-groups.ts'
import { subgraph as voice } from '../../subgraphs/voice.ts'
import { MANY, one, PLAIN } from '../hsm/modules.ts'
import { openGraphForTest } from '../open-graph.ts'
import type { OpenOptions } from '../open.ts'

export const GROUP_ARN = 'arn:aws:resource-groups:us-east-1:111111111111:group'
export const SET_TYPE = 'AWS::SMSVOICE::ConfigurationSet'
export const MODULE_TYPE = 'AWS::Polygraph::DedicatedHsm'

export const setArn = (name: string) =>
  `arn:aws:sms-voice:us-east-1:111111111111:configuration-set/${name}`
export const moduleId = (name: string) => `${MANY}/${name}`
export const moduleArn = (name: string) =>
  `arn:aws:polygraph:us-east-1:111111111111:${moduleId(name)}`

export const tagQuery = (tags: Record<string, string[]>, types = ['AWS::AllSupported']) => ({
  Type: 'TAG_FILTERS_1_0',
  Query: JSON.stringify({
    ResourceTypeFilters: types,
    TagFilters: Object.entries(tags).map(([Key, Values]) => ({ Key, Values })),
  }),
})

export const stackQuery = (StackIdentifier: string, types = ['AWS::AllSupported']) => ({
  Type: 'CLOUDFORMATION_STACK_1_0',
  Query: JSON.stringify({ ResourceTypeFilters: types, StackIdentifier }),
})

export const HOSTS = [{ Type: 'AWS::EC2::HostManagement' }]

export async function openGroups(options: Pick<OpenOptions, 'credentials'> = {}) {
  const graph = await openGraphForTest([subgraph, hsm, voice], options)
  const service = graph.service('resource-groups')

  return {
    graph,
    service,
    rest: service.rest,
    advance: graph.advance,

    async makeSet(name: string, tags: Record<string, string> = {}) {
      await graph.service('voice').rest('POST /v1/sms-voice/configuration-sets', {
        ConfigurationSetName: name,
      })
      await graph.ask(
        'mutation ($id: ID!, $tags: JSONObject!) { tagVoiceConfigurationSet(id: $id, tags: $tags) { id } }',
        { id: setArn(name), tags },
      )
      return setArn(name)
    },

    async makeModule(name: string, tags: Record<string, string> = {}) {
      const { status } = await graph.service('hsm').rest(`PUT ${one(name)}`, { ...PLAIN, tags })
      if (status !== 201) throw new Error(`the module ${name} was not made: ${status}`)
      return moduleArn(name)
    },

    async dropSet(name: string) {
      await graph.service('voice').rest(`DELETE /v1/sms-voice/configuration-sets/${name}`)
    },
  }
}

export type Groups = Awaited<ReturnType<typeof openGroups>>

export const pathOf = (arn: string) => `/resources/${encodeURIComponent(arn)}/tags`
