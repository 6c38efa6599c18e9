// What was announced: an outbox written in the transaction of what happened.
import type { Context } from './context.ts'
import type { Records } from './store.ts'

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
}

/** Called for every event of the types it is listed under, at least once, in a step of its own. */
export type Listener = (event: Event, ctx: Context) => Promise<void>
