// Statements of an account for a period, to take elsewhere: CSV and camt.053 (ISO 20022).
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { get, operation, reply } from '../kernel/operation.ts'
import { optional, text } from '../kernel/shape.ts'
import { needAccount } from './accounts.ts'
import { valueOf } from './amounts.ts'
import { BadRequest, LimitExceeded } from './errors.ts'
import { BIC } from './iban.ts'
import { ENTRY_COLUMNS, type Account, type Entry } from './ledger.ts'
import { viewPayment, type PaymentView } from './payment-views.ts'
import { ACCOUNT, dayOf, ofAccount, readMoment, type AccountLabel } from './shapes.ts'

const ENTRIES_MAX = 10_000
const DAY_MS = 24 * 60 * 60_000
const MEDIA = { CSV: 'text/csv; charset=utf-8', CAMT_053: 'application/xml; charset=utf-8' }

export const operations = [
  operation({
    name: 'statementExport',
    rest: get(`${ACCOUNT}/statement`, {
      isBeyond: true,
      show: ({ content }: { content: string }) => content,
    }),
    input: {
      ...ofAccount,
      format: z.enum(['CSV', 'CAMT_053']),
      date_start: text.max(10),
      date_end: optional(text.max(10)),
    },
    run: exportStatement,
  }),
]

interface Statement {
  readonly account: Account
  /** Oldest first. */
  readonly payments: readonly PaymentView[]
  readonly openingMinor: number
  readonly closingMinor: number
  readonly startMs: number
  /** The first moment after the last day. */
  readonly endMs: number
  readonly madeMs: number
}

async function exportStatement(
  input: {
    userId: number
    monetaryAccountId: number
    format: keyof typeof MEDIA
    date_start: string
    date_end?: string | undefined
  },
  ctx: Context,
) {
  const account = await needAccount(ctx, input.userId, input.monetaryAccountId)
  const madeMs = ctx.clock.now().getTime()
  const startMs = readDay(input.date_start, 'date_start')
  const endMs = readDay(input.date_end ?? dayOf(madeMs), 'date_end') + DAY_MS
  if (endMs <= startMs) throw BadRequest('date_end must not be before date_start.')
  const period = { account, startMs, endMs, madeMs }
  const statement = { ...period, ...(await readPeriod(ctx, period)) }
  const content = input.format === 'CSV' ? csvOf(statement) : camtOf(statement)
  const name = `${account.iban}-${input.date_start}`
  const media = MEDIA[input.format]
  return reply(
    200,
    {
      content,
      content_type: media,
      file_name: `${name}.${input.format === 'CSV' ? 'csv' : 'xml'}`,
    },
    { 'content-type': media },
  )
}

function readDay(sent: string, field: string): number {
  const ms = readMoment(sent, field)
  if (dayOf(ms) !== sent) throw BadRequest(`${field} must be a day, such as 2030-01-31.`)
  return ms
}

async function readPeriod(
  ctx: Context,
  { account, startMs, endMs }: { account: Account; startMs: number; endMs: number },
) {
  const arm = (side: 'debit' | 'credit') =>
    `SELECT * FROM (SELECT ${ENTRY_COLUMNS} FROM entry WHERE ${side} = ? AND created >= ? AND created < ?
     ORDER BY id LIMIT ?) AS of_${side}`
  const values = [account.id, startMs, endMs, ENTRIES_MAX + 1]
  const rows = (await ctx.store.sql(
    `SELECT * FROM (${arm('debit')} UNION ALL ${arm('credit')}) AS both_sides ORDER BY id`,
    [...values, ...values],
  )) as Entry[]
  if (rows.length > ENTRIES_MAX) {
    throw LimitExceeded(`A statement has at most ${ENTRIES_MAX} entries: ask for a shorter period.`)
  }
  const payments = rows.map((row) => viewPayment(row, sideFor(row, account)))
  const first = rows[0]
  const last = rows.at(-1)
  const openingMinor = first
    ? afterOf(first, account) - signedOf(first, account)
    : await balanceBefore(ctx, account, endMs)
  return { payments, openingMinor, closingMinor: last ? afterOf(last, account) : openingMinor }
}

const sideFor = ({ debit }: Entry, { id }: Account) => (debit === id ? 'debit' : 'credit')
const afterOf = (entry: Entry, { id }: Account) =>
  entry.debit === id ? entry.debit_after : entry.credit_after
const signedOf = (entry: Entry, { id }: Account) =>
  entry.debit === id ? -entry.amount : entry.amount

/** The balance after the last entry before a moment. */
async function balanceBefore(ctx: Context, account: Account, beforeMs: number): Promise<number> {
  const arm = (side: 'debit' | 'credit') =>
    `SELECT * FROM (SELECT id, ${side}_after AS balance FROM entry WHERE ${side} = ? AND created < ?
     ORDER BY id DESC LIMIT 1) AS of_${side}`
  const [row] = await ctx.store.sql(
    `SELECT balance FROM (${arm('debit')} UNION ALL ${arm('credit')}) AS both_sides ORDER BY id DESC LIMIT 1`,
    [account.id, beforeMs, account.id, beforeMs],
  )
  return row?.balance ?? 0
}

