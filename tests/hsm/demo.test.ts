// What the demo shows of modules.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/hsm.ts'
import { openForTest } from '../open.ts'
import { people, SUBSCRIPTION } from '../people.ts'
import { AREA, READY_MS, VERSION } from './modules.ts'

test('the demo puts one module into the subscription of its caller, once and again', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const first = await subgraph.demo!(ctx)
  const again = await subgraph.demo!(ctx)
  await service.advance(READY_MS)

  expect(first).toEqual({ hsmName: 'demo-hsm' })
  expect(again).toEqual({ hsmName: 'demo-hsm' })
  const { body } = await service.rest(
    `GET /subscriptions/${SUBSCRIPTION}/${AREA}/dedicatedHSMs?${VERSION}`,
  )
  expect(body.value).toHaveLength(1)
  expect(body.value[0].properties.provisioningState).toBe('Succeeded')
})
