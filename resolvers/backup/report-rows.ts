// What a report holds: the jobs of the last day, or what controls found, as rows in CSV and JSON.
import { REGION } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import type { Kind } from '../kernel/store.ts'
import { frameworkAt, type ReportPlan } from './audit-records.ts'
import { evaluate } from './controls.ts'
import { backupJobs, copyJobs, restoreJobs } from './job-records.ts'
import { batches } from './lists.ts'
import { DAY_MS } from './shapes.ts'

const ROWS_MAX = 10_000

export type Row = Readonly<Record<string, string | number>>

/** Of each job report: the kind of the jobs, and the members that it shows. */
const JOB_REPORTS: Readonly<Record<string, [Kind<any>, readonly string[]]>> = {
  BACKUP_JOB_REPORT: [
    backupJobs,
    [
      'BackupJobId',
      'State',
      'StatusMessage',
      'ResourceArn',
      'ResourceType',
      'BackupVaultName',
      'RecoveryPointArn',
      'CreationDate',
      'CompletionDate',
      'BackupSizeInBytes',
      'IamRoleArn',
    ],
  ],
  COPY_JOB_REPORT: [
    copyJobs,
    [
      'CopyJobId',
      'State',
      'StatusMessage',
      'ResourceArn',
      'ResourceType',
      'SourceRecoveryPointArn',
      'DestinationBackupVaultArn',
      'DestinationRecoveryPointArn',
      'CreationDate',
      'CompletionDate',
      'BackupSizeInBytes',
    ],
  ],
  RESTORE_JOB_REPORT: [
    restoreJobs,
    [
      'RestoreJobId',
      'Status',
      'StatusMessage',
      'ResourceArn',
      'ResourceType',
      'RecoveryPointArn',
      'CreatedResourceArn',
      'CreationDate',
      'CompletionDate',
      'ValidationStatus',
    ],
  ],
}

export async function rowsOf(plan: ReportPlan, ctx: Context): Promise<Row[]> {
  const { ReportTemplate } = plan.ReportSetting
  const jobs = JOB_REPORTS[ReportTemplate]
  const rows = jobs ? await jobRows(plan, jobs, ctx) : await complianceRows(plan, ctx)
  const about = { 'Report Account': plan.Account, 'Report Region': REGION }
  return rows.map((row) => ({ ...about, ...row }))
}

async function jobRows(
  { Account }: ReportPlan,
  [kind, members]: [Kind<any>, readonly string[]],
  ctx: Context,
): Promise<Row[]> {
  const from = ctx.clock.now().getTime() - DAY_MS
  const query = { where: { account: Account }, order: 'createdMs', from }
  const rows: Row[] = []
  for await (const jobs of batches(ctx, kind, query)) {
    for (const job of jobs) {
      rows.push(Object.fromEntries(members.map((member) => [member, job[member] ?? ''])))
    }
    if (rows.length >= ROWS_MAX) break
  }
  return rows.slice(0, ROWS_MAX)
}

async function complianceRows(plan: ReportPlan, ctx: Context): Promise<Row[]> {
  const { ReportTemplate, FrameworkArns = [] } = plan.ReportSetting
  const byResource = ReportTemplate === 'RESOURCE_COMPLIANCE_REPORT'
  const rows: Row[] = []
  for (const arn of FrameworkArns) {
    const framework = await frameworkAt(ctx.store, arn, plan.Account)
    // A framework that was deleted since has nothing to report.
    if (!framework) continue
    for (const { ControlName, ComplianceStatus, Resources } of await evaluate(framework, ctx)) {
      const about = { FrameworkName: framework.FrameworkName, ControlName }
      if (!byResource) {
        const failing = Resources.filter(({ IsCompliant }) => !IsCompliant).length
        const counts = { Evaluated: Resources.length, NonCompliant: failing }
        rows.push({ ...about, ComplianceStatus, ...counts })
      } else {
        for (const { ResourceArn, ResourceType, IsCompliant } of Resources) {
          const status = IsCompliant ? 'COMPLIANT' : 'NON_COMPLIANT'
          rows.push({ ...about, ResourceArn, ResourceType, ComplianceStatus: status })
        }
      }
    }
  }
  return rows.slice(0, ROWS_MAX)
}

/** Rows as RFC 4180 writes them, names first. */
export function csvOf(rows: readonly Row[]): string {
  const names = Object.keys(rows[0] ?? {})
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]!))]
  return lines.map((cells) => `${cells.map(quoted).join(',')}\r\n`).join('')
}

// A program that opens the file must not take the beginning of a cell for a formula.
function quoted(cell: string | number): string {
  const text = typeof cell === 'string' && /^[=+@\t-]/.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

export const jsonOf = (rows: readonly Row[]): string =>
  JSON.stringify({ reportItems: rows }, null, 2)
