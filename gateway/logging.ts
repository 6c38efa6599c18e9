// The log: JSON lines, gathered for a moment so that many are written at once.
import pino, { type Logger } from 'pino'

const GATHERED_LENGTH = 8 * 1024
const GATHERED_MS = 100

export interface Logging {
  readonly log: Logger
  /** Writes a line as it is. */
  readonly write: (line: string) => void
}

/** To a file, or to standard output. What is gathered is written also when the process exits. */
export function openLogging(level: string, to: string | number = 1): Logging {
  const destination = pino.destination({ dest: to, sync: false })
  let gathered = ''
  function flush(): void {
    if (gathered !== '') destination.write(gathered)
    gathered = ''
  }
  function write(line: string): void {
    gathered += line
    if (gathered.length >= GATHERED_LENGTH) flush()
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
