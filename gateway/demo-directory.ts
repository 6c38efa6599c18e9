// npm run demo -- podcasts 100000 1000000: makes the demo of a service as large as that.
//
// It goes on where an earlier run ended, and a directory that is that large already stays as it is.
import { serviceCaller } from '../subgraphs/server/open.ts'
import { askAs } from './ask-as.ts'
import { configurationOrExit, exit } from './command.ts'
import { silent } from './logging.ts'
import { openPolygraph } from './polygraph.ts'

/** By service, the field that adds a part, given the numbers in their order, and says how far it is. */
const GROWING: Readonly<Record<string, string>> = {
  podcasts: `mutation ($first: Int!, $second: Int!) {
    grown: growDemoDirectory(podcasts: $first, episodes: $second) { podcasts episodes isDone } }`,
}

const [name = '', ...numbers] = process.argv.slice(2)
const grow = Object.hasOwn(GROWING, name) ? GROWING[name] : undefined
const [first, second] = numbers.map(Number)
if (!grow || !Number.isInteger(first) || !Number.isInteger(second)) {
  exit('Usage: npm run demo -- podcasts <podcasts> <episodes>')
}
const polygraph = await openPolygraph(configurationOrExit(), silent, name)
const service = polygraph.services.find(({ subgraph }) => subgraph.name === name)!
const ask = askAs(service, serviceCaller('demo'))
try {
  for (;;) {
    const { grown } = await ask(grow, { first, second })
    process.stderr.write(`\r${grown.podcasts} podcasts, ${grown.episodes} episodes`)
    if (grown.isDone) break
  }
  process.stderr.write('\n')
} catch (error) {
  process.stderr.write(`\n${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await polygraph.close()
}
