// The words of titles, by which podcasts are found while someone types, on both engines.
import { expect, test } from 'vitest'
import { writeDirectory } from '../../resolvers/podcasts/directory.ts'
import { subgraph } from '../../subgraphs/podcasts.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines, type Database } from '../kernel/engines.ts'
import type { TestService } from '../open.ts'
import { API, openDirectory, putPodcasts } from './directory.ts'

const openStore = (database: Database) => database.open(kindsOf(subgraph), migrationsOf(subgraph))

async function offered(service: TestService, query: string): Promise<string[]> {
  const { body } = await service.rest(`GET ${API}/typeahead?${query}&show_podcasts=1`)
  return body.podcasts.map((one: { title_original: string }) => one.title_original)
}

test.each(engines)(
  'of many podcasts those that are heard most are offered, and the others where those do not fit, on $engine',
  async ({ database }) => {
    const store = await openStore(await database())
    const service = await openDirectory({ store })
    const explicit = { explicit_content: true, listen_score: 50 }
    // Where eight words begin so, twenty-five podcasts are looked at for each.
    const others = ['Okad', 'Okafor', 'Okam', 'Okano', 'Okara', 'Okavango', 'Okay']
    await putPodcasts(store, [
      { ...explicit, title: 'Okapi Third', listen_score: 97 },
      { ...explicit, title: 'Okapi Second', listen_score: 98 },
      { ...explicit, title: 'The Okapi', listen_score: 99 },
      { title: 'Okapi Whispers', listen_score: 1 },
      ...Array.from({ length: 25 }, (_, at) => ({ ...explicit, title: `Okapi Walks ${at}` })),
      ...others.map((title) => ({ ...explicit, title })),
    ])

    const heard = await offered(service, 'q=oka')
    const safe = await offered(service, 'q=oka&safe_mode=1')

    expect(heard.slice(0, 2)).toEqual(['Okapi Second', 'Okapi Third'])
    expect(safe).toEqual(['Okapi Whispers'])
    expect(service.mistakes).toEqual([])
  },
)

test.each(engines)(
  'after other words, any word may be the one that is being typed on $engine',
  async ({ database }) => {
    const store = await openStore(await database())
    const service = await openDirectory({ store })
    const common = ['padre', 'pagan', 'panda', 'paper', 'parka', 'pasta', 'patio', 'pearl', 'pedal']
    await putPodcasts(store, [
      ...common.flatMap((word) => [{ title: `The ${word}` }, { title: `A ${word}` }]),
      ...Array.from({ length: 20 }, (_, at) => ({ title: `Fountain ${at}` })),
      { title: 'Fountain Plume' },
      { title: 'Plan P' },
      { title: 'Fontaine' },
    ])

    const long = await offered(service, 'q=fountain+p')
    const single = await offered(service, 'q=plan+p')
    const misspelled = await offered(service, 'q=fuontain+plu')

    expect([long, single, misspelled]).toEqual([['Fountain Plume'], ['Plan P'], ['Fountain Plume']])
    expect(service.mistakes).toEqual([])
  },
)

test.each(engines)(
  'a podcast is found by the title that it has now, and not when it is gone, on $engine',
  async ({ database }) => {
    const store = await openStore(await database())
    const service = await openDirectory({ store })
    const [before] = await putPodcasts(store, [{ title: 'Okapi Walks', listen_score: 10 }])
    const after = { ...before!, title: 'Okapi Talks', listen_score: 20, explicit_content: true }

    await store.transaction((tx) => writeDirectory(tx, [{ before, after, episodes: [] }]))
    const renamed = [await offered(service, 'q=okapi+t'), await offered(service, 'q=okapi+w')]
    const safe = await offered(service, 'q=okapi&safe_mode=1')
    await store.transaction((tx) => writeDirectory(tx, [{ before: after, episodes: [] }]))

    expect([renamed, safe]).toEqual([[['Okapi Talks'], []], []])
    expect(await offered(service, 'q=okapi')).toEqual([])
    expect(await store.sql('SELECT word FROM title_word')).toEqual([])
    expect(service.mistakes).toEqual([])
  },
)

test.each(engines)(
  'a very long title finds its podcast by its beginning alone on $engine',
  async ({ database }) => {
    const store = await openStore(await database())
    const service = await openDirectory({ store })
    const many = 'walks and '.repeat(31)
    await putPodcasts(store, [{ title: `Okapi ${many}` }, { title: `${many}okapi` }])

    const found = await offered(service, 'q=okapi')

    expect(found).toEqual([`Okapi ${many}`])
    expect(service.mistakes).toEqual([])
  },
)

test.each(engines)(
  'podcasts that were there before are found by their titles too on $engine',
  async ({ database }) => {
    const there = await database()
    const old = await openStore(there)
    const titles = Array.from({ length: 101 }, (_, at) => ({ title: `Okapi ${at}` }))
    await putPodcasts(old, titles)
    await old.sql('DROP TABLE title_word')
    await old.sql(`DELETE FROM polygraph_migration WHERE set_name = 'podcasts' AND number = 5`)
    await old.close()

    const store = await openStore(there)

    const rows = await store.sql(`SELECT title FROM title_word WHERE word = 'okapi'`)
    expect(rows).toHaveLength(101)
    expect(rows).toContainEqual({ title: ' okapi 100 ' })
  },
)
