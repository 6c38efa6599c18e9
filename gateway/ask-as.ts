// Asks a subgraph of this process as someone, through its graph like everyone, and takes no refusal.
import { execute, parse } from 'graphql'
import type { Caller } from '../resolvers/kernel/context.ts'
import type { Opened } from '../subgraphs/server/open.ts'

export function askAs({ schema, contextFor }: Opened, caller: Caller) {
  return async (query: string, variables: Record<string, unknown> = {}): Promise<any> => {
    const contextValue = contextFor(caller, { address: '', headers: {} })
    const document = parse(query)
    const answer = await execute({ schema, document, variableValues: variables, contextValue })
    if (answer.errors) throw new Error(answer.errors[0]!.message)
    return answer.data
  }
}
