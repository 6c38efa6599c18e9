// Turns the text of a feed into what the directory keeps of it.
import { parseFeed } from 'feedsmith'
import type { ReadEpisode, ReadFeed } from './feeds.ts'

const TITLE_MAX = 500
const TEXT_MAX = 40_000
const URL_MAX = 1_000
const GUID_MAX = 500
const EPISODES_MAX = 5_000
const LENGTH_SEC_MAX = 7 * 24 * 3600

/** Throws a plain Error that says what is wrong with the feed. */
export function parse(text: string): ReadFeed {
  // The parser forgives a feed that was cut off, and would lose episodes without a word.
  if (!/<\/(?:rss|feed|rdf:RDF)\s*>\s*(?:<!--[\s\S]*?-->\s*)*$/i.test(text.slice(-1_000))) {
    throw new Error('the feed is cut off, or is no feed')
  }
  const { feed } = parseFeed(text) as { feed: any }
  const title = shortened(feed.title, TITLE_MAX)
  if (title === '') throw new Error('the feed has no title')
  const items: any[] = feed.items ?? feed.entries ?? []
  const episodes = items.slice(0, EPISODES_MAX).flatMap((item) => episodeOf(item) ?? [])
  const { itunes = {}, podcast = {} } = feed
  return {
    title,
    publisher: shortened(itunes.author ?? itunes.owner?.name, TITLE_MAX),
    description: shortened(feed.description ?? itunes.summary ?? feed.subtitle, TEXT_MAX),
    website: address(feed.link ?? linkOf(feed.links)),
    image: address(itunes.image ?? feed.image?.url ?? feed.logo),
    email: shortened(itunes.owner?.email, TITLE_MAX),
    language: shortened(feed.language, TITLE_MAX),
    type: itunes.type === 'serial' ? 'serial' : 'episodic',
    isExplicit: itunes.explicit === true,
    hasGuests: [podcast, ...items.map((item) => item.podcast ?? {})].some(hasGuest),
    categories: categoriesOf(itunes.categories),
    movedTo: address(itunes.newFeedUrl) || undefined,
    // A feed may name an episode twice; the first is the newest.
    episodes: [
      ...new Map(episodes.toReversed().map((one) => [one.guid, one])).values(),
    ].toReversed(),
  }
}

/** Undefined for an item that nothing could tell from others. */
function episodeOf(item: any): ReadEpisode | undefined {
  const enclosure =
    item.enclosures?.[0] ?? item.links?.find((link: any) => link.rel === 'enclosure')
  const audio = address(enclosure?.url ?? enclosure?.href)
  const link = address(item.link ?? linkOf(item.links))
  const guid = shortened(item.guid?.value ?? item.id ?? (audio || link), GUID_MAX)
  const title = shortened(item.title ?? item.itunes?.title, TITLE_MAX)
  if (guid === '' || title === '') return undefined
  const publishedMs = Date.parse(item.pubDate ?? item.published ?? item.updated ?? '')
  const duration = Number(item.itunes?.duration ?? 0)
  const transcript = item.podcast?.transcripts?.find((one: any) => address(one.url))
  return {
    guid,
    title,
    description: shortened(
      item.content?.encoded ?? item.description ?? item.itunes?.summary ?? item.summary,
      TEXT_MAX,
    ),
    audio,
    isAudio: audio !== '' && /^(audio|video)\/|^$/.test(enclosure?.type ?? ''),
    image: address(item.itunes?.image),
    link,
    publishedMs: Number.isFinite(publishedMs) ? publishedMs : undefined,
    lengthSec:
      duration > 0 && duration <= LENGTH_SEC_MAX && Number.isFinite(duration)
        ? Math.round(duration)
        : 0,
    isExplicit: item.itunes?.explicit === true,
    transcript: transcript && { url: transcript.url, type: String(transcript.type ?? '') },
  }
}

const linkOf = (links: any): unknown =>
  links?.find((link: any) => !link.rel || link.rel === 'alternate')?.href

const hasGuest = ({ persons }: any): boolean =>
  persons?.some(({ role }: any) => String(role).toLowerCase() === 'guest') ?? false

const categoriesOf = (categories: any): string[] =>
  (categories ?? []).flatMap(({ text, categories: inner }: any) => [
    String(text ?? ''),
    ...categoriesOf(inner),
  ])

const shortened = (value: unknown, max: number): string =>
  (typeof value === 'string' ? value : '').trim().slice(0, max).toWellFormed()

/** An http address, or nothing. */
function address(value: unknown): string {
  const url = typeof value === 'string' && value.length <= URL_MAX ? URL.parse(value.trim()) : null
  return url && /^https?:$/.test(url.protocol) ? url.href : ''
}
