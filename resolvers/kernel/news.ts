// News: what was announced, told to those who follow once it is committed. Nothing of it is kept.
import type { Announcement } from './events.ts'
import type { Records, Store } from './store.ts'

/** Something happened in a service. */
export interface Change {
  readonly service: string
  /** What, such as `hsm.module.created`. */
  readonly type: string
  /** What it names: its subject, and the plain values of its body. */
  readonly names: readonly string[]
}

/** Undefined says that changes may have been missed, of any service. */
export type Follower = (change: Change | undefined) => void

export interface News {
  tell(service: string, announced: readonly Announcement[]): void
  /** Resolves when nothing is missed any more. The follower must not throw. */
  follow(follower: Follower): Promise<void>
  /** Ends what it holds open. */
  close(): Promise<void>
}

/** News that stay in this process. */
export function newsInProcess(): News {
  const followers: Follower[] = []
  return {
    tell(service, announced) {
      if (followers.length === 0) return
      for (const one of announced) {
        const change = changeOf(service, one)
        for (const follower of followers) follower(change)
      }
    },
    follow: async (follower) => void followers.push(follower),
    close: async () => {},
  }
}

export function changeOf(service: string, { type, subject, body }: Announcement): Change {
  const plain = Object.values(body).filter((value) => NAMING.has(typeof value))
  return { service, type, names: [...new Set([subject, ...plain.map(String)])] }
}

const NAMING = new Set(['string', 'number'])

/**
 * A store that tells what was announced in its transactions when they are committed. On PostgreSQL a
 * transaction may run several times, of which the last counts.
 */
export function tellingCommits(
  store: Store,
  tell: (announced: readonly Announcement[]) => void,
): { store: Store; announced(tx: Records, announcements: readonly Announcement[]): void } {
  const inTransaction = new WeakMap<Records, Announcement[]>()
  const telling: Store = {
    ...store,
    async transaction(step) {
      let last: Records | undefined
      const result = await store.transaction((tx) => step((last = tx)))
      const announced = inTransaction.get(last!)
      if (announced) tell(announced)
      return result
    },
  }
  return {
    store: telling,
    announced(tx, announcements) {
      // What is written outside a transaction is committed.
      if (tx === telling) return tell(announcements)
      const before = inTransaction.get(tx)
      if (before) before.push(...announcements)
      else inTransaction.set(tx, [...announcements])
    },
  }
}
