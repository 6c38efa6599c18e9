// What people read by REST: their own, and what is not theirs, which is not there.
import assert from 'node:assert/strict'
import { GROUP, markOf, type Person } from './people.ts'
import type { Asking } from './questions.ts'

const HSM_VERSION = '2018-10-31-preview'
const STORE_VERSION = '2019-11-01-preview'

interface Place {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** Each of them as who it belongs to has it. */
const PLACES: readonly ((asker: Person, owner: Asking['other']) => Place)[] = [
  (asker, { things }) => ({
    path: `/hsm${things.hsmId}?api-version=${HSM_VERSION}`,
    headers: bearer(asker),
  }),
  (asker, { things }) => ({
    path: `/config-store/subscriptions/${things.subscriptionId}/resourceGroups/${GROUP}/providers/Vendor.AppConfiguration/configurationStores?api-version=${STORE_VERSION}`,
    headers: bearer(asker),
  }),
  (asker, { things }) => ({
    path: `/contributions/1/contributions/${things.waiting}`,
    headers: bearer(asker),
  }),
  (asker, { things }) => ({
    path: `/podcasts/api/v2/playlists/${things.playlist}`,
    headers: asker.apiKey === undefined ? {} : { 'x-vendor-api-key': asker.apiKey },
  }),
]
const CONTRIBUTION = 2

const bearer = ({ token }: Person): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

export async function readByRest(url: string, { person, other }: Asking, at: number) {
  const which = at % PLACES.length
  const isOwn = person.things !== undefined && Math.floor(at / PLACES.length) % 2 === 0
  const owner = isOwn ? (person as Asking['other']) : other
  const { path, headers } = PLACES[which]!(person, owner)
  const response = await fetch(`${url}${path}`, { headers })
  const text = await response.text()
  const isKnown = which === CONTRIBUTION && person.role === 'administrator'
  return {
    sent: path,
    text,
    check() {
      const missing = person.role === 'nobody' ? 401 : 404
      assert.equal(response.status, isOwn || isKnown ? 200 : missing, path)
      if (!isOwn) return
      const marks = [markOf('own', owner.name), markOf('known', owner.name)]
      assert.ok(
        marks.some((mark) => text.includes(mark)),
        `${path} lacks its own mark`,
      )
    },
  }
}
