// A fetch that its service did not answer, as if it had answered null with an error for each field.
//
// So a client is told in which places something is missing and why, and the rest is answered.
import {
  getOperationAST,
  GraphQLError,
  Kind,
  parse,
  type FieldNode,
  type SelectionSetNode,
} from 'graphql'
import type { Answer, Variables } from './executor/source.ts'
import type { Target } from './executor/targets.ts'
import { fragmentsOf } from './fragments.ts'

/** A list may have thousands of entities, and all lack the same for the same reason. */
const ERRORS_MAX = 100

interface Asked {
  readonly query: string
  readonly variables: Variables
}

/** Throws the failure again where it is none of the service, but a mistake of ours. */
export function answerOfFailed(failure: unknown, { query, variables }: Asked): Answer {
  if (!(failure instanceof GraphQLError) || failure.extensions.service === undefined) throw failure
  const { message, extensions } = failure
  const document = parse(query, { noLocation: true })
  const { selectionSet } = getOperationAST(document)!
  const fragments = fragmentsOf(document)
  const told = variables.representations as readonly Target[] | undefined
  const paths = told
    ? told.flatMap(({ __typename: type }, i) =>
        fieldsOf(fieldsOf(selectionSet, fragments)[0]!.selectionSet!, fragments, type).map(
          (field) => ['_entities', i, keyOf(field)],
        ),
      )
    : fieldsOf(selectionSet, fragments).map((field) => [keyOf(field)])
  const errors = paths.slice(0, ERRORS_MAX).map((path) => ({ message, path, extensions }))
  return {
    data: told ? { _entities: told.map(() => null) } : null,
    errors: errors.length > 0 ? errors : [{ message, extensions }],
  }
}

const keyOf = ({ alias, name }: FieldNode): string => (alias ?? name).value

/** A planner asks of an entity in fragments on its type, as it was told. */
function fieldsOf(
  { selections }: SelectionSetNode,
  fragments: ReturnType<typeof fragmentsOf>,
  type?: string,
): FieldNode[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.FIELD) return selection.name.value === '__typename' ? [] : selection
    const fragment =
      selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]!
    const on = fragment.typeCondition?.name.value
    const isOn = type === undefined || on === undefined || on === type
    return isOn ? fieldsOf(fragment.selectionSet, fragments, type) : []
  })
}
