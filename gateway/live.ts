// Where live queries are served, and why not where they are not.
import type { ServerResponse } from 'node:http'
import type { News } from '../resolvers/kernel/news.ts'
import type { Configuration } from './configuration.ts'
import type { Gateway } from './gateway.ts'
import { refusal } from './graph-door.ts'
import type { LiveDoorOptions } from './live-door.ts'
import type { WholeBody } from './whole-body.ts'

export const LIVE_PATH = '/graphql/live'

export interface LiveDoor {
  answer(request: WholeBody, response: ServerResponse): void
  /** Ends all streams. */
  close(): void
}

export const isLivePath = (url: string): boolean =>
  url.startsWith(LIVE_PATH) && (url.length === LIVE_PATH.length || url[LIVE_PATH.length] === '?')

interface LiveOptions extends Omit<LiveDoorOptions, 'gateway' | 'limits'> {
  readonly configuration: Configuration
  /** A service alone has none. */
  readonly gateway: Gateway | undefined
  readonly news: News
}

export async function openLive(options: LiveOptions): Promise<LiveDoor> {
  const { configuration, gateway, ...others } = options
  const why = whyNot(configuration, gateway)
  if (!gateway || why !== undefined) return closedDoor(why!)
  const { liveDoor } = await import('./live-door.ts')
  return liveDoor({ gateway, limits: configuration.live, ...others })
}

/** Undefined where the gateway hears of all changes. */
function whyNot(
  { live, databaseUrl, subgraphUrls }: Configuration,
  gateway: Gateway | undefined,
): string | undefined {
  if (!gateway) return 'Live queries are asked of the gateway, and this is a service alone.'
  if (live.streamsMax === 0) return 'Live queries are turned off here (POLYGRAPH_LIVE_MAX).'
  const isShared = databaseUrl !== undefined || Object.keys(subgraphUrls).length === 0
  if (isShared) return undefined
  return 'Live queries need services in this process, or a DATABASE_URL that all of them share.'
}

function closedDoor(why: string): LiveDoor {
  const { status, headers, text } = refusal(501, 'NotServed', why)
  return {
    answer(request, response) {
      request.resume()
      response.writeHead(status, headers).end(text)
    },
    close() {},
  }
}
