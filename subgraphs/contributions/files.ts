// How a browser reaches files by their links: whole, in ranges, or not at all where it has them.
//
// These are no operations, since bytes are not for the graph. What a link opens is decided in
// resolvers/contributions/files.ts.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { BASE_PATH } from '../../resolvers/contributions/artifacts.ts'
import { openArtifact, openDownload, type StoredFile } from '../../resolvers/contributions/files.ts'
import { NOBODY, type Context } from '../../resolvers/kernel/context.ts'
import { fault } from '../../resolvers/kernel/fault.ts'
import { addressOf } from '../server/rest.ts'
import type { ContextFor } from '../server/subgraph.ts'

/** Links stay the same for a day, and so does what they lead to. */
const CACHE_SECONDS = 24 * 60 * 60
const UnsatisfiableRange = fault('UnsatisfiableRange', 416)

type Open = (names: { id: string; label: string; key: string }, ctx: Context) => Promise<StoredFile>

const FILES: readonly [path: string, open: Open][] = [
  ['/media/:id/:label', openArtifact],
  ['/exports/:id/download', openDownload],
]

export function mount(app: FastifyInstance, contextFor: ContextFor): void {
  for (const [path, open] of FILES) {
    const url = BASE_PATH + path
    app.get(url, { config: { operation: url } }, async (request, reply) => {
      const ctx = contextFor(NOBODY, { address: addressOf(request), headers: {} })
      const { id = '', label = '' } = request.params as Record<string, string>
      const { key } = request.query as { key?: unknown }
      const file = await open({ id, label, key: typeof key === 'string' ? key : '' }, ctx)
      return send(file, request, reply)
    })
  }
}

function send(file: StoredFile, { headers, method }: FastifyRequest, reply: FastifyReply) {
  const { sizeBytes, contentType, saveAs } = file
  const tag = `"${file.tag}"`
  void reply.headers({
    'accept-ranges': 'bytes',
    etag: tag,
    'cache-control': `private, max-age=${CACHE_SECONDS}`,
    'x-content-type-options': 'nosniff',
    ...(saveAs !== undefined && { 'content-disposition': `attachment; filename="${saveAs}"` }),
  })
  if (headers['if-none-match']?.split(',').some((one) => one.trim() === tag)) {
    return reply.status(304).send()
  }
  const isSame = headers['if-range'] === undefined || headers['if-range'] === tag
  const range = isSame ? rangeIn(headers.range, sizeBytes) : undefined
  const { from, below } = range ?? { from: 0, below: sizeBytes }
  void reply.type(contentType).header('content-length', below - from)
  if (range) {
    void reply.status(206).header('content-range', `bytes ${from}-${below - 1}/${sizeBytes}`)
  }
  // With no body at all, the length would be written as nought.
  return reply.send(Readable.from(method === 'HEAD' ? [] : file.read(from, below)))
}

/** One range. Of several, and of what is no range at all, the whole file is the answer. */
function rangeIn(header: string | undefined, sizeBytes: number) {
  const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? []
  if (first === undefined || last === undefined || (first === '' && last === '')) return undefined
  const from = first === '' ? Math.max(sizeBytes - Number(last), 0) : Number(first)
  const below = first === '' || last === '' ? sizeBytes : Math.min(Number(last) + 1, sizeBytes)
  if (from < below) return { from, below }
  throw UnsatisfiableRange(`The file has ${sizeBytes} bytes.`, {
    headers: { 'content-range': `bytes */${sizeBytes}` },
  })
}
