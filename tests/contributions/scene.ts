// What the tests of contributions begin with: an assignment, and contributions to it.
import { subgraph } from '../../subgraphs/contributions.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { openForTest, type OpenOptions, type TestService } from '../open.ts'
import type { Person } from '../people.ts'

export const openContributions = (options?: OpenOptions) => openForTest(subgraph, options)

/** The service on each engine, for what is asked of the database itself. */
export const onEngines = engines.map(({ engine, database }) => ({
  engine,
  async open(options: OpenOptions = {}) {
    const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
    return openForTest(subgraph, { ...options, store })
  },
}))

export async function assign(
  service: TestService,
  more: object = {},
  credential: Person = 'alice',
) {
  const { status, body } = await service.rest(
    'POST /1/assignments',
    { name: 'Floods', ...more },
    { credential },
  )
  if (status !== 200) throw new Error(`no assignment: ${JSON.stringify(body)}`)
  return body.id as string
}

export async function contribute(
  service: TestService,
  more: object = {},
  credential: Person = 'bob',
): Promise<string> {
  const sent = { headline: 'Water in the street', ...more }
  const { status, body } = await service.rest('POST /1/contributions', sent, { credential })
  if (status !== 200) throw new Error(`no contribution: ${JSON.stringify(body)}`)
  return body.id as string
}

export const moderate = (
  service: TestService,
  id: string,
  action: string,
  credential: Person = 'alice',
) =>
  service.rest(`POST /1/contributions/${id}/moderate`, { action: { id: action } }, { credential })

/** A contribution that the public sees. */
export async function publish(service: TestService, more: object = {}, credential: Person = 'bob') {
  const id = await contribute(service, more, credential)
  // Without an assignment, it is the contributor's own.
  const moderator = 'assignment' in more ? 'alice' : credential
  const { status } = await moderate(service, id, 'approve', moderator)
  if (status !== 200) throw new Error(`${id} was not approved`)
  return id
}

export const idsIn = (answer: { body: any }): string[] => answer.body.map(({ id }: any) => id)

/** Sends bytes as the media they are. */
export async function upload(
  service: TestService,
  bytes: Uint8Array,
  {
    credential = 'bob',
    type = 'application/octet-stream',
  }: { credential?: Person; type?: string } = {},
) {
  return service.rest('POST /1/media', Buffer.from(bytes), {
    credential,
    headers: { 'content-type': type },
  })
}
