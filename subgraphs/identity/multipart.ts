// A Client Object that comes as multipart/form-data, which the wire allows beside JSON.
import type { FastifyRequest } from 'fastify'
import { Invalid } from '../../resolvers/kernel/fault.ts'

const LISTS = new Set([
  'redirect_uris',
  'response_types',
  'grant_types',
  'contacts',
  'default_scopes',
])

/** Lets the door find JSON where the client sent a multipart form. */
export async function readMultipart(request: FastifyRequest): Promise<void> {
  const type = request.headers['content-type'] ?? ''
  if (!type.toLowerCase().startsWith('multipart/form-data')) return
  const sent: Record<string, unknown> = {}
  for (const [name, value] of await membersOf(request.body as Buffer, type)) {
    if (typeof value !== 'string') throw Invalid(`${name} must be text, not a file.`)
    if (LISTS.has(name)) sent[name] = [...((sent[name] as string[] | undefined) ?? []), value]
    else if (name in sent) throw Invalid(`${name} is there twice.`)
    else sent[name] = value
  }
  request.body = Buffer.from(JSON.stringify(sent))
  request.headers['content-type'] = 'application/json'
}

async function membersOf(body: Buffer, type: string): Promise<[string, unknown][]> {
  try {
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': type },
    }).formData()
    return [...form] as [string, unknown][]
  } catch {
    throw Invalid('The body is not multipart/form-data.')
  }
}
