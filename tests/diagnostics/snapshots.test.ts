// Diagnostics that are taken as a whole and put back.
import { expect, test } from 'vitest'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { refusalOf, restore, restorePart, snapshotCases, take } from '../snapshots.ts'
import { FULL, MANY, match, one, openWithApi, PLACE, PLAIN, SERVICE, VERSION } from './apis.ts'

const type = 'ApiDiagnostic'
const id = `${MANY}/monitor`

snapshotCases({
  type,
  open: () => openWithApi(),
  make: (service) => service.rest(`PUT ${one('monitor')}`, FULL),
  remove: (service, gone) => service.rest(`DELETE ${gone}?${VERSION}`, undefined, match()),
  id,
  vacantId: `${MANY}/other`,
  foreignId: id.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION),
  shown: `location tags service { id } properties { loggerId alwaysLog logClientIp verbosity
    httpCorrelationProtocol sampling { samplingType percentage }
    frontend { request { headers body { bytes } } } }`,
  announces: 'diagnostics.diagnostic',
  hasTags: false,
})

test('a diagnostic is not put back where its service is gone, nor where its logger is not', async () => {
  const service = await openWithApi()
  await service.rest(`PUT ${one('monitor')}`, FULL)
  await service.rest(`PUT ${one('plain')}`, PLAIN)
  const { bytes } = await take(service, type, id)
  const plain = await take(service, type, `${MANY}/plain`)
  const second = SERVICE.replace(/shop$/, 'second')
  await service.graphql(
    `mutation { putApiManagementService(${PLACE.replace('shop', 'second')}) { id } }`,
  )

  const nowhere = SERVICE.replace(/shop$/, 'none')
  const parentless = await restorePart(service, { type, id: `${nowhere}/diagnostics/a`, bytes })
  const elsewhere = await restorePart(service, { type, id: `${second}/diagnostics/a`, bytes })
  const fits = await restore(service, { type, id: `${second}/diagnostics/a`, bytes: plain.bytes })

  expect(refusalOf(parentless)).toEqual([404, 'ParentResourceNotFound'])
  expect(refusalOf(elsewhere)).toEqual([400, 'Invalid'])
  expect(fits).toMatchObject({ id: `${second}/diagnostics/a`, isWhole: true })
})

test('a diagnostic that was put back has another etag, since it was written anew', async () => {
  const service = await openWithApi()
  const made = await service.rest(`PUT ${one('monitor')}`, FULL)
  const { bytes } = await take(service, type, id)
  await service.rest(`DELETE ${one('monitor')}`, undefined, match())

  await restore(service, { type, id, bytes })

  const read = await service.rest(`GET ${one('monitor')}`)
  expect(read.headers.etag).not.toBe(made.headers.etag)
})
