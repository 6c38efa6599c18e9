// What size costs the podcast directory: search and typeahead at one hundredth and at full size, the
// memory of the process, and how fast shows are taken in against bare inserts.
// It takes minutes, and so runs by itself: node bench/podcasts.ts [podcasts] [episodes] [engine] [folder]
// In a folder the directories are kept, so that they are only asked, and not filled, the next time.
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { episodeCountOf, factsOfShow, showOf } from '../resolvers/podcasts/demo-shows.ts'
import { podcasts as podcastKind } from '../resolvers/podcasts/records.ts'
import { openDirectory, type Directory, type Engine } from './podcast-directory.ts'

const PODCASTS = 100_000
const EPISODES = 1_000_000
const PART = 100
const SEARCHES = 400
const ROUNDS = 3
const SEARCH_RATIO_MAX = 4
const TYPEAHEAD_RATIO_MAX = 2
const BARE_SHOWS = 300

export async function benchPodcasts(
  podcasts = PODCASTS,
  episodes = EPISODES,
  engine: Engine = 'sqlite',
  folder?: string,
): Promise<boolean> {
  const kept = (part: number) =>
    folder && join(folder, `${engine}-${podcasts / part}-${episodes / part}`)
  const small = await openDirectory(engine, kept(PART))
  await small.grow(podcasts / PART, episodes / PART)
  const large = await openDirectory(engine, kept(1))
  if ((await large.store.count(podcastKind)) === 0) await fill(large, podcasts, episodes)
  // One whose filling was broken off is filled up, which says nothing of speed.
  else await large.grow(podcasts, episodes)
  const searches = searchesOf(SEARCHES)
  const typed = typedOf(SEARCHES)
  const isGood = [
    await compareSizes('search', 'podcastSearch', searches, small, large, SEARCH_RATIO_MAX),
    await compareSizes('typeahead', 'podcastTypeahead', typed, small, large, TYPEAHEAD_RATIO_MAX),
  ].every(Boolean)
  const { rss, heapUsed } = process.memoryUsage()
  console.log(`       memory: ${mega(rss)} MB in all, ${mega(heapUsed)} MB of it on the heap`)
  await small.close()
  await large.close()
  return isGood
}

async function fill(directory: Directory, podcasts: number, episodes: number): Promise<void> {
  const before = process.cpuUsage()
  const seconds = await directory.grow(podcasts, episodes)
  const { user, system } = process.cpuUsage(before)
  const records = podcasts + episodes
  console.log(
    `       ${records} records on ${directory.engine} in ${Math.round(seconds)} s, ${Math.round((user + system) / records)} µs of processor time for each`,
  )
  if (directory.engine !== 'sqlite') return
  const bareUs = await bareInsert()
  const ratio = (user + system) / records / bareUs
  console.log(`       ${ratio.toFixed(1)} times a bare insert of ${bareUs.toFixed(0)} µs`)
}

/** The same requests in turns at both sizes, so that noise on the machine meets both. */
async function compareSizes(
  title: string,
  operation: string,
  requests: readonly object[],
  small: Directory,
  large: Directory,
  ratioMax: number,
): Promise<boolean> {
  const times: Record<'small' | 'large', number[]> = { small: [], large: [] }
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const request of requests) {
      const ofSmall = await timeOf(() => small.ask(operation, request))
      const ofLarge = await timeOf(() => large.ask(operation, request))
      // The first round warms up.
      if (round === 0) continue
      times.small.push(ofSmall)
      times.large.push(ofLarge)
    }
  }
  const p95 = { small: quantile(times.small, 0.95), large: quantile(times.large, 0.95) }
  const ratio = p95.large / p95.small
  const isGood = ratio <= ratioMax
  const p50 = `${quantile(times.small, 0.5).toFixed(1)} and ${quantile(times.large, 0.5).toFixed(1)} ms`
  console.log(
    `${isGood ? 'ok    ' : 'MISSED'} ${title}: p95 ${p95.small.toFixed(1)} ms at 1% and ${p95.large.toFixed(1)} ms at full size, ${ratio.toFixed(2)} times, must be at most ${ratioMax}. p50 ${p50}`,
  )
  return isGood
}

/** What people ask: one word to four, of episodes and podcasts, some narrowed, some by date. */
function searchesOf(count: number): object[] {
  return Array.from({ length: count }, (_, at) => {
    const { topic, host, place } = factsOfShow(at * 7)
    const [one, two] = topic.words
    const q = [
      topic.name,
      one!,
      `${one} ${two}`,
      host,
      `${topic.name} ${place}`,
      `${topic.name} ${one}`,
      `"${topic.name}"`,
      `${topic.name.slice(0, -2)}x`,
    ][at % 8]!
    return {
      q,
      type: at % 3 === 0 ? 'podcast' : 'episode',
      ...(at % 7 === 0 && { genre_ids: String(topic.genre) }),
      ...(at % 11 === 0 && { safe_mode: 1 }),
      ...(at % 13 === 0 && { sort_by_date: 1 }),
      ...(at % 17 === 0 && { region: 'gb' }),
    }
  })
}

function typedOf(count: number): object[] {
  return Array.from({ length: count }, (_, at) => {
    const { topic, title } = factsOfShow(at * 5)
    const text = at % 2 === 0 ? topic.name : title
    return {
      q: text.slice(0, 1 + (at % text.length)).trim() || text,
      show_podcasts: 1,
      show_genres: 1,
    }
  })
}

/** A record written as plainly as SQLite can: its key and its JSON, all in a transaction. */
async function bareInsert(): Promise<number> {
  const file = join(tmpdir(), `polygraph-bare-${process.pid}.db`)
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec('CREATE TABLE record (key TEXT PRIMARY KEY, body TEXT NOT NULL)')
  const insert = db.prepare('INSERT INTO record (key, body) VALUES (?, ?)')
  const records: { id: string }[] = Array.from({ length: BARE_SHOWS }, (_, number) => {
    const show = showOf(number, episodeCountOf(number, BARE_SHOWS, BARE_SHOWS * 10), 0)
    return [show.podcast, ...show.episodes]
  }).flat()
  const before = process.cpuUsage()
  db.exec('BEGIN')
  for (const record of records) insert.run(record.id, JSON.stringify(record))
  db.exec('COMMIT')
  const { user, system } = process.cpuUsage(before)
  const us = (user + system) / records.length
  db.close()
  for (const end of ['', '-wal', '-shm']) await rm(file + end, { force: true })
  return us
}

async function timeOf(call: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await call()
  return performance.now() - startMs
}

const quantile = (times: readonly number[], share: number): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * share)]!

const mega = (bytes: number): number => Math.round(bytes / 1024 / 1024)

if (import.meta.main) {
  const [podcasts, episodes, engine, folder] = process.argv.slice(2)
  const isGood = await benchPodcasts(
    Number(podcasts ?? PODCASTS),
    Number(episodes ?? EPISODES),
    engine === 'postgres' ? 'postgres' : 'sqlite',
    folder,
  )
  process.exit(isGood ? 0 : 1)
}
