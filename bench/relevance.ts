// Whether the directory finds what is meant: judged queries and misspelled ones, on both engines.
import { factsOfShow, showOf } from '../resolvers/podcasts/demo-shows.ts'
import { DEMO_SIZE } from '../resolvers/podcasts/demo.ts'
import { judgedQueries, type JudgedQuery } from './judged-queries.ts'
import { openDirectory, type Directory, type Engine } from './podcast-directory.ts'

const SHOWS = DEMO_SIZE.podcasts
const RANKS = 10
const GAIN_MIN = 0.85
const TYPOS = 200
const TYPO_RANKS = 3
const TYPOS_FOUND_MIN = 0.9

export async function benchRelevance(): Promise<boolean> {
  let isGood = true
  for (const engine of ['sqlite', 'postgres'] as const) {
    const directory = await openDirectory(engine)
    try {
      await directory.grow(SHOWS, DEMO_SIZE.episodes)
      isGood = (await judgeAll(directory)) && isGood
      isGood = (await misspell(directory)) && isGood
    } finally {
      await directory.close()
    }
  }
  return isGood
}

async function judgeAll(directory: Directory): Promise<boolean> {
  const gains: { q: string; gain: number }[] = []
  for (const query of judgedQueries) {
    const found = await podcastsFound(directory, query.q)
    gains.push({ q: query.q, gain: gainOf(query, found) })
  }
  const mean = gains.reduce((sum, { gain }) => sum + gain, 0) / gains.length
  const worst = gains.toSorted((a, b) => a.gain - b.gain).slice(0, 5)
  const shown = worst.map(({ q, gain }) => `${q} ${gain.toFixed(2)}`).join(', ')
  return report(
    directory.engine,
    `nDCG@${RANKS} over ${gains.length} judged queries`,
    mean,
    GAIN_MIN,
    `lowest: ${shown}`,
  )
}

/** Names of shows with one letter dropped, doubled, changed or swapped with its neighbour. */
async function misspell(directory: Directory): Promise<boolean> {
  const missed: string[] = []
  for (let at = 0; at < TYPOS; at += 1) {
    const { title, id } = shows[(at * 11) % SHOWS]!
    const typo = misspelled(title, at)
    const found = await podcastsFound(directory, typo)
    const isThere = found.slice(0, TYPO_RANKS).some((other) => {
      return other === id || byId.get(other)?.title === title
    })
    if (!isThere) missed.push(typo)
  }
  const share = 1 - missed.length / TYPOS
  const shown = missed.length > 0 ? `missed: ${missed.slice(0, 5).join(', ')}` : ''
  return report(
    directory.engine,
    `names with one letter wrong found among the first ${TYPO_RANKS}`,
    share,
    TYPOS_FOUND_MIN,
    shown,
  )
}

async function podcastsFound(directory: Directory, q: string): Promise<string[]> {
  const { results } = await directory.ask('podcastSearch', { q, type: 'podcast' })
  return results.map(({ podcast }: { podcast: { id: string } }) => podcast.id)
}

const shows = Array.from({ length: SHOWS }, (_, number) => {
  const { podcast } = showOf(number, 0, 0)
  return { id: podcast.id, title: podcast.title, podcast, facts: factsOfShow(number) }
})
const byId = new Map(shows.map((show) => [show.id, show]))

/** How much a show is worth to who asked, from 0 to 3. */
function gradeOf(query: JudgedQuery, { title, podcast, facts }: (typeof shows)[number]): number {
  const texts = `${title} ${podcast.description}`.toLowerCase()
  if (query.title !== undefined) return title === query.title ? 3 : 0
  const isAbout = query.about === facts.topic.name
  const isBeside = query.about === facts.second.name && texts.includes(query.about)
  const isHost = query.host === facts.host
  if (query.host !== undefined) {
    const isHeard = texts.includes(query.host.toLowerCase())
    if (query.about === undefined) return isHost ? 3 : isHeard ? 1 : 0
    return isHost && isAbout ? 3 : isHost || isHeard || isAbout ? 1 : 0
  }
  if (query.place !== undefined) {
    if (isAbout && query.place === facts.place) return 3
    return isAbout ? 1 : 0
  }
  if (query.words) {
    const held = query.words.filter((word) => texts.includes(word)).length
    if (!isAbout) return 0
    return held === query.words.length ? 3 : held > 0 ? 2 : 1
  }
  return isAbout ? 3 : isBeside ? 1 : 0
}

/** Discounted gain of what was found, as a share of what could have been. */
function gainOf(query: JudgedQuery, found: readonly string[]): number {
  const grades = shows.map((show) => gradeOf(query, show)).toSorted((a, b) => b - a)
  const best = discounted(grades.slice(0, RANKS))
  if (best === 0) throw new Error(`no show is worth anything to "${query.q}"`)
  return discounted(found.map((id) => gradeOf(query, byId.get(id)!)).slice(0, RANKS)) / best
}

const discounted = (grades: readonly number[]): number =>
  grades.reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0)

function misspelled(title: string, at: number): string {
  const words = title.split(' ')
  const long = words.map((word, index) => ({ word, index })).filter(({ word }) => word.length > 3)
  const { word, index } = long[at % long.length]!
  const place = 1 + (at % (word.length - 2))
  const [before, after] = [word.slice(0, place), word.slice(place + 1)]
  const changed = [
    before + after,
    before + word[place] + word[place] + after,
    `${before}e${after}`,
    before + (after[0] ?? '') + word[place] + after.slice(1),
  ][at % 4]!
  return words.with(index, changed).join(' ')
}

function report(engine: Engine, title: string, figure: number, least: number, more: string) {
  const isGood = figure >= least
  console.log(
    `${isGood ? 'ok    ' : 'MISSED'} ${title} on ${engine}: ${figure.toFixed(3)}, must be at least ${least}. ${more}`,
  )
  return isGood
}

if (import.meta.main) process.exit((await benchRelevance()) ? 0 : 1)
