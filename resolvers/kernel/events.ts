// What was announced: an outbox written in the transaction of what happened.
import type { Clock } from './clock.ts'
import type { Context } from './context.ts'
import type { Migration, Records, Store } from './store.ts'
import type { Step, Work } from './work.ts'

const ADD = 'INSERT INTO event (id, type, subject, body, time) VALUES'
const ADDED = '(?, ?, ?, ?, ?)'
/** How many events one statement adds, so that few statements serve all numbers of them. */
const ADDED_TOGETHER = [16, 4, 1] as const
const KEPT_MS = 30 * 24 * 60 * 60_000

export interface Announcement {
  /** What happened, such as `voice.call.answered`. */
  readonly type: string
  /** What it happened to: an id, an ARN. */
  readonly subject: string
  readonly body: object
}

export interface Event extends Announcement {
  readonly id: string
  readonly time: string
}

/** What operations see of events. */
export interface Events {
  announce(tx: Records, announcement: Announcement): Promise<void>
  /** Announces many, in their order, with few statements. */
  announceAll(tx: Records, announcements: readonly Announcement[]): Promise<void>
}

/** Called for every event of the types it is listed under, at least once, in a step of its own. */
export type Listener = (event: Event, ctx: Context) => Promise<void>

export const eventsMigration: Migration = {
  number: 2,
  name: 'events',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const number =
      engine === 'postgres'
        ? 'number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY'
        : 'number INTEGER PRIMARY KEY AUTOINCREMENT'
    // Numbers are given before the commit, so a reader could pass a number whose transaction has not
    // ended yet. PostgreSQL therefore also keeps which transaction wrote the row.
    const writer =
      engine === 'postgres' ? ', writer xid8 NOT NULL DEFAULT pg_current_xact_id()' : ''
    await tx.sql(`CREATE TABLE event (
      ${number},
      id ${text} NOT NULL UNIQUE,
      type ${text} NOT NULL,
      subject ${text} NOT NULL,
      body ${text} NOT NULL,
      time ${text} NOT NULL${writer})`)
    await tx.sql('CREATE INDEX event_by_time ON event (time)')
  },
}

/** The steps that deliver events to a service's own listeners. */
export const listenerSteps = (
  listeners: Readonly<Record<string, Listener>>,
): Record<string, Step> =>
  Object.fromEntries(
    Object.entries(listeners).map(([type, listener]) => [stepOf(type), listener as Step]),
  )

const stepOf = (type: string) => `listen to ${type}`

interface EventsOptions {
  readonly clock: Clock
  readonly newId: () => string
  readonly work: Work
  readonly listeners: Readonly<Record<string, Listener>>
  /** Told of what was announced, before it is committed. */
  readonly onAnnounced?: ((tx: Records, announced: readonly Announcement[]) => void) | undefined
}

export function openEvents(options: EventsOptions): Events {
  const { clock, newId, work, listeners, onAnnounced } = options

  async function announceAll(tx: Records, announcements: readonly Announcement[]): Promise<void> {
    const time = clock.now().toISOString()
    const events = announcements.map((announcement): Event => ({
      id: newId(),
      time,
      ...announcement,
    }))
    for (let at = 0; at < events.length;) {
      const size = ADDED_TOGETHER.find((size) => size <= events.length - at)!
      await tx.sql(
        `${ADD} ${Array(size).fill(ADDED).join(', ')}`,
        events
          .slice(at, (at += size))
          .flatMap(({ id, type, subject, body }) => [
            id,
            type,
            subject,
            JSON.stringify(body),
            time,
          ]),
      )
    }
    for (const event of events) {
      if (listeners[event.type]) await work.later(tx, 0, stepOf(event.type), event)
    }
    onAnnounced?.(tx, announcements)
  }

  return { announceAll, announce: (tx, announcement) => announceAll(tx, [announcement]) }
}

/** The events after a number, oldest first, each with its own number. */
export async function readEvents(
  store: Store,
  { after, limit }: { after: number; limit: number },
): Promise<(Event & { number: number })[]> {
  const settled =
    store.engine === 'postgres' ? 'AND writer < pg_snapshot_xmin(pg_current_snapshot())' : ''
  const rows = await store.sql(
    `SELECT number, id, type, subject, body, time FROM event
     WHERE number > ? ${settled} ORDER BY number LIMIT ?`,
    [after, limit],
  )
  return rows.map((row) => ({ ...row, body: JSON.parse(row.body) })) as (Event & {
    number: number
  })[]
}

/** Forgets events that are older than anyone needs. */
export async function sweepEvents(store: Store, clock: Clock): Promise<void> {
  const oldest = new Date(clock.now().getTime() - KEPT_MS).toISOString()
  await store.sql('DELETE FROM event WHERE time < ?', [oldest])
}
