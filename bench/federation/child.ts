// A process of its own for each that is measured, and how the bench talks with it.
import { fork } from 'node:child_process'
import { join } from 'node:path'

interface Asked {
  readonly id: number
  readonly what: string
  readonly argument: unknown
}

interface Replied {
  readonly id: number
  readonly result?: unknown
  readonly failure?: string
}

export interface Child {
  ask<T>(what: string, argument?: unknown): Promise<T>
  stop(): Promise<void>
}

/** `file` is relative to this folder; `flags` are for Node. */
export function startChild(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): Child {
  const child = fork(join(import.meta.dirname, file), args, {
    execArgv: [...process.execArgv, ...flags],
    // As they are deployed.
    env: { ...process.env, NODE_ENV: 'production', APOLLO_TELEMETRY_DISABLED: '1' },
  })
  const waiting = new Map<number, (replied: Replied) => void>()
  let asked = 0
  child.on('message', (replied: Replied) => waiting.get(replied.id)?.(replied))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => {
    for (const [id, reply] of waiting) reply({ id, failure: 'The process ended.' })
  })

  return {
    ask: <T>(what: string, argument?: unknown) =>
      new Promise<T>((resolve, reject) => {
        const id = (asked += 1)
        waiting.set(id, ({ result, failure }) => {
          waiting.delete(id)
          if (failure === undefined) resolve(result as T)
          else reject(new Error(`${file} ${args.join(' ')}: ${failure}`))
        })
        child.send({ id, what, argument } satisfies Asked)
      }),
    stop() {
      if (child.connected) child.disconnect()
      return ended
    },
  }
}

/** In the child: answers what is asked, until the bench lets go. */
export function serveParent(answers: Readonly<Record<string, (argument: any) => unknown>>): void {
  process.on('message', async ({ id, what, argument }: Asked) => {
    try {
      process.send!({ id, result: await answers[what]!(argument) } satisfies Replied)
    } catch (error) {
      process.send!({ id, failure: (error as Error).stack ?? String(error) } satisfies Replied)
    }
  })
  process.once('disconnect', () => process.exit(0))
}
