// What the tests of SQL virtual machines send again and again.
import type { TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'

export const VERSION = 'api-version=2017-03-01-preview'
export const AREA = 'providers/Vendor.SqlVirtualMachine'
export const SUB = `/subscriptions/${SUBSCRIPTION}`
export const RG = `${SUB}/resourceGroups/Data`
export const GROUPS = `${RG}/${AREA}/sqlVirtualMachineGroups`
export const MACHINES = `${RG}/${AREA}/sqlVirtualMachines`
export const GROUP_ID = `${GROUPS}/cluster`
export const LISTENERS = `${GROUP_ID}/availabilityGroupListeners`
export const PLACE = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Data"`

/** How long anything takes until it is Succeeded, and until it is gone. */
export const READY_MS = 1_000
export const GONE_MS = 1_000

export const group = (name: string) => `${GROUPS}/${name}?${VERSION}`
export const machine = (name: string) => `${MACHINES}/${name}?${VERSION}`
export const listener = (name: string) => `${LISTENERS}/${name}?${VERSION}`

export const PLAIN_GROUP = { location: 'westus', properties: {} }
export const FULL_GROUP = {
  location: 'westus',
  tags: { team: 'data' },
  properties: {
    sqlImageOffer: 'SQL2017-WS2016',
    sqlImageSku: 'Enterprise',
    wsfcDomainProfile: {
      domainFqdn: 'corp.example',
      ouPath: 'OU=sql,DC=corp',
      clusterBootstrapAccount: 'boot@corp.example',
      clusterOperatorAccount: 'op@corp.example',
      sqlServiceAccount: 'sql@corp.example',
      fileShareWitnessPath: '\\\\share\\witness',
      storageAccountUrl: 'https://store.example/',
      storageAccountPrimaryKey: 'top-secret-primary',
    },
  },
}

export const PLAIN = { location: 'westus', properties: {} }
export const MEMBER = {
  location: 'westus',
  properties: { sqlVirtualMachineGroupResourceId: GROUP_ID },
}
export const below = (name: string) => `${RG}/providers/Vendor.Compute/virtualMachines/${name}`

export const SETTINGS = {
  autoPatchingSettings: {
    enable: true,
    dayOfWeek: 'Sunday',
    maintenanceWindowStartingHour: 2,
    maintenanceWindowDuration: 60,
  },
  autoBackupSettings: {
    enable: true,
    enableEncryption: true,
    retentionPeriod: 30,
    storageAccountUrl: 'https://store.example/',
    backupSystemDbs: true,
    backupScheduleType: 'Manual',
    fullBackupFrequency: 'Weekly',
    fullBackupStartTime: 0,
    fullBackupWindowHours: 11,
    logBackupFrequency: 60,
  },
  keyVaultCredentialSettings: {
    enable: true,
    credentialName: 'cred',
    vendorKeyVaultUrl: 'https://vault.example/',
    servicePrincipalName: 'principal',
  },
  serverConfigurationsManagementSettings: {
    sqlConnectivityUpdateSettings: {
      connectivityType: 'PRIVATE',
      port: 1433,
      sqlAuthUpdateUserName: 'admin',
    },
    sqlWorkloadTypeUpdateSettings: { sqlWorkloadType: 'OLTP' },
    sqlStorageUpdateSettings: {
      diskCount: 2,
      startingDeviceId: 1,
      diskConfigurationType: 'NEW',
    },
    additionalFeaturesServerConfigurations: { isRServicesEnabled: false },
  },
  storageConfigurationSettings: {
    sqlDataSettings: { luns: [0, 1], defaultFilePath: 'F:\\data' },
    sqlLogSettings: { luns: [2], defaultFilePath: 'G:\\log' },
    sqlTempDbSettings: { luns: [], defaultFilePath: 'D:\\tempDb' },
    diskConfigurationType: 'NEW',
    storageWorkloadType: 'OLTP',
  },
}

export const BASE = {
  virtualMachineResourceId: below('sql-1'),
  sqlImageOffer: 'SQL2017-WS2016',
  sqlImageSku: 'Enterprise',
  sqlServerLicenseType: 'PAYG',
  sqlManagement: 'Full',
}

/** Everything that a machine can be sent, with every secret there is. */
export const FULL = {
  location: 'westus',
  tags: { team: 'data' },
  identity: { type: 'SystemAssigned' },
  properties: {
    ...BASE,
    ...SETTINGS,
    autoBackupSettings: {
      ...SETTINGS.autoBackupSettings,
      password: 'top-secret-backup',
      storageAccessKey: 'top-secret-storage',
    },
    keyVaultCredentialSettings: {
      ...SETTINGS.keyVaultCredentialSettings,
      servicePrincipalSecret: 'top-secret-vault',
    },
    serverConfigurationsManagementSettings: {
      ...SETTINGS.serverConfigurationsManagementSettings,
      sqlConnectivityUpdateSettings: {
        connectivityType: 'PRIVATE',
        port: 1433,
        sqlAuthUpdateUserName: 'admin',
        sqlAuthUpdatePassword: 'top-secret-login',
      },
    },
    wsfcDomainCredentials: {
      clusterBootstrapAccountPassword: 'top-secret-boot',
      clusterOperatorAccountPassword: 'top-secret-op',
      sqlServiceAccountPassword: 'top-secret-sql',
    },
  },
}

const NETWORK = `${RG}/providers/Vendor.Network`

export const FULL_LISTENER = {
  properties: {
    availabilityGroupName: 'orders',
    createDefaultAvailabilityGroupIfNotExist: true,
    port: 1433,
    loadBalancerConfigurations: [
      {
        privateIpAddress: {
          ipAddress: '10.1.0.112',
          subnetResourceId: `${NETWORK}/virtualNetworks/net/subnets/sql`,
        },
        publicIpAddressResourceId: `${NETWORK}/publicIPAddresses/front`,
        loadBalancerResourceId: `${NETWORK}/loadBalancers/balance`,
        probePort: 59983,
        sqlVirtualMachineInstances: [`${MACHINES}/sql-1`, `${MACHINES}/sql-2`],
      },
    ],
  },
}

/** Puts what was asked for and lets it become ready. */
export async function putReady(service: TestService, path: string, body: object) {
  const answer = await service.rest(`PUT ${path}`, body)
  if (answer.status >= 300) throw new Error(answer.body.error.message)
  await service.advance(READY_MS)
  return answer
}

/** A group with two machines in it, all ready. */
export async function putCluster(service: TestService) {
  await putReady(service, group('cluster'), PLAIN_GROUP)
  await service.rest(`PUT ${machine('sql-1')}`, MEMBER)
  await putReady(service, machine('sql-2'), MEMBER)
}

/** Follows an absolute link unchanged, as clients do. */
export function follow(service: TestService, link: string | undefined) {
  const { pathname, search } = new URL(link!)
  return service.rest(`GET ${pathname}${search}`)
}
