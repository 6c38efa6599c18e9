// What the tests of diagnostics send again and again.
import { subgraph } from '../../subgraphs/diagnostics.ts'
import { openForTest, type OpenOptions, type SendOptions, type TestService } from '../open.ts'
import { SUBSCRIPTION } from '../people.ts'

export const VERSION = 'api-version=2019-12-01-preview'
export const SERVICE = `/subscriptions/${SUBSCRIPTION}/resourceGroups/Web/providers/Vendor.ApiManagement/service/shop`
export const MANY = `${SERVICE}/diagnostics`
export const PLACE = `subscriptionId: "${SUBSCRIPTION}", resourceGroupName: "Web", serviceName: "shop"`

export const one = (id: string) => `${MANY}/${id}?${VERSION}`
export const list = (query: Record<string, string | number> = {}) =>
  `${MANY}?${VERSION}${Object.entries(query)
    .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
    .join('')}`

/** The least that a diagnostic needs. */
export const PLAIN = { properties: { loggerId: '/loggers/monitor' } }

const logged = { headers: ['Content-Type'], body: { bytes: 8192 } }

export const FULL = {
  properties: {
    loggerId: `${SERVICE}/loggers/monitor`,
    alwaysLog: 'allErrors',
    sampling: { samplingType: 'fixed', percentage: 12.5 },
    frontend: { request: logged, response: { headers: [], body: { bytes: 0 } } },
    backend: { request: { body: { bytes: 100 } }, response: logged },
    logClientIp: true,
    httpCorrelationProtocol: 'W3C',
    verbosity: 'verbose',
  },
}

export const match = (etag = '*', options: SendOptions = {}): SendOptions => ({
  ...options,
  headers: { 'if-match': etag },
})

/** A service of diagnostics in which there is one instance of API management. */
export async function openWithApi(options: OpenOptions = {}): Promise<TestService> {
  const service = await openForTest(subgraph, options)
  const { errors } = await service.graphql(
    `mutation { putApiManagementService(${PLACE}, location: "westus") { id } }`,
  )
  if (errors) throw new Error(errors[0].message)
  return service
}
