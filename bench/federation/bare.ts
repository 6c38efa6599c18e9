// What HTTP alone takes: a bare server of Node's that reads a query and sends the answer, which it knows.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Contender, Shop } from './contender.ts'
import { openOurs } from './ours.ts'
import { askedOf, authorizationOf, QUERIES, type Asked } from './queries.ts'

const HOST = '127.0.0.1'
const nameOf = ({ query, variables }: Asked) => `${query} ${JSON.stringify(variables)}`

export async function openBare(shop: Shop): Promise<Contender> {
  const { answer } = await openOurs(shop)
  const texts = new Map<string, string>()
  for (const asked of Object.keys(QUERIES).flatMap(askedOf)) {
    texts.set(nameOf(asked), JSON.stringify(await answer!(asked, authorizationOf(0))))
  }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = texts.get(nameOf(JSON.parse(Buffer.concat(parts).toString())))!
      const length = Buffer.byteLength(text)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length })
      response.end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  return { url: `http://${HOST}:${(server.address() as AddressInfo).port}/graphql` }
}
