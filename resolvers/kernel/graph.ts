// The whole graph, for rules that reach over services: no service imports or calls another.
//
// 1. A person sees through it what that person sees at the gateway, and a credential permits through
//    it what it permits elsewhere. Its accounts do not bind it: a key of a signed account may ask for
//    the resources that its owner keeps in a subscription.
// 2. It is never asked within a transaction: what answers may be this very service.
import { NOBODY, type Caller } from './context.ts'
import { Fault, Unavailable } from './fault.ts'

export interface Graph {
  /** Asks as the person behind the caller. Refusals are in the answer. */
  ask(document: string, variables?: Readonly<Record<string, unknown>>): Promise<GraphAnswer>
  /** The graph as a person sees it, where no caller is there: in a step of work. */
  as(userId: string, permissions?: readonly string[]): Graph
  /** What can be asked: the object types of all services, by name. Always the same map. */
  types(): GraphTypes
}

export type GraphTypes = ReadonlyMap<string, GraphType>

export interface GraphType {
  readonly interfaces: readonly string[]
  /** By field, the name of the type in it, without lists and exclamation marks. */
  readonly fields: ReadonlyMap<string, string>
}

export interface GraphAnswer {
  readonly data: any
  readonly errors?: readonly GraphError[]
}

export interface GraphError {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: Readonly<Record<string, any>>
}

/** Where graphs are asked: the gateway, in this process or elsewhere, and identity for its callers. */
export interface GraphPort {
  ask(
    caller: Caller,
    document: string,
    variables: Readonly<Record<string, unknown>>,
  ): Promise<GraphAnswer>
  /** The person with all accounts, or undefined if there is none. */
  person(userId: string): Promise<Caller | undefined>
  types(): GraphTypes
}

/** The data of an answer. The first refusal in it is thrown, with the code that its service gave. */
export function dataOf({ data, errors }: GraphAnswer): any {
  const [error] = errors ?? []
  if (!error) return data
  const { code = 'Unavailable', status = 503 } = error.extensions ?? {}
  throw new Fault(String(code), Number(status), error.message)
}

export const graphFor = (port: GraphPort, caller: Caller): Graph => new PersonsGraph(port, caller)

// A class, since one is made for every request and few are asked.
class PersonsGraph implements Graph {
  readonly #port: GraphPort
  readonly #caller: Caller

  constructor(port: GraphPort, caller: Caller) {
    this.#port = port
    this.#caller = caller
  }

  async ask(document: string, variables: Readonly<Record<string, unknown>> = {}) {
    return this.#port.ask(await this.#asker(), document, variables)
  }

  as(userId: string, permissions: readonly string[] = ['*']): Graph {
    const credentialId = this.#caller.credentialId
    const person = { ...NOBODY, kind: 'user' as const, userId, credentialId, permissions }
    return new PersonsGraph(this.#port, person)
  }

  types(): GraphTypes {
    return this.#port.types()
  }

  async #asker(): Promise<Caller> {
    const { kind, userId, credentialId, permissions, accounts } = this.#caller
    if (kind === 'nobody') return NOBODY
    if (kind === 'service') throw new Error('a service asks the graph as a person: use as(userId)')
    const person = await this.#port.person(userId)
    if (!person) throw Unavailable(`There is no person ${userId} any more to ask the graph for.`)
    const others = person.accounts.filter(({ id }) => !accounts.some((own) => own.id === id))
    return { ...person, credentialId, permissions, accounts: [...accounts, ...others] }
  }
}

const NO_GRAPH = 'This needs the whole graph. Start the gateway, and set POLYGRAPH_URL_GATEWAY.'

/** A service on its own, without a gateway. */
export const noGraph: GraphPort = {
  ask: () => Promise.reject(Unavailable(NO_GRAPH)),
  person: () => Promise.reject(Unavailable(NO_GRAPH)),
  types() {
    throw Unavailable(NO_GRAPH)
  },
}

/** What needs other services; undefined where none is reached, as by a service that is started alone. */
export async function whereReached<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Fault && error.status === 503) return undefined
    throw error
  }
}
