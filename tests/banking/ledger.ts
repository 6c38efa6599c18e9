// The bank without its doors: a context and accounts with money, for what is asked very often.
import pino from 'pino'
import { fundraisers } from '../../resolvers/banking/fundraisers.ts'
import { post, accountById, settlementAccount } from '../../resolvers/banking/ledger.ts'
import { register } from '../../resolvers/banking/registration.ts'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import type { Context } from '../../resolvers/kernel/context.ts'
import { noGraph } from '../../resolvers/kernel/graph.ts'
import { closedOutbound } from '../../resolvers/kernel/outbound.ts'
import { openSecrets } from '../../resolvers/kernel/secrets.ts'
import type { Store } from '../../resolvers/kernel/store.ts'
import { advanceTo } from '../../resolvers/kernel/work.ts'
import { subgraph } from '../../subgraphs/banking.ts'
import { open } from '../../subgraphs/server/open.ts'
import { openTelemetry } from '../../subgraphs/server/telemetry.ts'
import { people, testCredentials } from '../people.ts'

const DAILY_LIMIT = 1_000_000
const OWNER = 'alice'
const ADDRESS = 'http://polygraph.test'

export interface TestAccount {
  readonly id: number
  readonly userId: number
  readonly iban: string
  /** Of the page of their fundraiser. */
  readonly uuid: string
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>

export async function openLedger(store: Store) {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const service = await open(subgraph, {
    store,
    clock,
    wallClock: clock,
    credentials: testCredentials,
    telemetry: openTelemetry(pino({ level: 'silent' })),
    outbound: closedOutbound,
    graph: noGraph,
    cursorKey: Buffer.alloc(32, 7),
    secrets: openSecrets(Buffer.alloc(32, 9)),
  })
  const ctx: Context = service.contextFor(people[OWNER], { address: ADDRESS, headers: {} })

  /** A user with one account that has so many cents. */
  const account = (cents: number): Promise<TestAccount> =>
    store.transaction(async (tx) => {
      const { user, accountId, fundraiserId } = await register(ctx, tx, {
        owner: OWNER,
        kind: 'UserPerson',
        names: {},
      })
      await tx.sql('UPDATE account SET daily_limit = ? WHERE id = ?', [DAILY_LIMIT, accountId])
      const credit = (await accountById(tx, accountId))!
      if (cents > 0) {
        await post(ctx, tx, {
          debit: await settlementAccount(tx, 'EUR'),
          credit,
          money: { minor: cents, currency: 'EUR' },
          reason: 'PAYMENT',
          details: { description: 'Funds' },
        })
      }
      const { uuid } = (await tx.get(fundraisers, String(fundraiserId)))!
      return { id: accountId, userId: user.id, iban: credit.iban!, uuid }
    })

  return {
    ctx,
    clock,
    account,
    async accounts(count: number, cents: number): Promise<TestAccount[]> {
      const all: TestAccount[] = []
      for (let i = 0; i < count; i += 1) all.push(await account(cents))
      return all
    },
    /** A context of a request of its own, whose loaders remember nothing of others. */
    request: (): Context => service.contextFor(people[OWNER], { address: ADDRESS, headers: {} }),
    advance: (byMs: number) =>
      advanceTo(new Date(clock.now().getTime() + byMs), clock, [service.work]),
    close: () => service.close(),
  }
}
