// The log: JSON lines, gathered for a moment so that many are written at once.
import pino, { type Logger } from 'pino'

const GATHERED_MAX = 100
const GATHERED_MS = 100

type Line = string | (() => string)

export interface Logging {
  readonly log: Logger
  /** Writes a line as it is; one that is made by a function is made when many are written. */
  readonly write: (line: Line) => void
}

/** To a file, or to standard output. What is gathered is written also when the process exits. */
export function openLogging(level: string, to: string | number = 1): Logging {
  const destination = pino.destination({ dest: to, sync: false })
  let gathered: Line[] = []
  function flush(): void {
    const lines = gathered.map((line) => (typeof line === 'string' ? line : line()))
    gathered = []
    if (lines.length > 0) destination.write(lines.join(''))
  }
  function write(line: Line): void {
    gathered.push(line)
    if (gathered.length >= GATHERED_MAX) flush()
  }
  setInterval(flush, GATHERED_MS).unref()
  process.once('exit', () => {
    flush()
    destination.flushSync()
  })
  return { log: pino({ level, base: null }, { write }), write }
}

/** Nothing is logged. */
export const silent: Logging = { log: pino({ level: 'silent' }), write: () => {} }
