// Makes a database ready for services that run in processes of their own, and ends: every service
// migrates its schema, and the demo is made where one is wanted.
//
// The demo acts on every service as one caller, so it is made here, where all are in one process.
import { configurationOrExit } from './command.ts'
import { ensureDemo } from './demo.ts'
import { openLogging } from './logging.ts'
import { openPolygraph } from './polygraph.ts'

process.env.APOLLO_TELEMETRY_DISABLED = '1'
const configuration = configurationOrExit()
const polygraph = await openPolygraph(configuration, openLogging(configuration.logLevel))
if (configuration.isDemo) await ensureDemo(polygraph)
await polygraph.close()
