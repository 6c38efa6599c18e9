// Shows of nobody: podcasts and episodes made of word lists, the same at every time and place.
//
// A show is a function of its number alone, so that a directory of any size can be loaded in parts,
// and gone on with after a crash.
import words from './data/demo-words.json' with { type: 'json' }
import { regionNamed } from './genres.ts'
import { counted, NO_LINKS } from './intake.ts'
import { episodeId, factsOf, podcastId, type Episode, type Podcast } from './records.ts'

const DAY_MS = 24 * 3_600_000
const WEEK_MS = 7 * DAY_MS
const SITES = 40
const AUDIENCE_REGIONS = ['us', 'gb', 'ca', 'au', 'de', 'fr', 'in', 'nl', 'se', 'ie', 'nz', 'es']
const COUNTRIES = ['us', 'us', 'us', 'gb', 'gb', 'ca', 'au', 'ie', 'nz']
const FEED_SITE = 'https://feeds.example.org'

/** What a show is about, for those who judge what a search finds. */
export interface ShowFacts {
  readonly topic: Topic
  readonly second: Topic
  readonly host: string
  readonly guest: string
  readonly place: string
  readonly title: string
}

export interface Topic {
  readonly genre: number
  readonly name: string
  readonly words: readonly string[]
}

export interface Show {
  readonly facts: ShowFacts
  readonly podcast: Podcast
  readonly episodes: readonly Episode[]
}

const topics: readonly Topic[] = words.topics

/** The show of a number. `epochMs` is the day up to which episodes appeared. */
export function showOf(number: number, episodeCount: number, epochMs: number): Show {
  const chance = chanceOf(number)
  const facts = factsOfShow(number)
  const bare = podcastOf(number, facts, chance, epochMs)
  const about = factsOf(bare)
  const gapMs = (1 + Math.floor(chance() * 3)) * WEEK_MS
  const newestMs = epochMs - Math.floor(chance() * 60) * DAY_MS - Math.floor(chance() * DAY_MS)
  const episodes = Array.from({ length: episodeCount }, (_, at): Episode => {
    const guid = `show-${number}-${episodeCount - at}`
    const { title, description } = episodeTextOf(facts, episodeCount - at, chance)
    const hasTranscript = number % 12 === 0 && at < 2
    return {
      id: episodeId(bare.id, guid),
      podcast_id: bare.id,
      guid_from_rss: guid,
      title,
      description,
      audio: `https://audio.example.org/${guid}.mp3`,
      image: bare.image,
      thumbnail: bare.thumbnail,
      link: `${bare.website}${episodeCount - at}`,
      pub_date_ms: newestMs - at * gapMs,
      audio_length_sec: 600 + Math.floor(chance() * 4_200),
      explicit_content: bare.explicit_content && chance() < 0.5,
      maybe_audio_invalid: false,
      transcript: hasTranscript ? transcriptOf(facts, chance) : null,
      podcast: about,
    }
  })
  const podcast = counted(
    bare,
    episodes.map((after) => ({ after })),
  )
  return { facts, podcast, episodes }
}

/** How many episodes a show has where so many shows share so many: some more, some fewer. */
export function episodeCountOf(number: number, shows: number, episodes: number): number {
  const upTo = (count: number) => Math.floor((count * episodes) / shows)
  const even = upTo(number + 1) - upTo(number)
  const pair = number - (number % 2)
  if (pair + 1 >= shows) return even
  const other = number === pair ? pair + 1 : pair
  const least = Math.min(even, upTo(other + 1) - upTo(other))
  const shift = Math.floor(chanceOf(pair + 0.5)() * least)
  return number === pair ? even + shift : even - shift
}

export function factsOfShow(number: number): ShowFacts {
  const chance = chanceOf(number + 0.25)
  const topic = topics[number % topics.length]!
  const second = pick(topics, chance)
  const host = personOf(chance)
  const guest = personOf(chance)
  const place = pick(words.places, chance)
  return { topic, second, host, guest, place, title: titleOf(topic, host, place, chance) }
}

function titleOf(topic: Topic, host: string, place: string, chance: Chance): string {
  const name = capital(topic.name)
  const adjective = capital(pick(words.adjectives, chance))
  const noun = capital(pick(words.nouns, chance))
  const other = capital(pick(words.nouns, chance))
  const word = capital(pick(topic.words, chance))
  return pick(
    [
      `The ${name} Hour`,
      `${name} Weekly`,
      `${name} with ${host}`,
      `Inside ${name}`,
      `The ${adjective} ${noun}`,
      `${noun} and ${other}`,
      `${adjective} ${word}`,
      `${place} ${name} Club`,
      `The ${word} and the ${noun}`,
      `Talking ${name}`,
      `The ${adjective} ${word} Podcast`,
      `${host} Explains ${name}`,
    ],
    chance,
  )
}

