// Modules that are taken as a whole and put back.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/hsm.ts'
import { openForTest } from '../open.ts'
import { OTHER_SUBSCRIPTION, SUBSCRIPTION } from '../people.ts'
import { refusalOf, restore, restorePart, snapshotCases, take } from '../snapshots.ts'
import { FULL, GONE_MS, MANY, one, PLAIN, putReady, READY_MS, VERSION } from './modules.ts'

const type = 'DedicatedHsm'
const id = `${MANY}/Safe`

snapshotCases({
  type,
  open: () => openForTest(subgraph),
  make: (service) => service.rest(`PUT ${one('Safe')}`, FULL),
  async remove(service, gone) {
    await service.rest(`DELETE ${gone}?${VERSION}`)
    await service.advance(GONE_MS)
  },
  id,
  vacantId: `${MANY}/Other`,
  foreignId: id.replace(SUBSCRIPTION, OTHER_SUBSCRIPTION),
  shown: `location tags zones sku { name } properties { provisioningState stampId
    networkProfile { subnet { id } networkInterfaces { privateIpAddress } } }`,
  readyMs: READY_MS,
  announces: 'hsm.module',
})

test('a module that is put back is set up anew, with interfaces of its own', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'Safe', FULL)
  const { bytes } = await take(service, type, id)

  await restore(service, { type, id: `${MANY}/Copy`, bytes })
  const begun = await service.rest(`GET ${one('Copy')}`)
  await service.advance(READY_MS)
  const ready = await service.rest(`GET ${one('Copy')}`)

  expect(begun.body.properties.provisioningState).toBe('Provisioning')
  expect(ready.body.properties.provisioningState).toBe('Succeeded')
  expect(ready.body.name).toBe('Copy')
  expect(ready.body.properties.networkProfile.networkInterfaces[0].id).toMatch(/\/Copy-nic1$/)
})

test('an id is spelled as the module had it, in whatever case it is asked for', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'Safe', PLAIN)
  const { bytes } = await take(service, type, id.toUpperCase())
  await service.rest(`DELETE ${one('Safe')}`)
  await service.advance(GONE_MS)

  const put = await restore(service, { type, id: id.toUpperCase(), bytes })

  expect(put.id).toBe(id)
})

test('a module that is being deleted is not taken, and none gets a name that it could not have', async () => {
  const service = await openForTest(subgraph)
  await putReady(service, 'Safe', PLAIN)
  const { bytes } = await take(service, type, id)
  await service.rest(`DELETE ${one('Safe')}`)

  await expect(take(service, type, id)).rejects.toThrow('is being deleted')
  const answer = await restorePart(service, { type, id: `${MANY}/a_b`, bytes })

  expect(refusalOf(answer)).toEqual([400, 'Invalid'])
  expect(answer.errors![0].message).toContain('3 to 24 letters')
})
