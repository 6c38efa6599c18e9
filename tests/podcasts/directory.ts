// A directory for tests: feeds as people write them, and shows of the demo.
import { NOBODY, type Caller } from '../../resolvers/kernel/context.ts'
import type { Outbound, OutboundAnswer, OutboundRequest } from '../../resolvers/kernel/outbound.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { showOf } from '../../resolvers/podcasts/demo-shows.ts'
import { writeDirectory } from '../../resolvers/podcasts/directory.ts'
import type { Podcast } from '../../resolvers/podcasts/records.ts'
import { subgraph } from '../../subgraphs/podcasts.ts'
import { serviceCaller } from '../../subgraphs/server/open.ts'
import { openForTest, type OpenOptions, type TestService } from '../open.ts'
import { people } from '../people.ts'

export const API = '/api/v2'
export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export const admin: Caller = { ...people.alice, userId: 'root', isAdmin: true }
export const nobody = NOBODY

export const openDirectory = (options: OpenOptions = {}): Promise<TestService> =>
  openForTest(subgraph, options)

/** What a test says of a podcast; the rest is usual. */
export interface FeedOptions {
  readonly title?: string
  readonly author?: string
  readonly about?: string
  readonly site?: string
  readonly language?: string
  readonly category?: string
  readonly explicit?: boolean
  readonly guests?: boolean
  readonly more?: string
  readonly items?: readonly ItemOptions[]
}

export interface ItemOptions {
  readonly guid?: string
  readonly title: string
  readonly about?: string
  readonly date?: string
  readonly length?: string
  readonly explicit?: boolean
  readonly more?: string
}

const escape = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function feedOf(options: FeedOptions = {}): string {
  const { title = 'Harbour Talk', author = 'Ann Quay', about = 'Ships and tides.' } = options
  const items = (options.items ?? []).map((item, at) => itemOf(item, at)).join('\n')
  return `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:podcast="https://podcastindex.org/namespace/1.0">
<channel>
<title>${escape(title)}</title>
<link>${options.site ?? 'https://www.harbour.example/talk'}</link>
<description>${escape(about)}</description>
<language>${options.language ?? 'en-gb'}</language>
<itunes:author>${escape(author)}</itunes:author>
<itunes:explicit>${options.explicit ? 'true' : 'false'}</itunes:explicit>
<itunes:image href="https://img.example/talk.jpg"/>
<itunes:owner><itunes:email>ann@harbour.example</itunes:email></itunes:owner>
<itunes:category text="${escape(options.category ?? 'Sports')}"/>
${options.guests ? '<podcast:person role="guest">Bo</podcast:person>' : ''}
${options.more ?? ''}
${items}
</channel>
</rss>`
}

const itemOf = (item: ItemOptions, at: number) => `<item>
<title>${escape(item.title)}</title>
<guid isPermaLink="false">${item.guid ?? `guid-${at + 1}`}</guid>
<link>https://www.harbour.example/talk/${at + 1}</link>
<description>${escape(item.about ?? 'About the sea.')}</description>
<pubDate>${item.date ?? new Date(Date.UTC(2029, 0, 20 - at)).toUTCString()}</pubDate>
<enclosure url="https://audio.example/${item.guid ?? at + 1}.mp3" length="1000" type="audio/mpeg"/>
<itunes:duration>${item.length ?? '600'}</itunes:duration>
<itunes:explicit>${item.explicit ? 'true' : 'false'}</itunes:explicit>
${item.more ?? ''}
</item>`

const SUBMIT_FEED = `mutation ($rss: String!, $feed: String!) {
  submitFeed(rss: $rss, feed: $feed) { status id podcast { id } } }`

/** Hands a feed over as it is, and returns the id of its podcast. */
export async function giveFeed(
  service: TestService,
  rss: string,
  options: FeedOptions = {},
  caller: Caller = people.alice,
): Promise<string> {
  const feed = feedOf(options)
  const { data, errors } = await service.graphqlAs(caller, SUBMIT_FEED, { rss, feed })
  if (errors) throw new Error(errors[0]!.message)
  return data.submitFeed.id
}

/** Loads so many shows of the demo. */
export async function loadShows(service: TestService, podcasts: number, episodes: number) {
  const caller = serviceCaller('test')
  for (;;) {
    const { data } = await service.graphqlAs(
      caller,
      `mutation ($podcasts: Int!, $episodes: Int!) {
         growDemoDirectory(podcasts: $podcasts, episodes: $episodes) { podcasts episodes isDone } }`,
      { podcasts, episodes },
    )
    if (data.growDemoDirectory.isDone) return data.growDemoDirectory
  }
}

/** Writes podcasts of which a test says some, all in one transaction. The rest is usual. */
export async function putPodcasts(
  store: Store,
  said: readonly (Pick<Podcast, 'title'> & Partial<Podcast>)[],
): Promise<Podcast[]> {
  const made = said.map((some, number) => ({
    ...showOf(number, 0, 0).podcast,
    explicit_content: false,
    ...some,
  }))
  const changes = made.map((after) => ({ after, episodes: [] }))
  await store.transaction((tx) => writeDirectory(tx, changes))
  return made
}

/** Sends a form, as clients of this interface do. */
export const post = (
  service: TestService,
  path: string,
  form: Record<string, string> = {},
  options: { credential?: 'alice' | 'bob' } = {},
) =>
  service.rest(`POST ${API}${path}`, new URLSearchParams(form).toString(), {
    ...options,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })

export const find = (service: TestService, query: Record<string, string | number>) =>
  service.rest(
    `GET ${API}/search?${new URLSearchParams(
      Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
    )}`,
  )

/** The titles that a search finds, in order. */
export async function titlesFound(
  service: TestService,
  query: Record<string, string | number>,
): Promise<string[]> {
  const { status, body } = await find(service, query)
  if (status !== 200) throw new Error(body.error)
  return body.results.map(({ title_original }: { title_original: string }) => title_original)
}

/** A world outside that answers as a test says, and remembers what it was asked. */
export function worldOf(answer: (request: OutboundRequest) => Partial<OutboundAnswer> | Error) {
  const asked: OutboundRequest[] = []
  const outbound: Outbound = {
    async send(request) {
      asked.push(request)
      const given = answer(request)
      if (given instanceof Error) throw given
      return { status: 200, headers: {}, body: Buffer.from(''), ...given }
    },
  }
  return { asked, outbound }
}
