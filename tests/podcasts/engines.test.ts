// The life of a directory on both engines.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/podcasts.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import {
  admin,
  API,
  find,
  giveFeed,
  loadShows,
  openDirectory,
  post,
  titlesFound,
} from './directory.ts'

test.each(engines)(
  'a directory is filled, searched and emptied on $engine',
  async ({ database }) => {
    const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
    const service = await openDirectory({ store })
    await loadShows(service, 20, 60)
    const id = await giveFeed(service, 'https://a.example/feed', {
      title: 'Zebra Crossing',
      guests: true,
      items: [
        { title: 'Stripes', about: 'Zebra and okapi.', length: '300' },
        { title: 'Herds', about: 'On the plain.', length: '4000', explicit: true },
      ],
    })

    const all = await titlesFound(service, { q: 'zebra' })
    const typo = await titlesFound(service, { q: 'zebar', type: 'podcast' })
    const beginning = await titlesFound(service, { q: 'crossi', type: 'podcast' })
    const phrase = await titlesFound(service, { q: '"zebra and okapi"' })
    const inTitle = await titlesFound(service, { q: 'zebra', only_in: 'title' })
    const narrowed = await titlesFound(service, {
      q: 'zebra',
      ocid: id,
      safe_mode: 1,
      len_max: 10,
      genre_ids: '77',
      language: 'English',
      region: 'gb',
    })
    const without = await find(service, { q: 'zebra', ncid: id })
    const dated = await titlesFound(service, { q: 'zebra', sort_by_date: 1 })
    const typed = await service.rest(`GET ${API}/typeahead?q=zeb&show_podcasts=1`)
    const spelled = await service.rest(`GET ${API}/spellcheck?q=okapu`)
    await find(service, { q: 'zebra' })
    const trending = await service.rest(`GET ${API}/trending_searches`)
    const related = await service.rest(`GET ${API}/related_searches?q=zebra+stripes`)
    const best = await service.rest(
      `GET ${API}/best_podcasts?sort=listen_score&genre_id=77&region=gb`,
    )
    const like = await service.rest(
      `GET ${API}/podcasts/${best.body.podcasts[0].id}/recommendations`,
    )
    const playlist = await post(service, '/playlists', { name: 'P', visibility: 'public' })
    await post(service, `/playlists/${playlist.body.id}/items`, { podcast_id: id })
    const usage = await service.graphql('{ podcastUsage { used } }')
    await service.rest(`DELETE ${API}/podcasts/${id}?reason=r`)
    await service.graphqlAs(
      admin,
      `mutation { decidePodcastDeletion(podcastId: "${id}", isGranted: true) { state } }`,
    )
    await service.advance(1000)
    const gone = await find(service, { q: 'zebra' })

    expect(all).toEqual(['Stripes', 'Herds'])
    expect([typo, beginning]).toEqual([['Zebra Crossing'], ['Zebra Crossing']])
    expect([phrase, inTitle, narrowed]).toEqual([['Stripes'], [], ['Stripes']])
    expect(without.body.total).toBe(0)
    expect(dated).toEqual(['Stripes', 'Herds'])
    expect(typed.body.podcasts.map((one: any) => one.title_original)).toEqual(['Zebra Crossing'])
    expect(spelled.body.tokens).toEqual([{ token: 'okapu', suggestion: 'okapi', offset: 0 }])
    expect(trending.body.terms).toEqual(['zebra'])
    expect(related.body.terms).toEqual(['zebra'])
    expect(best.body.total).toBeGreaterThan(0)
    expect(like.status).toBe(200)
    expect(usage.data.podcastUsage.used).toBeGreaterThan(10)
    expect(gone.body.total).toBe(0)
    expect(await store.sql("SELECT word FROM word WHERE word LIKE 'zebr%'")).toEqual([])
    expect(service.mistakes).toEqual([])
  },
)
