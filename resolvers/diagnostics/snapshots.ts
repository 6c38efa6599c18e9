// Diagnostics by their id: read, taken as a whole and put back. Specification 3, service D.
//
// Chosen: a diagnostic is put back where its service is, or another in whose place it can be; the
// service is not made for it.
import { armById, armSnapshot } from '../families/arm-snapshots.ts'
import { snapshots } from '../families/snapshots.ts'
import { checkPlace, key, resource } from './diagnostics.ts'

const TYPE = 'ApiDiagnostic'

const taken = snapshots(
  armSnapshot({
    type: TYPE,
    resource,
    names: key,
    async put({ id, state }, make, { tx }) {
      await checkPlace(id, state.properties.loggerId, tx)
      await make(state)
    },
  }),
)

export const operations = [...armById(TYPE, resource, { hasTags: false }), ...taken.operations]
export const { kinds, steps } = taken
