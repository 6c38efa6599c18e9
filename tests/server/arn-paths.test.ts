import type { IncomingMessage } from 'node:http'
import { expect, test } from 'vitest'
import { arnPaths } from '../../subgraphs/server/arn-paths.ts'

const rewrite = arnPaths([
  '/groups',
  '/resources/{Arn}/tags',
  '/resources/{resourceArn}',
  '/vaults/{name}/points/{pointArn}/restore',
])

test.each([
  ['/groups', '/groups'],
  ['/groups/arn:a/b', '/groups/arn:a/b'],
  ['/resources/arn:aws:x:::a/tags', '/resources/arn:aws:x:::a/tags'],
  ['/resources/arn:aws:x:::a/b/c/tags', '/resources/arn:aws:x:::a%2Fb%2Fc/tags'],
  ['/resources/arn:aws:x:::a/tags/tags', '/resources/arn:aws:x:::a%2Ftags/tags'],
  ['/resources/arn:aws:x:::a/b/tags/?q=/arn:/x', '/resources/arn:aws:x:::a%2Fb/tags/?q=/arn:/x'],
  ['/resources/arn:aws:x:::/a/b', '/resources/arn:aws:x:::%2Fa%2Fb'],
  ['/resources/arn%3Aaws%3Ax%3A%3A%3Aa%2Fb/tags', '/resources/arn%3Aaws%3Ax%3A%3A%3Aa%2Fb/tags'],
  ['/vaults/v/points/arn:aws:x:::a/b/restore', '/vaults/v/points/arn:aws:x:::a%2Fb/restore'],
])('%s is routed as %s', (url, expected) => {
  expect(rewrite({ url } as IncomingMessage)).toBe(expected)
})

test('the address that the client sent stays with the request', () => {
  const alone = { url: '/resources/arn:aws:x:::a/b/tags' } as IncomingMessage
  const behind = { ...alone, originalUrl: '/backup/resources/arn:aws:x:::a/b/tags' }

  rewrite(alone)
  rewrite(behind as IncomingMessage)

  expect(alone.originalUrl).toBe('/resources/arn:aws:x:::a/b/tags')
  expect(behind.originalUrl).toBe('/backup/resources/arn:aws:x:::a/b/tags')
})
