// The one way in which podcasts and episodes are written, with all that is counted from them.
import type { Migration, Records } from '../kernel/store.ts'
import { ROOT_GENRE, withAncestors } from './genres.ts'
import { plainText } from './plain-text.ts'
import { episodes, podcasts, regionsOf, type Episode, type Podcast } from './records.ts'
import { saveTitles } from './titles.ts'
import { noteText, saveWords, type WordChanges } from './words.ts'

/** A podcast before and after, and those of its episodes that change. */
interface DirectoryChange {
  readonly before?: Podcast | undefined
  readonly after?: Podcast | undefined
  readonly episodes: readonly EpisodeChange[]
}

export interface EpisodeChange {
  readonly before?: Episode | undefined
  readonly after?: Episode | undefined
}

export const listingMigration: Migration = {
  number: 3,
  name: 'listings',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const integer = engine === 'postgres' ? 'bigint' : 'INTEGER'
    // One row for each genre and region of a podcast, so that the best of both are one stretch.
    await tx.sql(`CREATE TABLE listing (
      genre ${integer} NOT NULL, region ${text} NOT NULL, score ${integer} NOT NULL,
      podcast ${text} NOT NULL, language ${text} NOT NULL, country ${text} NOT NULL,
      explicit ${integer} NOT NULL, added_ms ${integer} NOT NULL, latest_ms ${integer} NOT NULL,
      PRIMARY KEY (genre, region, score, podcast))`)
    await tx.sql(
      `CREATE TABLE score_count (score ${integer} PRIMARY KEY, podcasts ${integer} NOT NULL)`,
    )
  },
}

/** Writes changes of the directory, all or none. */
export async function writeDirectory(
  tx: Records,
  changes: readonly DirectoryChange[],
): Promise<void> {
  const words: WordChanges = { counts: new Map(), texts: 0 }
  const scores = new Map<number, number>()
  for (const { before, after, episodes: changed } of changes) {
    await writePodcast(tx, before, after, words, scores)
    for (const { before: old, after: now } of changed) {
      if (old) noteText(words, -1, { texts: textsOfEpisode(old) })
      if (now) noteText(words, 1, { texts: textsOfEpisode(now) })
      if (now) await tx.save(episodes, now)
      else if (old) await tx.remove(episodes, old.id)
    }
  }
  await saveWords(tx, words)
  await saveTitles(tx, changes)
  for (const [score, by] of [...scores].sort(([a], [b]) => a - b)) {
    if (by === 0) continue
    await tx.sql(
      `INSERT INTO score_count (score, podcasts) VALUES (?, ?)
       ON CONFLICT (score) DO UPDATE SET podcasts = score_count.podcasts + excluded.podcasts`,
      [score, by],
    )
  }
}

async function writePodcast(
  tx: Records,
  before: Podcast | undefined,
  after: Podcast | undefined,
  words: WordChanges,
  scores: Map<number, number>,
): Promise<void> {
  for (const [podcast, by] of [
    [before, -1],
    [after, 1],
  ] as const) {
    if (!podcast) continue
    noteText(words, by, textsOfPodcast(podcast))
    const { listen_score: score } = podcast
    if (score !== null) scores.set(score, (scores.get(score) ?? 0) + by)
  }
  if (before) await tx.sql(`DELETE FROM listing WHERE ${UNDER_ITS_KEYS(before)}`, keysOf(before))
  if (after) {
    await tx.save(podcasts, after)
    await list(tx, after)
  } else if (before) await tx.remove(podcasts, before.id)
}

const textsOfPodcast = ({ title, publisher, description }: Podcast) => ({
  title,
  texts: [publisher, plainText(description)],
})

const textsOfEpisode = ({ title, description }: Episode) => [title, plainText(description)]

const NO_SCORE = -1
/** Chosen: a podcast of which nobody knows where it is heard is listed where lists begin. */
const REGION_DEFAULT = 'us'

const placesOf = (podcast: Podcast): [genre: number, region: string][] => {
  const regions = regionsOf(podcast)
  const genres = [ROOT_GENRE, ...withAncestors(podcast.genre_ids)]
  return genres.flatMap((genre) =>
    (regions.length > 0 ? regions : [REGION_DEFAULT]).map((region): [number, string] => [
      genre,
      region,
    ]),
  )
}

const scoreOf = ({ listen_score }: Podcast): number => listen_score ?? NO_SCORE

const UNDER_ITS_KEYS = (podcast: Podcast): string =>
  `score = ? AND podcast = ? AND (${placesOf(podcast)
    .map(() => '(genre = ? AND region = ?)')
    .join(' OR ')})`

const keysOf = (podcast: Podcast) => [scoreOf(podcast), podcast.id, ...placesOf(podcast).flat()]

async function list(tx: Records, podcast: Podcast): Promise<void> {
  const { id, language, country, explicit_content, added_at_ms, latest_pub_date_ms } = podcast
  const places = placesOf(podcast)
  await tx.sql(
    `INSERT INTO listing (genre, region, score, podcast, language, country, explicit, added_ms, latest_ms)
     VALUES ${places.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}
     ON CONFLICT (genre, region, score, podcast) DO UPDATE SET latest_ms = excluded.latest_ms`,
    places.flatMap(([genre, region]) => [
      genre,
      region,
      scoreOf(podcast),
      id,
      language,
      country,
      explicit_content ? 1 : 0,
      added_at_ms,
      latest_pub_date_ms,
    ]),
  )
}
