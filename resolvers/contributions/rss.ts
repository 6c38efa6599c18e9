// Contributions as an RSS 2.0 document.
import type { Context } from '../kernel/context.ts'
import { BASE_PATH, showArtifacts } from './artifacts.ts'
import { loadMedia } from './contribution-views.ts'
import type { Contribution } from './records.ts'

export const RSS_TYPE = 'application/rss+xml; charset=utf-8'
const ENCLOSED = new Set(['large', 'fullsize'])

export async function rssOf(items: readonly Contribution[], ctx: Context): Promise<string> {
  const { generateRssFeed } = await import('feedsmith')
  const link = `${ctx.address}${BASE_PATH}/contributions`
  return generateRssFeed({
    title: 'Contributions',
    link,
    description: 'Contributions, newest first.',
    lastBuildDate: ctx.clock.now(),
    items: await Promise.all(items.map((item) => itemOf(item, link, ctx))),
  })
}

async function itemOf(contribution: Contribution, link: string, ctx: Context) {
  const { id, headline, body, attribution, created, media, place } = contribution
  const files = await loadMedia(media, ctx)
  const shown = files.flatMap((file) => {
    const artifacts = showArtifacts(file, ctx)
    return artifacts.find(({ label }) => ENCLOSED.has(label)) ?? []
  })
  return {
    title: headline,
    link: `${link}/${id}`,
    ...(body !== undefined && { description: body }),
    guid: { value: id, isPermaLink: false },
    pubDate: new Date(created),
    ...(attribution !== undefined && { dc: { creators: [attribution] } }),
    // An item of RSS has one enclosure.
    enclosures: shown.slice(0, 1).map(({ url, contentType, contentLength }) => ({
      url,
      type: contentType,
      length: contentLength,
    })),
    ...(place?.latLong && {
      georss: { point: { lat: place.latLong.latitude, lng: place.latLong.longitude } },
    }),
  }
}
