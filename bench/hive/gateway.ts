// Hive Gateway as it is without configuration. Its packages are installed beside this file.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DocumentNode } from 'graphql'
import type { Contender, Shop } from '../federation/contender.ts'
import { executeIn } from '../federation/subgraphs.ts'

/** Not named in the import, since the types are checked also where it is not installed. */
const RUNTIME: string = '@graphql-hive/gateway-runtime'

export async function openHive({ supergraph, schemas, onFetch }: Shop): Promise<Contender> {
  const { createGatewayRuntime } = await import(RUNTIME)
  const runtime = createGatewayRuntime({
    supergraph,
    ...(schemas && {
      transports: {
        http: {
          getSubgraphExecutor:
            ({ subgraphName }: { subgraphName: string }) =>
            ({ document, variables }: { document: DocumentNode; variables: any }) => {
              onFetch()
              return executeIn(schemas[subgraphName]!, document, variables)
            },
        },
      },
    }),
  })
  const server = createServer(runtime)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql` }
}
