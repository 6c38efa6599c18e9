// Turns at the one writer of a SQLite file. Those who wait share a commit, and so one wait for the
// disk.
//
// 1. A turn is whole or nothing: a savepoint of its own undoes it alone.
// 2. Nobody learns the outcome of a turn before the commit, not even that it was refused, since a
//    refusal may rest on what an earlier turn of the same group wrote.
import type { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers'

const GROUP_MAX = 128
const WAITING_MAX = 100_000

export interface Turns {
  /** A turn of one statement needs no savepoint: SQLite undoes a statement that fails. */
  take<R>(run: () => R | Promise<R>, options?: { isOneStatement?: boolean }): Promise<R>
  readonly isIdle: boolean
  /** Resolves when nobody waits. */
  end(): Promise<void>
  readonly commits: number
  readonly taken: number
  readonly waiting: number
}

interface Turn {
  readonly run: () => unknown
  readonly isOneStatement: boolean
  readonly resolve: (value: never) => void
  readonly reject: (error: unknown) => void
}

/** `beforeCommit` is called right before each commit, with nothing in between. */
export function groupCommit(db: DatabaseSync, beforeCommit: () => void = () => {}): Turns {
  const waiting: Turn[] = []
  let isRunning = false
  let commits = 0
  let taken = 0
  let ended: (() => void)[] = []

  const begin = db.prepare('BEGIN IMMEDIATE')
  const commit = db.prepare('COMMIT')
  const rollback = db.prepare('ROLLBACK')
  const savepoint = db.prepare('SAVEPOINT turn')
  const release = db.prepare('RELEASE turn')
  const undo = db.prepare('ROLLBACK TO turn')

  async function next(): Promise<void> {
    await commitTogether(waiting.splice(0, GROUP_MAX))
    // A pause between groups, in which requests arrive and answers leave.
    if (waiting.length > 0) {
      setImmediate(next)
    } else {
      isRunning = false
      for (const resolve of ended) resolve()
      ended = []
    }
  }

  async function commitTogether(group: readonly Turn[]): Promise<void> {
    const outcomes: (() => void)[] = []
    try {
      begin.run()
    } catch (error) {
      for (const turn of group) turn.reject(error)
      return
    }
    try {
      for (const turn of group) outcomes.push(await outcomeOf(turn))
      beforeCommit()
      commit.run()
    } catch (error) {
      if (db.isTransaction) rollback.run()
      // One turn can spoil the commit of all, by a constraint that is checked only then. Each alone
      // shows whose fault it is.
      if (group.length === 1) group[0]!.reject(error)
      else for (const turn of group) await commitTogether([turn])
      return
    }
    commits += 1
    taken += group.length
    for (const outcome of outcomes) outcome()
  }

  async function outcomeOf(turn: Turn): Promise<() => void> {
    try {
      if (!turn.isOneStatement) savepoint.run()
      const value = await turn.run()
      if (!turn.isOneStatement) release.run()
      return () => turn.resolve(value as never)
    } catch (error) {
      // Where the disk is full, SQLite has undone the whole group.
      if (!db.isTransaction) throw error
      if (!turn.isOneStatement) {
        undo.run()
        release.run()
      }
      return () => turn.reject(error)
    }
  }

  return {
    take(run, { isOneStatement = false } = {}) {
      return new Promise((resolve, reject) => {
        if (waiting.length >= WAITING_MAX) throw new Error('too many writes are waiting')
        waiting.push({ run, isOneStatement, resolve, reject })
        if (isRunning) return
        isRunning = true
        setImmediate(next)
      })
    },
    end: () => new Promise((resolve) => (isRunning ? ended.push(resolve) : resolve())),
    get isIdle() {
      return !isRunning
    },
    get commits() {
      return commits
    },
    get taken() {
      return taken
    },
    get waiting() {
      return waiting.length
    },
  }
}
