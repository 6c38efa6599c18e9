// What the service remembers of an account's settings.
import { kind, type Records } from '../kernel/store.ts'

export interface Settings {
  readonly Account: string
  /** Whether the account belongs to an organization, without which there are no global settings. */
  readonly IsMember: boolean
  readonly GlobalSettings: Readonly<Record<string, string>>
  readonly LastUpdateTime?: string
  readonly ResourceTypeOptInPreference: Readonly<Record<string, boolean>>
  readonly ResourceTypeManagementPreference: Readonly<Record<string, boolean>>
}

export const settings = kind<Settings>('backup_settings', { key: ({ Account }) => Account })
export const kinds = [settings]

export async function settingsOf(from: Records, Account: string): Promise<Settings> {
  return (
    (await from.get(settings, Account)) ?? {
      Account,
      IsMember: true,
      GlobalSettings: { isCrossAccountBackupEnabled: 'false' },
      ResourceTypeOptInPreference: {},
      ResourceTypeManagementPreference: {},
    }
  )
}

/** Whether an account copies to other accounts. */
export async function isCrossAccount(from: Records, account: string): Promise<boolean> {
  const { IsMember, GlobalSettings } = await settingsOf(from, account)
  return IsMember && GlobalSettings['isCrossAccountBackupEnabled'] === 'true'
}
