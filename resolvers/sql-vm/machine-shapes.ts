// Machines as they are sent and shown. Specification 3, service V.
import { z } from 'zod'
import { inGroup, resourceLocation, resourceTags } from '../families/arm-paths.ts'
import { oneOf, optional, tags, text } from '../kernel/shape.ts'
import { address, idOf, identified, label, path, port, state, wholeFrom } from './group-shapes.ts'

const VIRTUAL_MACHINE = `${inGroup('Vendor.Compute/virtualMachines')}/{virtualMachineName}`
const PASSWORD_MAX = 256
/** A logical unit of a disk has a number below this. */
const LUNS_MAX = 64
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

const flag = z.boolean()
const hour = wholeFrom(0, 23)
const password = text.max(PASSWORD_MAX, `must be at most ${PASSWORD_MAX} characters`)
const workload = oneOf(['GENERAL', 'OLTP', 'DW'])
const diskChange = oneOf(['NEW', 'EXTEND', 'ADD'])

// Chosen: the ranges that the vendor publishes in words: windows of 1 to 23 hours, a log backup every
// 5 to 60 minutes, kept for 1 to 30 days, patches for 30 to 180 minutes.
const autoPatchingSettings = z.object({
  enable: optional(flag),
  dayOfWeek: optional(oneOf(DAYS)),
  maintenanceWindowStartingHour: optional(hour),
  maintenanceWindowDuration: optional(wholeFrom(30, 180)),
})

const autoBackupSettings = z.object({
  enable: optional(flag),
  enableEncryption: optional(flag),
  retentionPeriod: optional(wholeFrom(1, 30)),
  storageAccountUrl: optional(address),
  storageAccessKey: optional(path),
  password: optional(password),
  backupSystemDbs: optional(flag),
  backupScheduleType: optional(oneOf(['Manual', 'Automated'])),
  fullBackupFrequency: optional(oneOf(['Daily', 'Weekly'])),
  fullBackupStartTime: optional(hour),
  fullBackupWindowHours: optional(wholeFrom(1, 23)),
  logBackupFrequency: optional(wholeFrom(5, 60)),
})

const keyVaultCredentialSettings = z.object({
  enable: optional(flag),
  credentialName: optional(label),
  vendorKeyVaultUrl: optional(address),
  servicePrincipalName: optional(label),
  servicePrincipalSecret: optional(path),
})

const serverConfigurationsManagementSettings = z.object({
  sqlConnectivityUpdateSettings: optional(
    z.object({
      connectivityType: optional(oneOf(['LOCAL', 'PRIVATE', 'PUBLIC'])),
      port: optional(port),
      sqlAuthUpdateUserName: optional(label),
      sqlAuthUpdatePassword: optional(password),
    }),
  ),
  sqlWorkloadTypeUpdateSettings: optional(z.object({ sqlWorkloadType: optional(workload) })),
  sqlStorageUpdateSettings: optional(
    z.object({
      diskCount: optional(wholeFrom(1, LUNS_MAX)),
      startingDeviceId: optional(wholeFrom(0, LUNS_MAX - 1)),
      diskConfigurationType: optional(diskChange),
    }),
  ),
  additionalFeaturesServerConfigurations: optional(
    z.object({ isRServicesEnabled: optional(flag) }),
  ),
})

const sqlStorage = z.object({
  luns: optional(
    z
      .array(wholeFrom(0, LUNS_MAX - 1))
      .max(LUNS_MAX, `must be at most ${LUNS_MAX} units`)
      .refine((luns) => new Set(luns).size === luns.length, 'must not name a unit twice'),
  ),
  defaultFilePath: optional(path),
})

const storageConfigurationSettings = z.object({
  sqlDataSettings: optional(sqlStorage),
  sqlLogSettings: optional(sqlStorage),
  sqlTempDbSettings: optional(sqlStorage),
  diskConfigurationType: optional(diskChange),
  storageWorkloadType: optional(workload),
})

const wsfcDomainCredentials = z.object({
  clusterBootstrapAccountPassword: optional(password),
  clusterOperatorAccountPassword: optional(password),
  sqlServiceAccountPassword: optional(password),
})

/** What a machine shows only when $expand asks for it. */
const children = {
  autoPatchingSettings: optional(autoPatchingSettings),
  autoBackupSettings: optional(autoBackupSettings),
  keyVaultCredentialSettings: optional(keyVaultCredentialSettings),
  serverConfigurationsManagementSettings: optional(serverConfigurationsManagementSettings),
  storageConfigurationSettings: optional(storageConfigurationSettings),
}

export type Child = keyof typeof children
export const CHILDREN = Object.keys(children) as readonly Child[]

const properties = z.object({
  virtualMachineResourceId: optional(idOf(VIRTUAL_MACHINE)),
  sqlVirtualMachineGroupResourceId: optional(path),
  sqlImageOffer: optional(label),
  sqlImageSku: optional(oneOf(['Developer', 'Express', 'Standard', 'Enterprise', 'Web'])),
  sqlServerLicenseType: optional(oneOf(['PAYG', 'AHUB', 'DR'])),
  sqlManagement: optional(oneOf(['Full', 'LightWeight', 'NoAgent'])),
  ...children,
})

/** The body of PUT. */
export const machine = z.object({
  location: resourceLocation,
  tags: optional(resourceTags),
  identity: optional(z.object({ type: optional(oneOf(['SystemAssigned'])) })),
  properties: optional(
    properties.extend({ wsfcDomainCredentials: optional(wsfcDomainCredentials) }),
  ),
})

export type Machine = z.output<typeof machine>
export type MachineProperties = z.output<typeof properties>

const SECRETS: ReadonlySet<string> = new Set([
  'password',
  'storageAccessKey',
  'servicePrincipalSecret',
  'sqlAuthUpdatePassword',
  'storageAccountPrimaryKey',
  'wsfcDomainCredentials',
])

/** What was sent without its passwords and keys, however deep they are. */
export function withoutSecrets<T>(sent: T): T {
  if (typeof sent !== 'object' || sent === null) return sent
  if (Array.isArray(sent)) return sent.map(withoutSecrets) as T
  const shown = Object.entries(sent).filter(([name]) => !SECRETS.has(name))
  return Object.fromEntries(shown.map(([name, value]) => [name, withoutSecrets(value)])) as T
}

export const machineAnswer = z.object({
  ...identified,
  location: text,
  tags: tags.optional(),
  identity: z.object({ type: text, principalId: text }).optional(),
  properties: z.object({
    provisioningState: state,
    virtualMachineResourceId: text.optional(),
    sqlVirtualMachineGroupResourceId: text.optional(),
    sqlImageOffer: text.optional(),
    sqlImageSku: text.optional(),
    sqlServerLicenseType: text.optional(),
    sqlManagement: text.optional(),
    // Of the settings, everything is shown but what is secret.
    autoPatchingSettings: autoPatchingSettings.optional(),
    autoBackupSettings: autoBackupSettings
      .omit({ password: true, storageAccessKey: true })
      .strict()
      .optional(),
    keyVaultCredentialSettings: keyVaultCredentialSettings
      .omit({ servicePrincipalSecret: true })
      .strict()
      .optional(),
    serverConfigurationsManagementSettings: serverConfigurationsManagementSettings.optional(),
    storageConfigurationSettings: storageConfigurationSettings.optional(),
  }),
})
