// What finishes later: provisioning, a call, an export. Durable steps with leases.
//
// 1. A step is stored in the transaction of what it finishes: both happen or neither.
// 2. A step is leased before it runs and removed after it ran, in batches. A process that dies in
//    between leaves leases that run out, and what it had leased runs again: a step may run twice and
//    must allow for it. A lease that has grown old is renewed before its step runs, so that no two
//    runners begin the same step.
// 3. A step that throws is tried again later and later, and then parked where an operator sees it.
// 4. All times are of the clock that services live by, so that moving the clock finishes work.
import type { Clock } from './clock.ts'
import type { Context } from './context.ts'
import type { Migration, Records, Store } from './store.ts'

const LEASE_MS = 60_000
const BATCH_MAX = 64
const AT_ONCE_MAX = 8
const ATTEMPTS_MAX = 8
const BACK_OFF_FIRST_MS = 1_000
const BACK_OFF_MAX_MS = 5 * 60_000
const PARKED_PAGE_MAX = 100

/** How often the store is asked for work that another process stored. */
const POLL_MS = 1_000
/** Gives a transaction that has just stored a step the time to commit. */
const COMMIT_MS = 5

/** What operations see of work. */
export interface Work {
  /**
   * Stores a step to be called once the delay has passed, in the transaction of what it finishes.
   * Steps of one moment run in the order in which they were stored.
   */
  later(tx: Records, delayMs: number, step: string, input: object): Promise<void>
}

/** Finishes something. It may run twice, and must allow for it. */
export type Step = (input: any, ctx: Context) => Promise<void>

/** What the owner of a service does with its work. */
export interface Runner extends Work {
  /** When the earliest waiting step is due. */
  nextDue(): Promise<Date | undefined>
  /** Runs what is due, one after the other, until nothing is, and returns how many steps ran. */
  runDue(): Promise<number>
  /** Runs work in the background from now on. */
  start(): void
  /** Ends the background runs once the steps that are running have ended. */
  stop(): Promise<void>
  counts(): Promise<{ waiting: number; parked: number }>
  parked(): Promise<ParkedStep[]>
  /** Lets a parked step run again. Returns whether there was one. */
  retry(id: string): Promise<boolean>
  /** Gives a parked step up. Returns whether there was one. */
  discard(id: string): Promise<boolean>
}

export interface ParkedStep {
  readonly id: string
  readonly step: string
  readonly input: unknown
  readonly attempts: number
  readonly error: string
}

interface LeasedStep {
  readonly id: string
  readonly step: string
  readonly input: string
  readonly due: number
  readonly attempts: number
  readonly leased_until: number
}

export const workMigration: Migration = {
  number: 1,
  name: 'work',
  async up(tx, engine) {
    const text = engine === 'postgres' ? 'text COLLATE "C"' : 'TEXT'
    const integer = engine === 'postgres' ? 'bigint' : 'INTEGER'
    await tx.sql(`CREATE TABLE work (
      id ${text} PRIMARY KEY,
      step ${text} NOT NULL,
      input ${text} NOT NULL,
      due ${integer} NOT NULL,
      leased_until ${integer} NOT NULL DEFAULT 0,
      attempts ${integer} NOT NULL DEFAULT 0,
      state ${text} NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'parked')),
      error ${text})`)
    await tx.sql('CREATE INDEX work_by_due ON work (state, due, id)')
    await tx.sql('CREATE INDEX work_by_lease ON work (leased_until) WHERE leased_until > 0')
  },
}

interface RunnerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly newId: () => string
  readonly steps: Readonly<Record<string, Step>>
  /** A context of the service's own, since no caller is there when a step runs. */
  readonly contextOf: () => Context
  /** Told of every step that failed, before it is tried again or parked. */
  readonly onFailure: (failure: { step: string; error: unknown; isParked: boolean }) => void
}

