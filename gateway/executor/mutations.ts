// Which mutations are performed no more: those after one that failed and cannot be null.
//
// By GraphQL the answer is then null as a whole, and nothing that comes later is done. ApolloGateway goes on
// with those of other services, which their caller would never learn of.
import {
  getOperationAST,
  isNonNullType,
  Kind,
  OperationTypeNode,
  parse,
  type GraphQLSchema,
} from 'graphql'
import { isMutation, type Answer } from './source.ts'

export interface Mutations {
  /** Asks, or answers null if an earlier mutation of the same request ended it. */
  inOrder(request: object, query: string, ask: () => Promise<Answer>): Promise<Answer>
}

export function openMutations(graph: { readonly supergraphSchema: GraphQLSchema }): Mutations {
  const ended = new WeakSet<object>()
  return {
    async inOrder(request, query, ask) {
      if (!isMutation(query)) return ask()
      if (ended.has(request)) return { data: null }
      let answer: Answer | undefined
      try {
        return (answer = await ask())
      } finally {
        if (lacksWhatMustBe(answer, query, graph.supergraphSchema)) ended.add(request)
      }
    },
  }
}

function lacksWhatMustBe(
  answer: Answer | undefined,
  query: string,
  schema: GraphQLSchema,
): boolean {
  if (answer?.data && !answer.errors?.length) return false
  const operation = getOperationAST(parse(query, { noLocation: true }))!
  const fields = schema.getRootType(OperationTypeNode.MUTATION)!.getFields()
  return operation.selectionSet.selections.some((selection) => {
    if (selection.kind !== Kind.FIELD) return false
    const { name, alias = name } = selection
    const type = fields[name.value]?.type
    return isNonNullType(type) && (answer?.data?.[alias.value] ?? null) === null
  })
}
