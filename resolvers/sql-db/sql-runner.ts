// Keeps the processes that run SQL, and ends the slow ones. Beside specification 3, service Q.
//
// 1. A process starts with the first request and answers one at a time. It keeps ours alive only
//    while it has something to do.
// 2. One that fails, or works longer than the limit, is killed. Its request is refused; those that
//    wait go to the next.
// 3. Where the system can limit memory and processor time, it does: a process that nobody watches any
//    longer ends by itself.
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { fault, Unavailable } from '../kernel/fault.ts'
import type { SqlAnswer, SqlRequest } from './sql-process.ts'

const PROGRAM = fileURLToPath(new URL('./sql-process.ts', import.meta.url))
const PROCESSES_MAX = 2
const QUEUE_MAX = 200
const EXECUTION_MS_MAX = 5_000
const START_MS_MAX = 10_000
/** Several times the largest content: it is there as sent, as opened and as sent back. */
const MEMORY_KIB_MAX = 768 * 1024
const CPU_S_MAX = 60
/** A process that has worked so long is replaced before the system ends it. */
const CPU_MS_RETIRED = 30_000
const RETRY_AFTER = { headers: { 'retry-after': '1' } }

export const SqlTimedOut = fault('SqlTimedOut', 408)

export interface SqlRunner {
  /** Refuses what takes longer than the limit. */
  run(request: SqlRequest): Promise<SqlAnswer>
  stats(): { readonly started: number; readonly waiting: number }
}

interface Task {
  readonly request: SqlRequest
  readonly resolve: (answer: SqlAnswer) => void
  readonly reject: (error: Error) => void
}

interface Runner {
  readonly child: ChildProcess
  task: Task | undefined
  timer: NodeJS.Timeout | undefined
  isReady: boolean
  cpuMs: number
}

interface RunnerOptions {
  readonly processesMax?: number
  readonly queueMax?: number
  readonly executionMsMax?: number
}

/** Nothing is started before the first request. */
export function openSqlRunner({
  processesMax = PROCESSES_MAX,
  queueMax = QUEUE_MAX,
  executionMsMax = EXECUTION_MS_MAX,
}: RunnerOptions = {}): SqlRunner {
  const queue: Task[] = []
  const runners = new Set<Runner>()
  let started = 0

  function next(): void {
    while (queue.length > 0) {
      const idle = [...runners].find(({ task }) => !task)
      if (!idle && runners.size >= processesMax) return
      give(idle ?? start(), queue.shift()!)
    }
  }

  function start(): Runner {
    const child = spawnProcess()
    const runner: Runner = { child, task: undefined, timer: undefined, isReady: false, cpuMs: 0 }
    started += 1
    runners.add(runner)
    child.on('message', (answer: SqlAnswer | 'ready') => {
      const { task } = runner
      if (answer === 'ready') {
        runner.isReady = true
        if (task) limit(runner)
        return
      }
      settle(runner)
      runner.cpuMs += answer.cpuMs
      if (runner.cpuMs >= CPU_MS_RETIRED) end(runner)
      task?.resolve(answer)
      next()
    })
    const onEnd = (cause: unknown) => fail(runner, new Error('a SQL process ended', { cause }))
    child.on('error', onEnd)
    child.on('exit', onEnd)
    return runner
  }

  function give(runner: Runner, task: Task): void {
    runner.task = task
    runner.child.ref()
    runner.child.channel?.ref()
    limit(runner)
    runner.child.send(task.request, (error) => error && fail(runner, error))
  }

  function limit(runner: Runner): void {
    clearTimeout(runner.timer)
    runner.timer = runner.isReady
      ? setTimeout(() => fail(runner, tooLong(executionMsMax)), executionMsMax)
      : setTimeout(() => fail(runner, new Error('a SQL process does not start')), START_MS_MAX)
  }

  function settle(runner: Runner): void {
    clearTimeout(runner.timer)
    runner.task = undefined
    runner.child.unref()
    runner.child.channel?.unref()
  }

  function end(runner: Runner): void {
    runners.delete(runner)
    runner.child.kill('SIGKILL')
  }

  function fail(runner: Runner, error: Error): void {
    const { task } = runner
    settle(runner)
    end(runner)
    task?.reject(error)
    next()
  }

  return {
    async run(request) {
      if (queue.length >= queueMax) {
        throw Unavailable('Too much SQL is waiting. Try again in a moment.', RETRY_AFTER)
      }
      return new Promise((resolve, reject) => {
        queue.push({ request, resolve, reject })
        next()
      })
    },
    stats: () => ({ started, waiting: queue.length }),
  }
}

const tooLong = (ms: number) =>
  SqlTimedOut(`The statements took more than ${ms} ms. Nothing was changed.`)

function spawnProcess(): ChildProcess {
  const command = [
    process.execPath,
    '--permission',
    `--allow-fs-read=${PROGRAM}`,
    '--no-warnings',
    PROGRAM,
  ]
  const limited = [
    '/bin/sh',
    '-c',
    `ulimit -c 0; ulimit -t ${CPU_S_MAX}; ulimit -d ${MEMORY_KIB_MAX}; exec "$@"`,
    'sql',
    ...command,
  ]
  const [file, ...given] = process.platform === 'linux' ? limited : command
  return spawn(file!, given, {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
    env: {},
    windowsHide: true,
  })
}
