// News among the processes that share a PostgreSQL database, by LISTEN and NOTIFY.
//
// 1. They are sent after the commit, those of a moment together: to notify inside the transaction would
//    make all commits of the database wait for each other.
// 2. So they are lost where a process ends between the two; who follows hears of the next change.
import type pg from 'pg'
import { changeOf, type Change, type Follower, type News } from './news.ts'

const CHANNEL = 'polygraph_news'
const GATHER_MS = 10
const GATHERED_MAX = 500
/** PostgreSQL takes less than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_500
const RETRY_MS = 1_000

export interface PostgresNewsOptions {
  /** One connection of it is kept while there are followers. */
  readonly pool: pg.Pool
  readonly onFailure: (error: unknown) => void
}

export function newsOverPostgres({ pool, onFailure }: PostgresNewsOptions): News {
  const followers: Follower[] = []
  let gathered: Change[] = []
  let sending: NodeJS.Timeout | undefined
  let listening: Promise<void> | undefined
  let client: pg.PoolClient | undefined
  let retrying: NodeJS.Timeout | undefined
  let isClosed = false

  async function send(): Promise<void> {
    const payloads = payloadsOf(gathered)
    sending = undefined
    gathered = []
    try {
      for (const payload of payloads)
        await pool.query('SELECT pg_notify($1, $2)', [CHANNEL, payload])
    } catch (error) {
      // What happened is committed all the same; only those who follow are not told.
      onFailure(error)
    }
  }

  function hear(changes: readonly Change[] | null): void {
    for (const follower of followers) {
      if (changes) for (const change of changes) follower(change)
      else follower(undefined)
    }
  }

  async function listen(): Promise<void> {
    const own = await pool.connect()
    if (isClosed) return own.release()
    const lose = (error?: unknown) => {
      if (client !== own) return
      client = undefined
      own.release(true)
      if (error) onFailure(error)
      if (!isClosed) retrying = setTimeout(listenAgain, RETRY_MS).unref()
    }
    client = own
    own.on('error', lose).on('end', lose)
    own.on('notification', ({ payload = 'null' }) => hear(JSON.parse(payload)))
    try {
      await own.query(`LISTEN ${CHANNEL}`)
    } catch (error) {
      lose()
      clearTimeout(retrying)
      throw error
    }
  }

  function listenAgain(): void {
    listen().then(
      () => hear(null),
      (error: unknown) => {
        onFailure(error)
        if (!isClosed) retrying = setTimeout(listenAgain, RETRY_MS).unref()
      },
    )
  }

  return {
    tell(service, announced) {
      if (isClosed) return
      // Beyond the limit one more is enough to know that there were too many.
      const taken = announced.slice(0, GATHERED_MAX + 1 - gathered.length)
      gathered.push(...taken.map((one) => changeOf(service, one)))
      sending ??= setTimeout(send, GATHER_MS)
    },
    async follow(follower) {
      followers.push(follower)
      try {
        await (listening ??= listen())
      } catch (error) {
        listening = undefined
        followers.splice(followers.indexOf(follower), 1)
        throw error
      }
    },
    async close() {
      isClosed = true
      clearTimeout(retrying)
      if (sending) {
        clearTimeout(sending)
        await send()
      }
      const own = client
      client = undefined
      own?.release(true)
    },
  }
}

/** As few messages as hold all changes; null stands for more than can be told. */
function payloadsOf(changes: readonly Change[]): string[] {
  if (changes.length > GATHERED_MAX) return ['null']
  const payloads: string[] = []
  let texts: string[] = []
  let bytes = 0
  for (const change of changes) {
    const text = JSON.stringify(change)
    const length = Buffer.byteLength(text) + 1
    if (length > PAYLOAD_BYTES_MAX) return ['null']
    if (bytes + length > PAYLOAD_BYTES_MAX) {
      payloads.push(`[${texts.join()}]`)
      texts = []
      bytes = 0
    }
    texts.push(text)
    bytes += length
  }
  return [...payloads, `[${texts.join()}]`]
}
