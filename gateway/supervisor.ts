// One process that is kept running: started again when it ends, until it is told to stop.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

const ROOT = join(import.meta.dirname, '..')
const PAUSE_MS_MIN = 250
const PAUSE_MS_MAX = 10_000
/** A process that ran this long is well: when it ends, that is a new story. */
const WELL_MS = 30_000
/** Longer than a process takes to give up by itself what it cannot finish. */
const STOP_MS_MAX = 12_000
/** How many ends in a row are told of. */
const TOLD_MAX = 5
const READY_MS_MAX = 60_000
const POLL_MS = 50
/** A process that ended this often while it was waited for will not come. */
const FAILURES_MAX = 3
const LOG_SHOWN_MAX = 2_000

interface Program {
  /** The program, from the root of the repository, and its arguments. */
  readonly program: readonly string[]
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Takes what the process writes. */
  readonly logFile: string
}

export interface KeepOptions extends Program {
  readonly name: string
  /** Told, in a line, of an end that nobody asked for. */
  readonly tell: (line: string) => void
}

export interface Kept {
  readonly name: string
  readonly logFile: string
  /** Undefined while there is none. */
  readonly pid: number | undefined
  /** Whether it said something over its channel since it was started. */
  readonly hasSpoken: boolean
  /** How many times in a row it ended before it was well. */
  readonly failures: number
  /** Asks the process to stop and returns when it has ended. It is not started again. */
  stop(): Promise<void>
}

/** Starts the process now. It is started again after a pause, which grows while it keeps ending. */
export function keepRunning({ name, logFile, tell, ...how }: KeepOptions): Kept {
  let child: ChildProcess | undefined
  let restart: NodeJS.Timeout | undefined
  let failures = 0
  let hasSpoken = false
  let isStopping = false
  start()

  function start(): void {
    const startedMs = performance.now()
    child = startProgram({ ...how, logFile })
    hasSpoken = false
    child.once('message', () => (hasSpoken = true))
    child.once('error', (error) => tell(`${name} could not be started: ${error.message}`))
    child.once('exit', (code, signal) => {
      child = undefined
      if (isStopping) return
      failures = performance.now() - startedMs > WELL_MS ? 1 : failures + 1
      const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** (failures - 1), PAUSE_MS_MAX)
      if (failures < TOLD_MAX) {
        tell(`${name} ended with ${signal ?? code} and is started again. Its log: ${logFile}`)
      } else if (failures === TOLD_MAX) {
        tell(`${name} keeps ending; it is tried on, and not told of. Its log: ${logFile}`)
      }
      restart = setTimeout(start, pauseMs)
    })
  }

  return {
    name,
    logFile,
    get pid() {
      return child?.pid
    },
    get hasSpoken() {
      return hasSpoken
    },
    get failures() {
      return failures
    },
    async stop() {
      isStopping = true
      clearTimeout(restart)
      if (!child) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      const impatience = setTimeout(() => child?.kill('SIGKILL'), STOP_MS_MAX)
      await ended
      clearTimeout(impatience)
    },
  }
}

/** Throws, with the end of its log, when the process keeps ending or takes too long. */
export async function untilReady(kept: Kept, isReady: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + READY_MS_MAX
  while (!(await isReady())) {
    if (kept.failures >= FAILURES_MAX || performance.now() > deadlineMs) {
      throw new Error(`${kept.name} does not become ready. Its log ends:\n${endOf(kept.logFile)}`)
    }
    await pause(POLL_MS)
  }
}

/** Runs a process to its end. Throws, with the end of its log, when it fails. */
export async function runOnce({ name, ...how }: Omit<KeepOptions, 'tell'>): Promise<void> {
  const [code, signal] = await once(startProgram(how), 'exit')
  if (code !== 0) {
    throw new Error(`${name} ended with ${signal ?? code}. Its log ends:\n${endOf(how.logFile)}`)
  }
}

const endOf = (file: string): string => readFileSync(file, 'utf8').slice(-LOG_SHOWN_MAX).trim()

/** As `npm start` and the image have them. */
const NODE_FLAGS = [
  '--disable-warning=ExperimentalWarning',
  '--max-semi-space-size=16',
  '--expose-gc',
]

/**
 * The process is in a group of its own, so that a terminal's Ctrl-C reaches its supervisor alone,
 * which stops things in order. The channel to it ends with the supervisor, however that ends.
 */
function startProgram({ program, environment, logFile }: Program): ChildProcess {
  const log = openSync(logFile, 'a', 0o600)
  const child = spawn(process.execPath, [...NODE_FLAGS, ...program], {
    cwd: ROOT,
    env: environment,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  })
  closeSync(log)
  return child
}
