// npm run work -- <service> [retry|discard <id>]: the steps that failed too often, and what to do.
import { configurationOrExit } from './command.ts'
import { silent } from './logging.ts'
import { openPolygraph } from './polygraph.ts'
import { SERVICES } from './services.ts'

const [service = '', what, id = ''] = process.argv.slice(2)
const isKnown =
  service in SERVICES && (what === undefined || what === 'retry' || what === 'discard')
if (!isKnown) {
  process.stderr.write(
    `Usage: npm run work -- <service> [retry|discard <id>], of ${Object.keys(SERVICES).join(', ')}\n`,
  )
  process.exit(1)
}
const configuration = configurationOrExit()
const polygraph = await openPolygraph(configuration, silent, service)
const { work } = polygraph.services[0]!
if (what === undefined) {
  console.log(JSON.stringify(await work.parked(), null, 2))
} else {
  const isDone = await (what === 'retry' ? work.retry(id) : work.discard(id))
  if (!isDone) {
    process.stderr.write(`${service} has no parked step ${id}.\n`)
    process.exitCode = 1
  }
}
await polygraph.close()
