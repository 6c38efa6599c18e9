// Feeds: where podcasts come from, and how the last look at each went.
import { kind, numberOf, textOf } from '../kernel/store.ts'

export interface Feed {
  readonly podcast_id: string
  readonly rss: string
  /** in review until it was read once; broken when it was, and could not be the last time. */
  readonly state: 'in review' | 'active' | 'broken' | 'rejected'
  readonly submitted_by: string | null
  /** Of who submitted it. It is shown to nobody. */
  readonly contact: string
  readonly etag: string
  readonly last_modified: string
  /** Of the text that was read last, so that the same text is not read again. */
  readonly digest: string
  readonly last_refreshed_at_ms: number
  readonly last_tried_at_ms: number
  readonly error: string
  readonly tries: number
  /** Which look is the next; a look of an earlier number has been replaced. */
  readonly round: number
  readonly is_queued: boolean
}

export const feeds = kind<Feed>('feed', {
  key: ({ podcast_id }) => podcast_id,
  columns: {
    reviewing: textOf(({ state, submitted_by }) => (state === 'in review' ? submitted_by : null)),
    tried: numberOf(({ last_tried_at_ms }) => last_tried_at_ms),
  },
  indexes: [['reviewing']],
})

export const kinds = [feeds]

export const newFeed = (
  given: Pick<Feed, 'podcast_id' | 'rss' | 'state' | 'submitted_by' | 'contact'>,
): Feed => ({
  ...given,
  etag: '',
  last_modified: '',
  digest: '',
  last_refreshed_at_ms: 0,
  last_tried_at_ms: 0,
  error: '',
  tries: 0,
  round: 0,
  is_queued: false,
})
