import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { isPrivate, openOutbound } from '../../gateway/outbound.ts'

/** A server of somebody else, on this machine. */
async function elsewhere(answer: { status?: number; body?: string; location?: string } = {}) {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    const headers = answer.location ? { location: answer.location } : {}
    response.writeHead(answer.status ?? 200, headers).end(answer.body ?? 'hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const post = (url: string) => ({ method: 'POST', url, body: '{}' })

test('without a list of hosts nothing goes out', async () => {
  const outbound = openOutbound({ hosts: [], mayCallPrivateAddresses: true })
  const { url, seen } = await elsewhere()

  await expect(outbound.send(post(url))).rejects.toThrow('POLYGRAPH_OUTBOUND_HOSTS')
  expect(seen).toEqual([])
})

test('a host on the list is called, another is not', async () => {
  const outbound = openOutbound({ hosts: ['127.0.0.1'], mayCallPrivateAddresses: true })
  const { url, seen } = await elsewhere()

  const answer = await outbound.send(post(`${url}/hook`))

  expect(answer.status).toBe(200)
  expect(answer.body.toString()).toBe('hello')
  expect(seen).toEqual(['POST /hook'])
  await expect(outbound.send(post('http://example.org/'))).rejects.toThrow('not allowed')
})

test('a private address is not called, written as itself or behind a name', async () => {
  const outbound = openOutbound({ hosts: ['*'], mayCallPrivateAddresses: false })
  const { url, seen } = await elsewhere()

  await expect(outbound.send(post(url))).rejects.toThrow('a private address')
  await expect(outbound.send(post(url.replace('127.0.0.1', 'localhost')))).rejects.toThrow()
  await expect(
    outbound.send(post(url.replace('127.0.0.1', '[::ffff:127.0.0.1]'))),
  ).rejects.toThrow()
  expect(seen).toEqual([])
})

test('a redirect is an answer and not followed', async () => {
  const outbound = openOutbound({ hosts: ['127.0.0.1'], mayCallPrivateAddresses: true })
  const target = await elsewhere()
  const { url } = await elsewhere({ status: 302, location: target.url })

  expect((await outbound.send(post(url))).status).toBe(302)
  expect(target.seen).toEqual([])
})

test('an endless answer is cut', async () => {
  const outbound = openOutbound({ hosts: ['127.0.0.1'], mayCallPrivateAddresses: true })
  const { url } = await elsewhere({ body: 'x'.repeat(2 * 1024 * 1024) })

  expect((await outbound.send(post(url))).body).toHaveLength(1024 * 1024)
})

test('a scheme other than http is refused', async () => {
  const outbound = openOutbound({ hosts: ['*'], mayCallPrivateAddresses: true })

  await expect(outbound.send(post('file:///etc/passwd'))).rejects.toThrow('Only http and https')
})

test.each([
  ['127.0.0.1', true],
  ['10.1.2.3', true],
  ['172.31.0.1', true],
  ['172.32.0.1', false],
  ['192.168.1.1', true],
  ['169.254.169.254', true],
  ['::1', true],
  ['fd00::1', true],
  ['fe80::1', true],
  ['::ffff:10.0.0.1', true],
  ['8.8.8.8', false],
  ['2001:4860:4860::8888', false],
])('%s is private: %s', (address, expected) => {
  expect(isPrivate(address)).toBe(expected)
})

test('an answer is cut where the caller says', async () => {
  const outbound = openOutbound({ hosts: ['127.0.0.1'], mayCallPrivateAddresses: true })
  const { url } = await elsewhere({ body: 'x'.repeat(2 * 1024 * 1024) })

  const usual = await outbound.send(post(url))
  const short = await outbound.send({ ...post(url), answerMax: 10 })
  const long = await outbound.send({ ...post(url), answerMax: 4 * 1024 * 1024 })

  expect([usual.body.length, short.body.length, long.body.length]).toEqual([
    1024 * 1024,
    10,
    2 * 1024 * 1024,
  ])
})