export function openWork(options: RunnerOptions): Runner {
  const { store, clock, newId, steps, contextOf, onFailure } = options
  const nowMs = () => clock.now().getTime()
  let isRunning = false
  let background: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let wakeAt = Infinity

  async function lease(limit: number): Promise<LeasedStep[]> {
    const now = nowMs()
    const locking = store.engine === 'postgres' ? 'FOR UPDATE SKIP LOCKED' : ''
    const rows = await store.sql(
      `UPDATE work SET leased_until = ?, attempts = attempts + 1 WHERE id IN (
         SELECT id FROM work WHERE state = 'waiting' AND due <= ? AND leased_until <= ?
         ORDER BY due, id LIMIT ? ${locking})
       RETURNING id, step, input, due, attempts, leased_until`,
      [now + LEASE_MS, now, now, limit],
    )
    return (rows as LeasedStep[]).sort((a, b) => a.due - b.due || (a.id < b.id ? -1 : 1))
  }

  /** Whether the step, which has waited for others of its batch, is still ours to run. */
  async function isHeld({ id, attempts, leased_until }: LeasedStep): Promise<boolean> {
    const now = nowMs()
    if (leased_until - now > LEASE_MS / 2) return true
    const rows = await store.sql(
      'UPDATE work SET leased_until = ? WHERE id = ? AND attempts = ? RETURNING id',
      [now + LEASE_MS, id, attempts],
    )
    return rows.length === 1
  }

  /** Returns whether the step ran and is to be removed. */
  async function run(leased: LeasedStep): Promise<boolean> {
    const { id, step, input, attempts } = leased
    if (!(await isHeld(leased))) return false
    try {
      const call = steps[step]
      if (!call) throw new Error(`no step is called ${step}`)
      await call(JSON.parse(input), contextOf())
      return true
    } catch (error) {
      // A step that fails must not keep others from running: it waits, or it is parked.
      const isParked = attempts >= ATTEMPTS_MAX
      onFailure({ step, error, isParked })
      const backOff = Math.min(BACK_OFF_FIRST_MS * 2 ** (attempts - 1), BACK_OFF_MAX_MS)
      await store.sql(
        `UPDATE work SET state = ?, error = ?, due = ?, leased_until = 0
         WHERE id = ? AND attempts = ?`,
        [isParked ? 'parked' : 'waiting', String(error), nowMs() + backOff, id, attempts],
      )
      return false
    }
  }

  async function finish(done: readonly LeasedStep[]): Promise<void> {
    if (done.length === 0) return
    const conditions = done.map(() => '(id = ? AND attempts = ?)').join(' OR ')
    await store.sql(
      `DELETE FROM work WHERE ${conditions}`,
      done.flatMap(({ id, attempts }) => [id, attempts]),
    )
  }

  async function runBatch(): Promise<number> {
    const leased = await lease(BATCH_MAX)
    const waiting = leased.values()
    const runner = async () => {
      for (const step of waiting) if (await run(step)) await finish([step])
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE_MAX, leased.length) }, runner))
    return leased.length
  }

  function wakeIn(delayMs: number): void {
    const at = Date.now() + delayMs
    if (!isRunning || (timer && at >= wakeAt)) return
    clearTimeout(timer)
    wakeAt = at
    timer = setTimeout(tick, delayMs)
  }

  function tick(): void {
    timer = undefined
    wakeAt = Infinity
    background = background
      .then(async () => {
        // To look costs a read; to lease costs a commit, also when nothing is due.
        while (isRunning && (await isDue()) && (await runBatch()) > 0);
        const due = isRunning ? await nextDue() : undefined
        const untilDue = due ? due.getTime() - nowMs() : POLL_MS
        wakeIn(Math.min(Math.max(untilDue, COMMIT_MS), POLL_MS))
      })
      .catch((error: unknown) => {
        // The store did not answer. Nothing was lost: what is due stays due.
        onFailure({ step: '(lease)', error, isParked: false })
        wakeIn(POLL_MS)
      })
  }

  async function isDue(): Promise<boolean> {
    const due = await nextDue()
    return due !== undefined && due.getTime() <= nowMs()
  }

  async function nextDue(): Promise<Date | undefined> {
    const now = nowMs()
    const [free] = await store.sql(
      `SELECT due AS moment FROM work WHERE state = 'waiting' AND leased_until <= ?
       ORDER BY due LIMIT 1`,
      [now],
    )
    // A lease that nobody ends is of a runner that died.
    const [leased] = await store.sql(
      `SELECT leased_until AS moment FROM work WHERE leased_until > 0 AND leased_until > ?
       ORDER BY leased_until LIMIT 1`,
      [now],
    )
    const moments = [free, leased].flatMap((row) => (row ? [Number(row.moment)] : []))
    return moments.length > 0 ? new Date(Math.min(...moments)) : undefined
  }

  return {
    nextDue,

    async later(tx, delayMs, step, input) {
      if (!steps[step]) throw new Error(`no step is called ${step}`)
      await tx.sql('INSERT INTO work (id, step, input, due) VALUES (?, ?, ?, ?)', [
        newId(),
        step,
        JSON.stringify(input),
        nowMs() + delayMs,
      ])
      wakeIn(Math.min(delayMs + COMMIT_MS, POLL_MS))
    },

    async runDue() {
      let ran = 0
      let done: LeasedStep[] = []
      for (;;) {
        // Both are waiting at the same time, and so share a commit where commits are shared.
        const [, leased] = await Promise.all([finish(done), lease(BATCH_MAX)])
        done = []
        // What a step stores is due later than what was leased with it, or stored later.
        for (const step of leased) if (await run(step)) done.push(step)
        if (leased.length === 0) return ran
        ran += leased.length
      }
    },

    start() {
      isRunning = true
      wakeIn(0)
    },

    async stop() {
      isRunning = false
      clearTimeout(timer)
      await background
    },

    async counts() {
      const rows = await store.sql('SELECT state, count(*) AS steps FROM work GROUP BY state')
      const of = (state: string) => Number(rows.find((row) => row.state === state)?.steps ?? 0)
      return { waiting: of('waiting'), parked: of('parked') }
    },

    async parked() {
      const rows = await store.sql(
        `SELECT id, step, input, attempts, error FROM work WHERE state = 'parked'
         ORDER BY due, id LIMIT ?`,
        [PARKED_PAGE_MAX],
      )
      return rows.map((row) => ({ ...row, input: JSON.parse(row.input) })) as ParkedStep[]
    },

    async retry(id) {
      const rows = await store.sql(
        `UPDATE work SET state = 'waiting', attempts = 0, due = ?
         WHERE id = ? AND state = 'parked' RETURNING id`,
        [nowMs(), id],
      )
      wakeIn(COMMIT_MS)
      return rows.length === 1
    },

    async discard(id) {
      const sql = `DELETE FROM work WHERE id = ? AND state = 'parked' RETURNING id`
      return (await store.sql(sql, [id])).length === 1
    },
  }
}

/**
 * Moves a clock to a moment and runs everything that falls due on the way, of all services together,
 * in the order of time: what a step of one service stores for a later moment runs at that moment.
 */
export async function advanceTo(
  target: Date,
  clock: { moveTo(moment: Date): void },
  runners: readonly Pick<Runner, 'nextDue' | 'runDue'>[],
): Promise<number> {
  let ran = 0
  for (;;) {
    const dues = await Promise.all(runners.map((runner) => runner.nextDue()))
    const earliest = Math.min(...dues.map((due) => due?.getTime() ?? Infinity))
    if (earliest > target.getTime()) break
    clock.moveTo(new Date(earliest))
    for (const [i, due] of dues.entries()) {
      if (due?.getTime() === earliest) ran += await runners[i]!.runDue()
    }
  }
  clock.moveTo(target)
  return ran
}
