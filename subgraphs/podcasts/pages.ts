// Where the addresses in answers lead: to the podcast's own site, the episode's page, its audio, the
// source of a list. The directory has no pages of its own.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { NOBODY, type Context } from '../../resolvers/kernel/context.ts'
import { NotFound } from '../../resolvers/kernel/fault.ts'
import { curatedLists } from '../../resolvers/podcasts/curated-lists.ts'
import { episodes, podcasts } from '../../resolvers/podcasts/records.ts'
import type { ContextFor } from '../server/subgraph.ts'

const LIST_ID = /-([\w-]{11})$/

type Named = { Params: { name: string } }

export function addPages(app: FastifyInstance, contextFor: ContextFor): void {
  const lead = (path: string, targetOf: (name: string, ctx: Context) => Promise<string>) =>
    app.get<Named>(path, async ({ params }, reply) => {
      const ctx = contextFor(NOBODY, { address: '', headers: {} })
      return leadTo(await targetOf(params.name, ctx), reply)
    })

  lead('/c/:name/', async (id, { store }) => (await store.get(podcasts, id))?.website ?? '')
  lead('/e/:name/', async (id, { store }) => (await store.get(episodes, id))?.link ?? '')
  lead('/e/p/:name/', async (id, { store }) => (await store.get(episodes, id))?.audio ?? '')
  lead('/curated-podcasts/:name/', async (slug, { store }) => {
    const id = LIST_ID.exec(`-${slug}`)?.[1] ?? ''
    return (await store.get(curatedLists, id))?.source_url ?? ''
  })
}

/** What a feed says is led to only when it is an address of the web. */
function leadTo(target: string, reply: FastifyReply): FastifyReply {
  if (!/^https?:$/.test(URL.parse(target)?.protocol ?? '')) {
    throw NotFound('This address leads nowhere.')
  }
  return reply.redirect(target, 302)
}
