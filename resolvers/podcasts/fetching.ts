// Fetches a feed from where it is, if it changed, through the one way out.
import type { Context } from '../kernel/context.ts'
import type { OutboundAnswer } from '../kernel/outbound.ts'
import type { Feed } from './feed-records.ts'

const FEED_BYTES_MAX = 8 * 1024 * 1024
const REDIRECTS_MAX = 5
const REDIRECTS = new Set([301, 302, 303, 307, 308])
const LASTING = new Set([301, 308])
const URL_MAX = 1_000

export interface Fetched {
  readonly status: number
  readonly text: string
  readonly etag: string
  readonly lastModified: string
  /** Where the feed is from now on. */
  readonly movedTo: string | undefined
}

/** Each redirect is a call of its own, so that where it leads is allowed or refused like any other. */
export async function fetchFeed(feed: Feed, ctx: Context): Promise<Fetched> {
  let url = feed.rss
  let isLasting = true
  for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
    const answer = await ctx.outbound.send({
      method: 'GET',
      url,
      answerMax: FEED_BYTES_MAX,
      headers: {
        accept: 'application/rss+xml, application/atom+xml, application/xml;q=0.9, */*;q=0.5',
        'user-agent': 'polygraph-podcasts',
        ...(feed.etag && { 'if-none-match': feed.etag }),
        ...(feed.last_modified && { 'if-modified-since': feed.last_modified }),
      },
    })
    const { location } = answer.headers
    if (!REDIRECTS.has(answer.status) || !location) return fetchedOf(answer, feed, url, isLasting)
    isLasting &&= LASTING.has(answer.status)
    const next = URL.parse(location, url)
    if (!next || next.href.length > URL_MAX) {
      throw new Error(`the server redirects to ${location.slice(0, 100)}`)
    }
    url = next.href
  }
  throw new Error(`the server redirects more than ${REDIRECTS_MAX} times`)
}

function fetchedOf(answer: OutboundAnswer, feed: Feed, url: string, isLasting: boolean): Fetched {
  const { status, headers, body } = answer
  if (body.length >= FEED_BYTES_MAX) {
    throw new Error(`the feed is larger than ${FEED_BYTES_MAX} bytes`)
  }
  const isUnchanged = status === 304
  return {
    status,
    text: isUnchanged ? '' : decoded(body, headers['content-type'] ?? ''),
    etag: headers['etag'] ?? (isUnchanged ? feed.etag : ''),
    lastModified: headers['last-modified'] ?? (isUnchanged ? feed.last_modified : ''),
    movedTo: isLasting && url !== feed.rss ? url : undefined,
  }
}

/** The text of a feed, in the encoding that its server or its first line names. */
function decoded(body: Buffer, contentType: string): string {
  const declared =
    /charset="?([\w-]+)/i.exec(contentType)?.[1] ??
    /^[^>]{0,100}encoding=["']([\w-]+)/i.exec(body.subarray(0, 120).toString('latin1'))?.[1] ??
    'utf-8'
  try {
    return new TextDecoder(declared).decode(body)
  } catch {
    // An encoding that nobody knows: most feeds are UTF-8 whatever they say.
    return body.toString('utf8')
  }
}
