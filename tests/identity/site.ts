// A client's own web site, at another origin than identity, for the tests in a real browser.
import { existsSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Debian's and others' places of a browser. */
const PLACES = [
  process.env.CHROMIUM_PATH,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The browser of this machine. Without one a run in CI fails, and any other says what it left out. */
export function findChromium(): string | undefined {
  const found = PLACES.find((place) => place && existsSync(place))
  if (found) return found
  const message = 'No Chromium was found: set CHROMIUM_PATH, or install chromium-headless-shell.'
  if (process.env.CI === 'true') throw new Error(message)
  console.warn(`\n*** LEFT OUT: the tests of identity in a real browser. ${message} ***\n`)
  return undefined
}

export interface Site {
  readonly origin: string
  /** What is served at a path from now on. */
  page(path: string, body: string): void
  close(): Promise<void>
}

export async function openSite(): Promise<Site> {
  const pages = new Map<string, string>()
  const server: Server = createServer((request, response) => {
    const path = request.url!.split('?', 1)[0]!
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><title>Client</title><body>${pages.get(path) ?? 'nothing here'}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  pages.set('/callback', 'back at the client')
  return {
    origin,
    page: (path, body) => void pages.set(path, body),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
