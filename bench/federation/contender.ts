// The process of one contender: opens a gateway over the shop, and tells what it used.
import { openSchemas } from './subgraphs.ts'
import { serveParent } from './child.ts'
import { authorizationOf, type Asked } from './queries.ts'
import type { GraphQLSchema } from 'graphql'

/** So many calls are under way at once where they come without HTTP. */
const TOGETHER = 16

export interface Shop {
  readonly supergraph: string
  /** Where the subgraphs are, by name; or what they are, if they are in this process. */
  readonly urls: Readonly<Record<string, string>>
  readonly schemas: Readonly<Record<string, GraphQLSchema>> | undefined
  /** To be called for each fetch in this process. */
  readonly onFetch: () => void
}

export interface Contender {
  readonly url: string
  /** The answer without HTTP, where there is such a way. */
  readonly answer?: (asked: Asked, authorization: string) => Promise<unknown>
}

export interface Usage {
  readonly processorMs: number
  readonly memoryBytes: number
  readonly fetches: number
}

const OPENERS: Readonly<Record<string, () => Promise<(shop: Shop) => Promise<Contender>>>> = {
  ours: async () => (await import('./ours.ts')).openOurs,
  stock: async () => (await import('./stock.ts')).openStock,
  hive: async () => (await import('../hive/gateway.ts')).openHive,
  bare: async () => (await import('./bare.ts')).openBare,
}

const [name, way] = process.argv.slice(2)
let contender: Contender
let fetches = 0

serveParent({
  async open(shop: Pick<Shop, 'supergraph' | 'urls'>) {
    const open = await OPENERS[name!]!()
    contender = await open({
      ...shop,
      schemas: way === 'in-process' ? openSchemas() : undefined,
      onFetch: () => (fetches += 1),
    })
    return { url: contender.url, canAnswer: contender.answer !== undefined }
  },

  usage(): Usage {
    return { processorMs: processorMs(), memoryBytes: process.memoryUsage.rss(), fetches }
  },

  /** Calls answered in a second of processor time, without HTTP. */
  async calls({ asked, ms }: { asked: readonly Asked[]; ms: number }) {
    const { answer } = contender
    const before = processorMs()
    const endMs = performance.now() + ms
    let next = 0
    const lane = async () => {
      while (performance.now() < endMs) {
        const i = next++ % asked.length
        const { data, errors } = (await answer!(asked[i]!, authorizationOf(i))) as any
        if (!data || errors) throw new Error(`the answer is ${JSON.stringify(errors)}`)
      }
    }
    await Promise.all(Array.from({ length: TOGETHER }, lane))
    return (next * 1000) / (processorMs() - before)
  },
})

function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
