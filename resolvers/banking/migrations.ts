// The bank's own tables: accounts, the entries between them, holds, and what was answered before.
//
// 1. Money is counted in minor units, as whole numbers.
// 2. An entry is one debit and one credit of the same amount and currency, in one row: it cannot fail to
//    balance, and both accounts are of its currency.
// 3. Entries are only added. What was wrong is undone by an entry that names it, once.
// 4. The balance of an account is in its row, and equals the fold of its entries.
// 5. A request that carries an id books at most one entry.
// 6. What is held and the balance never go beyond the overdraft limit. The bank's own accounts, which
//    stand for the world outside, have none.
import type { Migration } from '../kernel/store.ts'

const MINOR_MAX = Number.MAX_SAFE_INTEGER

export const migrations: readonly Migration[] = [
  {
    number: 1,
    name: 'ledger',
    async up(tx, engine) {
      const isPostgres = engine === 'postgres'
      const text = isPostgres ? 'text COLLATE "C"' : 'TEXT'
      const integer = isPostgres ? 'bigint' : 'INTEGER'
      const id = isPostgres
        ? 'id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY'
        : 'id INTEGER PRIMARY KEY AUTOINCREMENT'

      await tx.sql(`CREATE TABLE account (
        ${id},
        owner ${text} NOT NULL,
        user_id ${integer} NOT NULL,
        purpose ${text} NOT NULL CHECK (purpose IN ('CUSTOMER', 'SETTLEMENT')),
        iban ${text} UNIQUE,
        currency ${text} NOT NULL,
        status ${text} NOT NULL CHECK (status IN ('ACTIVE', 'BLOCKED', 'CANCELLED', 'PENDING_REOPEN')),
        balance ${integer} NOT NULL DEFAULT 0 CHECK (balance BETWEEN -${MINOR_MAX} AND ${MINOR_MAX}),
        held ${integer} NOT NULL DEFAULT 0 CHECK (held >= 0),
        overdraft_limit ${integer} CHECK (overdraft_limit >= 0),
        daily_limit ${integer} NOT NULL CHECK (daily_limit >= 0),
        spent ${integer} NOT NULL DEFAULT 0 CHECK (spent >= 0),
        spent_day ${integer} NOT NULL DEFAULT 0,
        label ${text} NOT NULL,
        body ${text} NOT NULL,
        UNIQUE (id, currency),
        CHECK ((purpose = 'CUSTOMER') = (overdraft_limit IS NOT NULL)),
        CHECK (overdraft_limit IS NULL OR balance - held >= -overdraft_limit))`)
      await tx.sql('CREATE INDEX account_by_owner ON account (owner, id)')
      await tx.sql('CREATE INDEX account_by_user ON account (user_id, id)')
      await tx.sql(
        `CREATE UNIQUE INDEX account_of_bank ON account (purpose, currency) WHERE purpose <> 'CUSTOMER'`,
      )

      await tx.sql(`CREATE TABLE entry (
        ${id},
        debit ${integer} NOT NULL,
        credit ${integer} NOT NULL,
        amount ${integer} NOT NULL CHECK (amount > 0),
        currency ${text} NOT NULL,
        debit_after ${integer} NOT NULL,
        credit_after ${integer} NOT NULL,
        created ${integer} NOT NULL,
        reason ${text} NOT NULL,
        about ${text},
        reverses ${integer} REFERENCES entry (id),
        request ${text},
        digest ${text} CHECK ((digest IS NULL) = (request IS NULL)),
        details ${text} NOT NULL,
        CHECK (debit <> credit),
        FOREIGN KEY (debit, currency) REFERENCES account (id, currency),
        FOREIGN KEY (credit, currency) REFERENCES account (id, currency))`)
      await tx.sql('CREATE INDEX entry_by_debit ON entry (debit, id)')
      await tx.sql('CREATE INDEX entry_by_credit ON entry (credit, id)')
      await tx.sql('CREATE INDEX entry_by_about ON entry (about, id) WHERE about IS NOT NULL')
      await tx.sql('CREATE UNIQUE INDEX reversal ON entry (reverses) WHERE reverses IS NOT NULL')
      await tx.sql(
        'CREATE UNIQUE INDEX entry_by_request ON entry (request) WHERE request IS NOT NULL',
      )

      await tx.sql(`CREATE TABLE hold (
        ${id},
        account ${integer} NOT NULL,
        amount ${integer} NOT NULL CHECK (amount > 0),
        currency ${text} NOT NULL,
        state ${text} NOT NULL DEFAULT 'HELD' CHECK (state IN ('HELD', 'CAPTURED', 'RELEASED')),
        entry ${integer} UNIQUE REFERENCES entry (id),
        created ${integer} NOT NULL,
        ends ${integer} NOT NULL,
        details ${text} NOT NULL,
        CHECK ((state = 'CAPTURED') = (entry IS NOT NULL)),
        FOREIGN KEY (account, currency) REFERENCES account (id, currency))`)
      await tx.sql('CREATE INDEX hold_by_account ON hold (account, id)')

      await tx.sql(`CREATE TABLE answered (
        scope ${text} NOT NULL,
        request_id ${text} NOT NULL,
        digest ${text} NOT NULL,
        result ${integer} NOT NULL,
        PRIMARY KEY (scope, request_id))${isPostgres ? '' : ' WITHOUT ROWID'}`)

      await tx.sql(
        `CREATE TABLE number (name ${text} PRIMARY KEY, last ${integer} NOT NULL CHECK (last > 0))`,
      )

      if (isPostgres) {
        await tx.sql(`CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN RAISE EXCEPTION 'entries are only added'; END $$`)
        await tx.sql(`CREATE TRIGGER entry_stays BEFORE UPDATE OR DELETE ON entry
          FOR EACH ROW EXECUTE FUNCTION refuse_change()`)
      } else {
        for (const change of ['UPDATE', 'DELETE']) {
          await tx.sql(`CREATE TRIGGER entry_stays_at_${change.toLowerCase()} BEFORE ${change} ON entry
            BEGIN SELECT RAISE(ABORT, 'entries are only added'); END`)
        }
      }
    },
  },
]
