// What a caller may not have is not fetched. The answer is the one that the service would have given:
// null and a refusal in place of the field, or of the nearest parent that can be null.
//
// Which fields of a fetch need what (@needs) is found once, when its plan is prepared. A fetch goes out
// as it is for who may have all of it; otherwise without the refused fields, and not at all if nothing
// is left of it.
import { parse, print, type GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Caller } from '../resolvers/kernel/context.ts'
import type { Fault } from '../resolvers/kernel/fault.ts'
import { refusalOf, type Needs } from '../resolvers/kernel/operation.ts'
import { hasNeeds, wordsOf } from '../subgraphs/server/needs.ts'
import type { AnswerError, Ask, Source } from './executor/source.ts'
import { mend, prune, type Gaps } from './needs-gaps.ts'

/** For how many sets of permissions a fetch is kept ready. */
const PARTS_MAX = 50

export const withoutRefused = (
  source: Source,
  service: string,
  graph: { readonly supergraphSchema: GraphQLSchema },
): Source => ({
  prepare(query, operationName) {
    const ask = source.prepare(query, operationName)
    const { supergraphSchema: schema } = graph
    if (!hasNeeds(schema)) return ask
    const document = parse(query, { noLocation: true })
    const needed = new Map<string, Needs>()
    prune(document, schema, (needs) => void needed.set(wordsOf(needs), needs))
    if (needed.size === 0) return ask

    const parts = new LRUCache<string, Ask>({ max: PARTS_MAX })
    function preparePart(refused: Refused): Ask {
      const pruned = prune(document, schema, (needs) => refused.get(wordsOf(needs)))
      const rest = pruned.document && source.prepare(print(pruned.document), operationName)
      return askingPart(rest, pruned.gaps, service)
    }
    return (variables, context) => {
      const refused = refusedTo(context.caller, needed)
      if (!refused) return ask(variables, context)
      // Of several permissions one caller may lack another than the next.
      const name = [...refused].map(([words, { message }]) => `${words}: ${message}`).join('\n')
      let part = parts.get(name)
      if (!part) parts.set(name, (part = preparePart(refused)))
      return part(variables, context)
    }
  },
})

/** Why not, by the words of what is needed. */
type Refused = ReadonlyMap<string, Fault>

function refusedTo(caller: Caller, needed: ReadonlyMap<string, Needs>): Refused | undefined {
  let refused: Map<string, Fault> | undefined
  for (const [words, needs] of needed) {
    const fault = refusalOf(caller, needs)
    if (fault) (refused ??= new Map()).set(words, fault)
  }
  return refused
}

const askingPart =
  (rest: Ask | undefined, gaps: Gaps, service: string): Ask =>
  async (variables, context) => {
    const { data = null, errors = [] } = rest ? await rest(variables, context) : { data: {} }
    const all: AnswerError[] = [...errors]
    const mended = data && mend(data, gaps, { variables, service, errors: all })
    return { data: mended, errors: all }
  }
