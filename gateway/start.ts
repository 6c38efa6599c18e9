// npm start: everything in one process. npm start -- backup: one service alone.
import { banner } from './banner.ts'
import { configurationOrExit, exit, exitIfBad } from './command.ts'
import { ensureDemo } from './demo.ts'
import { openLogging } from './logging.ts'
import { GATEWAY } from './callers.ts'
import { openPolygraph } from './polygraph.ts'
import { SERVICES } from './services.ts'

const SHUTDOWN_MS = 10_000

process.env.APOLLO_TELEMETRY_DISABLED = '1'
const only = process.argv[2]
const names = Object.keys(SERVICES)
if (only !== undefined && only !== GATEWAY && !names.includes(only)) {
  exit(`There is no service ${only}. There are: ${names.join(', ')}.`)
}
const configuration = configurationOrExit()
const logging = openLogging(configuration.logLevel)
const { log } = logging

const polygraph = await openPolygraph(configuration, logging, only).catch(exitIfBad)
if (configuration.isDemo) await ensureDemo(polygraph)
try {
  await polygraph.front.listen(configuration)
} catch (error) {
  exit(
    (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      ? `Port ${configuration.port} is taken. Choose another: PORT=4001 npm start`
      : `${configuration.host}:${configuration.port} cannot be listened on: ${(error as Error).message}`,
  )
}
polygraph.start()
if (polygraph.services.some(({ subgraph }) => subgraph.name === 'identity')) await inviteFirst()
const readyMs = Math.round(performance.now())
log.info({ readyMs, services: polygraph.services.map(({ subgraph }) => subgraph.name) }, 'ready')
process.stderr.write(banner({ configuration, polygraph, only, readyMs }))
polygraph.makeReady().catch((error: unknown) => log.warn({ err: error }, 'not all is made ready'))

let isStopping = false
// A terminal and npm may both send the signal, so a second one changes nothing.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop(signal))
// A supervisor that died cannot stop what it started; its end of the channel closes.
process.once('disconnect', () => stop('disconnect'))
if (process.connected === false) stop('disconnect')

/** Where there is nobody yet, the log has the link by which the first person registers. */
async function inviteFirst(): Promise<void> {
  const { answer: path } = await polygraph.ask('{ answer: firstUserPath }', {})
  if (typeof path !== 'string') return
  const url = `${configuration.publicUrl}${only === 'identity' ? '' : '/identity'}${path}`
  log.warn({ url }, 'nobody is registered: the first person registers there, once')
}

function stop(reason: string): void {
  if (isStopping) return
  isStopping = true
  log.info({ reason }, 'stopping')
  // What cannot be finished in time is abandoned; nothing acknowledged is lost by that.
  setTimeout(() => exit('Stopped before everything was finished.'), SHUTDOWN_MS).unref()
  polygraph.close().then(
    () => process.exit(0),
    (error: unknown) => exit(String(error)),
  )
}
