// PostgreSQL for a cluster: a process that runs the server and stops it when it is stopped itself,
// or when the supervisor that started it is gone. PostgreSQL alone would not notice that.
import { startPostgres } from './embedded-postgres.ts'

/** Twenty services with some replicas, each with a pool of connections. */
const CONNECTIONS_MAX = 400

const [directory, port] = process.argv.slice(2) as [string, string]
const server = await startPostgres({
  directory,
  port: Number(port),
  settings: { max_connections: CONNECTIONS_MAX },
})
process.send?.({ url: server.url })

const stop = () => server.stop().then(() => process.exit(0))
for (const event of ['SIGINT', 'SIGTERM', 'disconnect']) process.on(event, stop)
if (process.connected === false) await stop()
