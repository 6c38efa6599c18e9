// Bodies are gathered as they arrive, however they are cut, and connections go on after them.
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WholeBody } from '../../gateway/whole-body.ts'

const SIZE_MAX = 10
const server = createServer({ IncomingMessage: WholeBody }, (request, response) => {
  if (request.url === '/stream') void text(request).then((body) => response.end(`streamed ${body}`))
  else {
    request.gather(SIZE_MAX, (body) =>
      response.end(body ? `gathered ${body.length} ${body}` : 'too large'),
    )
  }
})
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)))
afterAll(() => void server.close())

/** Sends each part when the one before was taken, and gives the bodies that were answered. */
async function exchange(...parts: string[]): Promise<string[]> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.setNoDelay()
  for (const part of parts) await new Promise((resolve) => socket.write(part, resolve))
  const answered = await text(socket)
  return answered.split(/HTTP\/1\.1 200 OK\r\n/).flatMap((one) => one.split('\r\n\r\n').slice(1))
}

const post = (body: string, { path = '/', headers = '', length = body.length } = {}) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n${headers}\r\n${body}`
const LAST = { headers: 'Connection: close\r\n' }

test('a body is given whole, in whatever parts it comes', async () => {
  expect(await exchange(post('alpha', LAST))).toEqual(['gathered 5 alpha'])
  expect(await exchange(post('al', { ...LAST, length: 5 }), 'p', 'ha')).toEqual([
    'gathered 5 alpha',
  ])
  const chunked =
    'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n'
  expect(await exchange(chunked, '2\r\nal\r\n3\r', '\npha\r\n0\r\n\r\n')).toEqual([
    'gathered 5 alpha',
  ])
})

test('a request without a body has an empty one', async () => {
  expect(await exchange('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toEqual([
    'gathered 0 ',
  ])
})

test('a body of the largest size is taken, and one byte more is too large', async () => {
  expect(await exchange(post('0123456789', LAST))).toEqual(['gathered 10 0123456789'])
  expect(await exchange(post('0123456789a', LAST))).toEqual(['too large'])
})

test('several requests of one connection are answered in turn, whether streamed or gathered', async () => {
  const sent = [
    post('one'),
    post('two', { path: '/stream' }),
    post('0123456789 and more'),
    post('four', LAST),
  ]
  expect(await exchange(sent.join(''))).toEqual([
    'gathered 3 one',
    'streamed two',
    'too large',
    'gathered 4 four',
  ])
  expect(await exchange(...sent)).toHaveLength(4)
})

test('who leaves in the middle of a body leaves nothing behind', async () => {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await new Promise((resolve) => socket.write(post('al', { length: 5 }), resolve))
  await new Promise<void>((resolve) => socket.once('close', () => resolve()).resetAndDestroy())
  expect(await exchange(post('alpha', LAST))).toEqual(['gathered 5 alpha'])
})
