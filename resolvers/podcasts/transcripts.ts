// Transcripts that feeds name: fetched a little later, and kept as plain text with their episodes.
import type { Context } from '../kernel/context.ts'
import { Fault } from '../kernel/fault.ts'
import type { Records } from '../kernel/store.ts'
import { plainText } from './plain-text.ts'
import { episodes } from './records.ts'

const TRANSCRIPT_BYTES_MAX = 2 * 1024 * 1024
const TRANSCRIPT_CHARS_MAX = 200_000
const READ_TYPES = /^(text\/(plain|vtt|srt|html)|application\/(srt|x-subrip))\b/i

const FETCH_STEP = 'fetchTranscript'

export const steps = { [FETCH_STEP]: fetchTranscript }

interface Place {
  readonly url: string
  readonly type: string
}

/** Plans to fetch the transcript of an episode, where it is written in something we read. */
export async function planTranscript(
  tx: Records,
  episode_id: string,
  { url, type }: Place,
  ctx: Context,
): Promise<void> {
  if (READ_TYPES.test(type)) await ctx.work.later(tx, 0, FETCH_STEP, { episode_id, url, type })
}

/** A server that fails is asked again by the runner; one that refuses, or may not be asked, is not. */
async function fetchTranscript(
  { episode_id, url, type }: Place & { episode_id: string },
  ctx: Context,
): Promise<void> {
  const body = await fetchText(url, ctx)
  if (body === undefined) return
  const transcript = textOfTranscript(body, type)
  await ctx.store.transaction(async (tx) => {
    const episode = await tx.get(episodes, episode_id)
    if (!episode || episode.transcript === transcript || transcript === '') return
    await tx.save(episodes, { ...episode, transcript })
    await ctx.events.announce(tx, {
      type: 'podcasts.episode.changed',
      subject: episode_id,
      body: { id: episode_id, podcast_id: episode.podcast_id, title: episode.title },
    })
  })
}

async function fetchText(url: string, ctx: Context): Promise<string | undefined> {
  try {
    const answerMax = TRANSCRIPT_BYTES_MAX
    const { status, body } = await ctx.outbound.send({ method: 'GET', url, answerMax })
    if (status >= 500) throw new Error(`${url} answered ${status}`)
    return status === 200 ? body.toString('utf8') : undefined
  } catch (error) {
    // The operator does not allow that host: the episode has no transcript.
    if (error instanceof Fault) return undefined
    throw error
  }
}

/** What is said, without numbers, times and tags. */
function textOfTranscript(body: string, type: string): string {
  const said = /html|plain/i.test(type)
    ? body
    : body
        .replace(/^\uFEFF?WEBVTT.*$/m, '')
        .split(/\r?\n/)
        .filter((line) => !/-->/.test(line) && !/^\d*$/.test(line.trim()))
        .join('\n')
  const text = /plain/i.test(type) ? said : plainText(said)
  return text.trim().slice(0, TRANSCRIPT_CHARS_MAX).toWellFormed()
}