const CSV_HEAD = 'Date,Id,Amount,Currency,Account,Counterparty,Name,Description,Type,Balance'

function csvOf({ account, payments }: Statement): string {
  const lines = payments.map((payment) =>
    [
      payment.created.slice(0, 10),
      String(payment.id),
      payment.amount.value,
      payment.amount.currency,
      account.iban!,
      payment.counterparty_alias.iban ?? '',
      payment.counterparty_alias.display_name,
      payment.description,
      payment.type,
      payment.balance_after_mutation.value,
    ]
      .map(cellOf)
      .join(','),
  )
  return [CSV_HEAD, ...lines, ''].join('\r\n')
}

/** A cell that begins like a formula would be run by spreadsheets; amounts do not look like one. */
function cellOf(value: string): string {
  const isFormula = /^[=+@\t\r]/.test(value) || (value.startsWith('-') && !/^-[\d.]+$/.test(value))
  const safe = isFormula ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function camtOf(statement: Statement): string {
  const { account, payments, openingMinor, closingMinor, startMs, endMs, madeMs } = statement
  const made = timeOf(madeMs)
  const id = `${account.iban}-${dayOf(startMs)}`
  const owner = (JSON.parse(account.label) as AccountLabel).display_name
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">
  <BkToCstmrStmt>
    <GrpHdr><MsgId>${tagText(`${id}-${madeMs}`)}</MsgId><CreDtTm>${made}</CreDtTm></GrpHdr>
    <Stmt>
      <Id>${tagText(id)}</Id>
      <CreDtTm>${made}</CreDtTm>
      <FrToDt><FrDtTm>${timeOf(startMs)}</FrDtTm><ToDtTm>${timeOf(endMs - 1)}</ToDtTm></FrToDt>
      <Acct>
        <Id><IBAN>${account.iban}</IBAN></Id>
        <Ccy>${account.currency}</Ccy>
        <Ownr><Nm>${xml(owner.slice(0, 140))}</Nm></Ownr>
        <Svcr><FinInstnId><BIC>${BIC}</BIC></FinInstnId></Svcr>
      </Acct>
${camtBalance('OPBD', openingMinor, account.currency, startMs)}
${camtBalance('CLBD', closingMinor, account.currency, endMs - 1)}
${payments.map(camtEntry).join('\n')}
    </Stmt>
  </BkToCstmrStmt>
</Document>
`
}

const timeOf = (ms: number): string => new Date(ms).toISOString().slice(0, 19)
/** Names of messages have at most 35 characters. */
const tagText = (value: string): string => value.slice(0, 35)
const amountTag = (value: string, currency: string): string =>
  `<Amt Ccy="${currency}">${value.replace('-', '')}</Amt><CdtDbtInd>${value.startsWith('-') ? 'DBIT' : 'CRDT'}</CdtDbtInd>`

const camtBalance = (code: string, minor: number, currency: string, atMs: number): string =>
  `      <Bal><Tp><CdOrPrtry><Cd>${code}</Cd></CdOrPrtry></Tp>${amountTag(valueOf(minor), currency)}<Dt><Dt>${dayOf(atMs)}</Dt></Dt></Bal>`

function camtEntry(payment: PaymentView): string {
  const { amount, counterparty_alias: other, description, id } = payment
  const day = payment.created.slice(0, 10)
  const role = amount.value.startsWith('-') ? 'Cdtr' : 'Dbtr'
  const name = other.display_name
    ? `<${role}><Nm>${xml(other.display_name.slice(0, 140))}</Nm></${role}>`
    : ''
  const account = other.iban ? `<${role}Acct><Id><IBAN>${other.iban}</IBAN></Id></${role}Acct>` : ''
  const parties = name || account ? `<RltdPties>${name}${account}</RltdPties>` : ''
  const remittance = description
    ? `<RmtInf><Ustrd>${xml(description.slice(0, 140))}</Ustrd></RmtInf>`
    : ''
  return `      <Ntry>${amountTag(amount.value, amount.currency)}<Sts>BOOK</Sts><BookgDt><Dt>${day}</Dt></BookgDt><ValDt><Dt>${day}</Dt></ValDt><AcctSvcrRef>${id}</AcctSvcrRef><BkTxCd><Prtry><Cd>${payment.sub_type}</Cd></Prtry></BkTxCd><NtryDtls><TxDtls><Refs><AcctSvcrRef>${id}</AcctSvcrRef></Refs>${parties}${remittance}</TxDtls></NtryDtls></Ntry>`
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
/** Text in XML, without the characters that XML cannot hold. */
const xml = (value: string): string =>
  value
    // oxlint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>]/g, (letter) => ESCAPES[letter]!)
