// The gateway against others of its kind over subgraphs in memory; and beside it over the real services:
// a query that one service answers, through the gateway against the subgraph's schema directly.
import { execute, parse } from 'graphql'
import { openGateway } from '../gateway/gateway.ts'
import { inProcess } from '../gateway/in-process.ts'
import { compareGateways } from './federation/compare.ts'
import { openBare, openGround } from './ground.ts'
import { rateOf } from './load.ts'
import { compare, processorTime } from './measure.ts'

const ROUNDS = 11
const HTTP_ROUNDS = 5
const CALLS = 1_000

const QUERY = `query ($subscriptionId: ID!, $group: String!, $name: String!) {
  dedicatedHsm(subscriptionId: $subscriptionId, resourceGroupName: $group, name: $name) {
    id name type location tags sku { name }
    properties {
      provisioningState stampId
      networkProfile { subnet { id } networkInterfaces { id privateIpAddress } }
    }
  }
}`

export async function benchGraph(): Promise<boolean> {
  const isFast = await compareGateways()
  return (await benchOneService()) && isFast
}

export async function benchOneService(): Promise<boolean> {
  const ground = await openGround()
  const { polygraph, caller, credentials, url } = ground
  const { subscriptionId, resourceGroup: group, hsmName: name } = credentials.hsm!
  const variables = { subscriptionId, group, name }
  const serviceOf = (name: string) =>
    polygraph.services.find(({ subgraph }) => subgraph.name === name)!
  const hsm = serviceOf('hsm')
  const document = parse(QUERY)
  const gateway = await openGateway({
    isIntrospectable: false,
    sourceOf: (name) => inProcess(serviceOf(name)),
  })
  const context = { caller, publicUrl: url, requestId: 'bench', headers: {} }
  const body = JSON.stringify({ query: QUERY, variables })
  const headers = {
    authorization: `Bearer ${credentials.graph!.token}`,
    'content-type': 'application/json',
  }
  const answer: unknown = await (
    await fetch(`${url}/graphql`, { method: 'POST', headers, body })
  ).json()
  const bare = await openBare((app) => app.post('/graphql', async () => answer))
  const request = { method: 'POST', headers, body }

  const direct = () =>
    execute({
      schema: hsm.schema,
      document,
      variableValues: variables,
      contextValue: hsm.contextFor(caller, { address: `${url}/hsm`, headers: {} }),
    })
  const throughGateway = () => gateway.answer({ query: QUERY, variables }, context)

  const results = [
    await compare({
      title: 'graph query of one service in process, processor time against direct execution',
      atMost: 3,
      rounds: ROUNDS,
      ours: () => processorTime(throughGateway, CALLS),
      theirs: () => processorTime(direct, CALLS),
      unit: 'µs',
    }),
    await compare({
      title: 'graph query of one service over HTTP against bare fastify',
      atLeast: 0.2,
      rounds: HTTP_ROUNDS,
      ours: () => rateOf({ ...request, url: `${url}/graphql` }),
      theirs: () => rateOf({ ...request, url: `${bare.url}/graphql` }),
      unit: 'a second of processor time',
    }),
  ]
  await gateway.server.stop()
  await bare.close()
  await ground.close()
  return results.every(Boolean)
}
