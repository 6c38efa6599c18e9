import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/event-detection.ts'
import { openForTest } from '../open.ts'
import { people } from '../people.ts'

test('the demo is a pump under high pressure, its detector and its alarm', async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })

  const names = await subgraph.demo!(ctx)

  expect(names).toEqual({
    inputName: 'pumpReading',
    alarmModelName: 'pump-over-pressure',
    alarmKey: 'pump-4',
    detectorModelName: 'pump-pressure',
    detectorKey: 'pump-4',
  })
  const { data } = await service.graphql(
    `query ($detectorModelName: String!, $alarmModelName: String!, $inputName: String!,
        $detectorKey: String, $alarmKey: String) {
      detectorInput(inputName: $inputName) { detectorModelNames alarmModelNames }
      detector(detectorModelName: $detectorModelName, keyValue: $detectorKey) {
        state { stateName variables { name value } timers { name timestamp } }
        detectorModel { name tags warnings }
      }
      alarm(alarmModelName: $alarmModelName, keyValue: $alarmKey) {
        stateName severity detectors { keyValue }
      }
    }`,
    names,
  )
  expect(data).toEqual({
    detectorInput: {
      detectorModelNames: ['pump-pressure'],
      alarmModelNames: ['pump-over-pressure'],
    },
    detector: {
      state: {
        stateName: 'high',
        variables: [
          { name: 'readings', value: '3' },
          { name: 'peak', value: '88' },
        ],
        timers: [{ name: 'silence', timestamp: '2030-01-01T00:10:00.000Z' }],
      },
      detectorModel: {
        name: 'pump-pressure',
        tags: { building: 'four', environment: 'demo' },
        warnings: [],
      },
    },
    alarm: { stateName: 'ACTIVE', severity: 2, detectors: [{ keyValue: 'pump-4' }] },
  })
})

test('a pump that falls silent is unknown after ten minutes, and steady when it is heard again', async () => {
  const service = await openForTest(subgraph)
  await subgraph.demo!(service.opened.contextFor(people.alice, { address: '', headers: {} }))
  const stateName = async () => {
    const { body } = await service.rest('GET /detectors/pump-pressure/keyValues?keyValue=pump-4')
    return body.detector.state.stateName
  }

  await service.advance(599_000)
  const waiting = await stateName()
  await service.advance(1_000)
  const silent = await stateName()
  const payload = JSON.stringify({ pumpId: 'pump-4', pressure: 40 })
  await service.rest('POST /inputs/messages', {
    messages: [{ messageId: 'm', inputName: 'pumpReading', payload }],
  })

  expect([waiting, silent, await stateName()]).toEqual(['high', 'unknown', 'steady'])
})