function podcastOf(number: number, facts: ShowFacts, chance: Chance, epochMs: number): Podcast {
  const { topic, second, host, place, title } = facts
  const rss = `${FEED_SITE}/show-${number}.xml`
  const id = podcastId(rss)
  const adjective = capital(pick(words.adjectives, chance))
  const publisher = pick(
    [host, `${place} Public Radio`, `${adjective} ${capital(pick(words.nouns, chance))} Media`],
    chance,
  )
  const country = pick(COUNTRIES, chance)
  const image = `https://images.example.org/show-${number}`
  const site = number % SITES
  return {
    id,
    title,
    publisher,
    description: describe(facts, chance),
    image: `${image}.1400x1400.jpg`,
    thumbnail: `${image}.300x300.jpg`,
    website: `https://www.network-${site}.example.org/show-${number}/`,
    rss,
    email: `show-${number}@network-${site}.example.org`,
    language: 'English',
    country: regionNamed(country),
    type: chance() < 0.15 ? 'serial' : 'episodic',
    explicit_content: chance() < 0.1,
    is_claimed: chance() < 0.2,
    has_guest_interviews: chance() < 0.5,
    has_sponsors: chance() < 0.3,
    storeone_id: 100_000_000 + number,
    storetwo_id: `S${String(number).padStart(21, '0')}`,
    genre_ids: [...new Set([topic.genre, ...(chance() < 0.3 ? [second.genre] : [])])],
    looking_for: {
      cohosts: chance() < 0.1,
      cross_promotion: chance() < 0.2,
      sponsors: chance() < 0.3,
      guests: chance() < 0.3,
    },
    extra: { ...NO_LINKS, url1: `https://www.network-${site}.example.org/` },
    total_episodes: 0,
    total_audio_sec: 0,
    earliest_pub_date_ms: 0,
    latest_pub_date_ms: 0,
    latest_episode_id: '',
    listen_score: Math.floor(100 * chance() ** 2),
    audience: audienceOf(country, chance),
    added_at_ms: epochMs - Math.floor(chance() * 1_000) * DAY_MS - number,
    submitted_by: null,
  }
}

function audienceOf(country: string, chance: Chance): Podcast['audience'] {
  const some = AUDIENCE_REGIONS.filter(() => chance() < 0.3)
  const regions = [...new Set([country, ...some])]
  const weights = regions.map((region) => (region === country ? 3 : 1) * (0.2 + chance()))
  const all = weights.reduce((sum, weight) => sum + weight, 0)
  return regions
    .map((region, at) => ({ region, share: weights[at]! / all }))
    .sort((a, b) => b.share - a.share)
}

function describe({ topic, second, host, guest, place }: ShowFacts, chance: Chance): string {
  const [one, two, three] = shuffled(topic.words, chance)
  const opening = pick(
    [
      `A weekly show about ${topic.name} from ${place}.`,
      `${host} talks about ${topic.name}, week after week.`,
      `Everything you wanted to know about ${topic.name}.`,
      `Stories from the world of ${topic.name}.`,
    ],
    chance,
  )
  const middle = pick(
    [
      `From ${one} to ${two}, and never without ${three}.`,
      `Hear about ${one}, ${two} and ${three} from people who know.`,
      `We ask simple questions about ${one} and get long answers about ${two}.`,
    ],
    chance,
  )
  const end = pick(
    [
      `With ${host} and sometimes ${guest}.`,
      `Now and then we stray into ${second.name}.`,
      `Made in ${place} by ${host}.`,
      `Guests have included ${guest}, on ${second.name}.`,
    ],
    chance,
  )
  return `<p>${opening} ${middle}</p><p>${end}</p>`
}

function episodeTextOf(
  { topic, second, host, guest, place }: ShowFacts,
  at: number,
  chance: Chance,
) {
  const [one, two] = shuffled(topic.words, chance)
  const visitor = chance() < 0.4 ? personOf(chance) : guest
  const title = pick(
    [
      `${capital(one!)} for beginners`,
      `The truth about ${one}`,
      `${visitor} on ${one}`,
      `${capital(one!)} and ${two}`,
      `What ${one} taught us about ${topic.name}`,
      `${capital(topic.name)} in ${pick(words.places, chance)}`,
      `${at}. A question of ${one}`,
      `Why ${one} still matters`,
    ],
    chance,
  )
  const aside = pick(
    [
      `Also: a listener writes from ${place}.`,
      `Later we turn to ${pick(second.words, chance)} and ${second.name}.`,
      `A conversation about ${two} follows.`,
      `Recorded in ${place}.`,
    ],
    chance,
  )
  const description = `<p>${host} and ${visitor} talk about ${one}, ${two} and the ${pick(words.adjectives, chance)} ${pick(words.nouns, chance)} of ${topic.name}.</p><p>${aside}</p>`
  return { title, description }
}

function transcriptOf({ topic, second, host, guest }: ShowFacts, chance: Chance): string {
  const [one, two, three, four] = shuffled(topic.words, chance)
  const noun = pick(words.nouns, chance)
  return [
    `${host}: Welcome back. Today we begin with ${one}, because so many of you asked.`,
    `${guest}: It all started with a ${noun} that I found next to some ${two}.`,
    `${host}: And what does that have to do with ${topic.name}?`,
    `${guest}: Nothing at first. Then ${three} came along, and after that ${four}.`,
    `${host}: You once said that ${second.name} changed how you think.`,
    `${guest}: It did. Whoever has seen ${pick(second.words, chance)} does not forget it.`,
    `${host}: That was ${guest}. Until next week.`,
  ].join('\n')
}

type Chance = () => number

/** Numbers from 0 up to 1 that look like chance and are the same for the same seed. */
function chanceOf(seed: number): Chance {
  let state = Math.imul(Math.floor(seed * 4) + 1, 0x9e3779b1)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const pick = <T>(from: readonly T[], chance: Chance): T => from[Math.floor(chance() * from.length)]!

const personOf = (chance: Chance): string =>
  `${pick(words.firsts, chance)} ${pick(words.lasts, chance)}`

function shuffled(from: readonly string[], chance: Chance): string[] {
  return from
    .map((word) => ({ word, place: chance() }))
    .sort((a, b) => a.place - b.place)
    .map(({ word }) => word)
}

const capital = (text: string): string =>
  text.replace(
    /(^|\s)(\p{L})/gu,
    (_, space: string, letter: string) => space + letter.toUpperCase(),
  )
