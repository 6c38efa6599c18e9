// What finishes later: provisioning, a call, an export. Durable steps with leases.
import type { Context } from './context.ts'
import type { Records } from './store.ts'

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
