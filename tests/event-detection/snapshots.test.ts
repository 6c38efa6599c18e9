import { expect, test } from 'vitest'
import { ARN, openPumps, refusalOf, set, type Pumps } from './pumps.ts'

const TIMED = {
  initialStateName: 'on',
  states: [
    {
      stateName: 'on',
      onEnter: {
        events: [
          {
            eventName: 'begin',
            actions: [
              set('n', '$input.reading.pressure'),
              { setTimer: { timerName: 't', seconds: 60 } },
            ],
          },
        ],
      },
      onInput: {
        transitionEvents: [{ eventName: 'ring', condition: 'timeout("t")', nextState: 'rung' }],
      },
    },
    { stateName: 'rung' },
  ],
}

const take = async ({ service }: Pumps, type: string, id: string) => {
  const { data } = await service.graphql(
    `query ($id: ID!) { it: ${type}Snapshot(id: $id) { sha256 sizeBytes parts bytes } }`,
    { id },
  )
  return data.it
}

const restore = ({ service }: Pumps, type: string, id: string, taken: any, isTrial = false) =>
  service.graphql(
    `mutation ($id: ID!, $sha256: String!, $sizeBytes: Int!, $bytes: String!, $isTrial: Boolean) {
      it: restore${type}(id: $id, sha256: $sha256, sizeBytes: $sizeBytes, part: 0, bytes: $bytes, isTrial: $isTrial) {
        id isWhole sha256 } }`,
    { id, sha256: taken.sha256, sizeBytes: taken.sizeBytes, bytes: taken.bytes, isTrial },
  )

const ready = async () => {
  const pumps = await openPumps()
  await pumps.createInput()
  await pumps.createModel(TIMED, { tags: { team: 'water' } })
  await pumps.createAlarm({ watchedResourceIds: ['/x'], tags: { team: 'water' } })
  await pumps.send({ pump: 'a', pressure: 90 }, { pump: 'b', pressure: 1 })
  await pumps.act('snooze', { keyValue: 'b', snoozeDuration: 60, note: 'n' })
  await pumps.service.advance(10_000)
  return pumps
}

const clear = async ({ service }: Pumps) => {
  await service.graphql('mutation { deleteDetectorModel(detectorModelName: "pumps") }')
  await service.graphql('mutation { deleteAlarmModel(alarmModelName: "over") }')
  await service.graphql('mutation { deleteDetectorInput(inputName: "reading") }')
  await service.advance(0)
}

test('a detector model that was deleted with its input comes back as it was, timers and all', async () => {
  const pumps = await ready()
  const id = `${ARN}:detectorModel/pumps`
  const before = await pumps.service.rest('GET /detectors/pumps/keyValues?keyValue=a')
  const taken = await take(pumps, 'detectorModel', id)
  await clear(pumps)

  const { data } = await restore(pumps, 'DetectorModel', id, taken)

  const after = await pumps.service.rest('GET /detectors/pumps/keyValues?keyValue=a')
  const again = await take(pumps, 'detectorModel', id)
  await pumps.service.advance(50_000)
  expect(data.it).toEqual({ id, isWhole: true, sha256: taken.sha256 })
  expect(again).toEqual(taken)
  expect(after.body).toEqual(before.body)
  expect(await pumps.detector('a')).toMatchObject({ stateName: 'rung', variables: { n: 90 } })
  expect(await pumps.send({ pump: 'c', pressure: 5 })).toEqual([])
  expect((await pumps.detector('c')).variables).toEqual({ n: 5 })
})

test('an alarm model that was deleted comes back as it was, snoozes and all', async () => {
  const pumps = await ready()
  const id = `${ARN}:alarmModel/over`
  const before = [await pumps.alarm('a'), await pumps.alarm('b')]
  const taken = await take(pumps, 'alarmModel', id)
  await clear(pumps)

  const { data } = await restore(pumps, 'AlarmModel', id, taken)

  const after = [await pumps.alarm('a'), await pumps.alarm('b')]
  const again = await take(pumps, 'alarmModel', id)
  const watching = await pumps.service.graphql(
    '{ alarmsOfResource(resourceId: "/x") { nodes { keyValue } } }',
  )
  await pumps.service.advance(50_000)
  expect(data.it).toEqual({ id, isWhole: true, sha256: taken.sha256 })
  expect(again).toEqual(taken)
  expect(after).toEqual(before)
  expect(watching.data.alarmsOfResource.nodes).toEqual([{ keyValue: 'a' }, { keyValue: 'b' }])
  expect((await pumps.alarm('b')).alarmState.stateName).toBe('NORMAL')
})

test('a timer that should have rung meanwhile rings when its detector is back', async () => {
  const pumps = await ready()
  const id = `${ARN}:detectorModel/pumps`
  const taken = await take(pumps, 'detectorModel', id)
  await clear(pumps)
  await pumps.service.advance(3_600_000)

  await restore(pumps, 'DetectorModel', id, taken)
  await pumps.service.advance(0)

  expect((await pumps.detector('a')).stateName).toBe('rung')
})

test('a copy under another name has the same state, beside the first', async () => {
  const pumps = await ready()
  const taken = await take(pumps, 'detectorModel', `${ARN}:detectorModel/pumps`)

  const { data } = await restore(pumps, 'DetectorModel', `${ARN}:detectorModel/copy`, taken)

  expect(data.it).toMatchObject({ id: `${ARN}:detectorModel/copy`, isWhole: true })
  expect(await pumps.detector('a', 'copy')).toEqual(await pumps.detector('a', 'pumps'))
})

test('a trial leaves nothing behind', async () => {
  const pumps = await ready()
  const id = `${ARN}:alarmModel/tried`
  const taken = await take(pumps, 'alarmModel', `${ARN}:alarmModel/over`)

  const tried = await restore(pumps, 'AlarmModel', id, taken, true)

  expect(tried.data.it).toMatchObject({ id, isWhole: true })
  const { data } = await pumps.service.graphql(
    `{ alarmModelById(id: "${id}") { name } detectorInput(inputName: "reading") { alarmModelNames } }`,
  )
  expect(data).toEqual({ alarmModelById: null, detectorInput: { alarmModelNames: ['over'] } })
})

test('a model that is there, a name that cannot be and a snapshot of something else are refused', async () => {
  const pumps = await ready()
  const taken = await take(pumps, 'detectorModel', `${ARN}:detectorModel/pumps`)

  const there = await restore(pumps, 'DetectorModel', `${ARN}:detectorModel/pumps`, taken)
  const named = await restore(pumps, 'DetectorModel', `${ARN}:detectorModel/a/b`, taken)
  const reserved = await restore(pumps, 'DetectorModel', `${ARN}:detectorModel/delete`, taken)
  const other = await restore(pumps, 'AlarmModel', `${ARN}:alarmModel/other`, taken)
  const missing = await pumps.service.graphql(
    `{ detectorModelSnapshot(id: "${ARN}:detectorModel/none") { sha256 } }`,
  )

  expect(refusalOf(there)?.code).toBe('Conflict')
  expect(refusalOf(named)?.code).toBe('InvalidRequestException')
  expect(refusalOf(reserved)?.code).toBe('InvalidRequestException')
  expect(refusalOf(other)?.code).toBe('Invalid')
  expect(refusalOf(missing)?.code).toBe('ResourceNotFoundException')
})
