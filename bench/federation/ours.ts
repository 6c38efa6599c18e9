// Ours, behind the same front as in Polygraph: it proves callers, counts and logs.
import { hash, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { callerOf, type GatewayContext } from '../../gateway/callers.ts'
import type { Source } from '../../gateway/executor/source.ts'
import { openFront } from '../../gateway/front.ts'
import { openGateway } from '../../gateway/gateway.ts'
import { executing } from '../../gateway/in-process.ts'
import { openLogging } from '../../gateway/logging.ts'
import { overHttp } from '../../gateway/over-http.ts'
import { wallClock } from '../../resolvers/kernel/clock.ts'
import type { Caller } from '../../resolvers/kernel/context.ts'
import { goOn, type Soon } from '../../resolvers/kernel/soon.ts'
import { openCredentials } from '../../subgraphs/server/auth/credentials.ts'
import { openNotes } from '../../subgraphs/server/auth/gateway.ts'
import { requestIds } from '../../subgraphs/server/request-ids.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import type { Contender, Shop } from './contender.ts'
import { TOKENS } from './queries.ts'

const HOST = '127.0.0.1'

export async function openOurs({ supergraph, urls, schemas, onFetch }: Shop): Promise<Contender> {
  const notes = openNotes(randomBytes(32), wallClock)
  const gateway = await openGateway({
    supergraph,
    isIntrospectable: false,
    sourceOf: (name) =>
      schemas
        ? counting(
            executing(
              () => schemas[name]!,
              () => ({}),
            ),
            onFetch,
          )
        : overHttp({ name, urls: [urls[name]!], notes }),
  })
  const { log, write } = openLogging('info', '/dev/null')
  const front = await openFront({
    services: [],
    isAlone: false,
    apollo: gateway.server,
    shortly: gateway.shortly,
    contextOf: ({ raw, id }) => contextOf(raw.headers, id),
    telemetry: openTelemetry(log, write),
    publicUrl: undefined,
    hasPage: false,
    newId: requestIds(),
  })
  await front.listen({ port: 0, host: HOST })

  return {
    url: `http://${HOST}:${(front.server.address() as AddressInfo).port}/graphql`,
    answer: async (asked, authorization) =>
      gateway.answer(asked, await contextOf({ authorization }, '')),
  }
}

const contextOf = (headers: IncomingHttpHeaders, requestId: string): Soon<GatewayContext> =>
  goOn(callerOf(headers, credentials), (caller) => ({
    caller,
    publicUrl: '',
    requestId,
    headers: headers as GatewayContext['headers'],
  }))

/** What identity would answer, by the hash of a token. */
const people = new Map(
  TOKENS.map((token, i): [string, Caller] => [
    hash('sha256', token, 'hex'),
    {
      kind: 'user',
      userId: `caller-${i}`,
      credentialId: token,
      accounts: [{ kind: 'ACCOUNT', id: '123456789012' }],
      permissions: ['*'],
      isAdmin: false,
    },
  ]),
)
const credentials = openCredentials(
  async (_query, { tokenHash }) => ({ answer: people.get(tokenHash!) }),
  wallClock,
)

function counting(source: Source, onFetch: () => void): Source {
  return {
    prepare(query, operationName) {
      const ask = source.prepare(query, operationName)
      return (variables, context) => {
        onFetch()
        return ask(variables, context)
      }
    },
  }
}
