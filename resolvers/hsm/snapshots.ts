// Modules by their id: read, tagged, taken as a whole and put back. Specification 3, service H.
//
// Chosen: the hardware of a module is not in a snapshot, so that one that is put back is set up anew,
// within the quota of its place.
import type { Accepted } from '../families/arm.ts'
import { armById, armSnapshot, type Make, type Taken } from '../families/arm-snapshots.ts'
import { snapshots, type Restored } from '../families/snapshots.ts'
import { connect, hsm, key } from './dedicated-hsms.ts'
import type { DedicatedHsm } from './shapes.ts'

const TYPE = 'DedicatedHsm'

const taken = snapshots(armSnapshot({ type: TYPE, resource: hsm, names: key, take, put }))

export const operations = [...armById(TYPE, hsm), ...taken.operations]
export const { kinds, steps } = taken

/** Without what comes of its id and of its way. */
async function take({ properties, ...kept }: Accepted<DedicatedHsm>): Promise<Taken> {
  const { statusMessage: _, networkProfile, ...rest } = properties
  const networkInterfaces = networkProfile?.networkInterfaces?.map(({ id: _, ...own }) => own)
  const profile = networkProfile && { ...networkProfile, networkInterfaces }
  return { state: { ...kept, properties: { ...rest, networkProfile: profile } } }
}

async function put({ id, state }: Restored, make: Make<DedicatedHsm>): Promise<void> {
  const { networkProfile, ...properties } = state.properties
  const connected = networkProfile && connect(networkProfile, id)
  await make({ ...state, properties: { ...properties, networkProfile: connected } })
}
