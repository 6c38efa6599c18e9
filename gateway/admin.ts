// npm run admin -- <e-mail> [name]: registers an administrator, and prints a token for the graph.
import { serviceCaller } from '../subgraphs/server/open.ts'
import { askAs } from './ask-as.ts'
import { GRAPH } from './callers.ts'
import { configurationOrExit } from './command.ts'
import { silent } from './logging.ts'
import { openPolygraph } from './polygraph.ts'

const DAY_S = 24 * 3600

const [email, name = email] = process.argv.slice(2)
if (!email) {
  process.stderr.write('Usage: npm run admin -- <e-mail> [name]\n')
  process.exit(1)
}
const configuration = configurationOrExit()
const polygraph = await openPolygraph(configuration, silent, 'identity')
const identity = polygraph.services[0]!
try {
  const { createUser } = await askAs(identity, serviceCaller('admin'))(
    `mutation ($name: String!, $email: String!) {
       createUser(name: $name, email: $email, isAdmin: true) { id } }`,
    { name, email },
  )
  const person = { ...serviceCaller('admin'), kind: 'user' as const, userId: createUser.id }
  const { createAccessToken } = await askAs(identity, person)(
    `mutation ($audiences: [String!]!, $expiresIn: Int) {
       createAccessToken(name: "first", audiences: $audiences, expiresIn: $expiresIn) { token } }`,
    { audiences: [GRAPH], expiresIn: DAY_S },
  )
  console.log(createAccessToken.token)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
} finally {
  await polygraph.close()
}
