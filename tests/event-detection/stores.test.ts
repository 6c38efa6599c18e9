// Messages, timers, alarms and removals on both stores.
import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/event-detection.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import { COUNTING, openPumps, set } from './pumps.ts'

const TIME_MS_MAX = 60_000

describe.each(engines)('on $engine', ({ database }) => {
  const open = async () => {
    const store = await (await database()).open(kindsOf(subgraph), migrationsOf(subgraph))
    const pumps = await openPumps({ store })
    await pumps.createInput()
    return pumps
  }

  test(
    'pumps are followed, listed, alarmed, snoozed and forgotten',
    async () => {
      const { service, createModel, createAlarm, send, detector, alarm, act } = await open()
      await createModel()
      await createAlarm({ watchedResourceIds: ['/x'] })

      await send(
        { pump: 'a', pressure: 90 },
        { pump: 'b', pressure: 1 },
        { pump: 'B', pressure: 95 },
      )
      const page = await service.rest('GET /detectors/pumps?stateName=high&maxResults=1')
      const next = await service.rest(
        `GET /detectors/pumps?stateName=high&maxResults=1&nextToken=${page.body.nextToken}`,
      )
      const watching = await service.graphql(
        '{ alarmsOfResource(resourceId: "/x") { nodes { keyValue } } }',
      )
      await act('snooze', { keyValue: 'a', snoozeDuration: 60 })
      await service.advance(60_000)
      const awake = (await alarm('a')).alarmState.stateName
      await service.graphql('mutation { deleteAlarmModel(alarmModelName: "over") }')
      await service.graphql('mutation { deleteDetectorModel(detectorModelName: "pumps") }')
      await service.advance(0)

      // Keys sort by bytes: capitals come first.
      expect(page.body.detectorSummaries).toMatchObject([{ keyValue: 'B' }])
      expect(next.body.detectorSummaries).toMatchObject([{ keyValue: 'a' }])
      expect(watching.data.alarmsOfResource.nodes).toEqual([
        { keyValue: 'B' },
        { keyValue: 'a' },
        { keyValue: 'b' },
      ])
      expect(awake).toBe('NORMAL')
      expect(await detector('a')).toMatchObject({ __type: 'ResourceNotFoundException' })
      for (const table of ['detector', 'alarm', 'alarm_watch', 'alarm_notification']) {
        const [row] = await service.store.sql(`SELECT count(*) AS n FROM ${table}`)
        expect(Number(row!.n), table).toBe(0)
      }
      expect(service.mistakes).toEqual([])
    },
    TIME_MS_MAX,
  )

  test(
    'messages that many send together are each taken once, whichever key they are for',
    async () => {
      const { service, createModel, send, detector } = await open()
      await createModel()

      await Promise.all(
        Array.from({ length: 120 }, (_, i) => send({ pump: `p${i % 4}`, pressure: 1 })),
      )

      const counts = await Promise.all([0, 1, 2, 3].map((i) => detector(`p${i}`)))
      expect(counts.map(({ variables }) => variables.count)).toEqual([30, 30, 30, 30])
      expect(service.mistakes).toEqual([])
    },
    TIME_MS_MAX,
  )

  test(
    'a model that is changed while messages come loses none: each is evaluated by one version',
    async () => {
      const { service, createModel, send } = await open()
      await createModel({
        initialStateName: 'on',
        states: [
          {
            stateName: 'on',
            onInput: {
              events: [
                { eventName: 'e', condition: 'currentInput("reading")', actions: [set('v', '1')] },
              ],
            },
          },
        ],
      })
      const update = `mutation ($definition: DetectorModelDefinitionInput!) {
        updateDetectorModel(detectorModelName: "pumps", detectorModelDefinition: $definition) { name } }`

      const sending = Array.from({ length: 40 }, (_, i) => send({ pump: `p${i}`, pressure: 1 }))
      const updated = await service.graphql(update, { definition: COUNTING })
      const refused = (await Promise.all(sending)).flat()
      await send(...Array.from({ length: 40 }, (_, i) => ({ pump: `p${i}`, pressure: 1 })))
      await service.advance(0)

      expect(updated.errors).toBeUndefined()
      expect(refused).toEqual([])
      const { body } = await service.rest('GET /detectors/pumps?maxResults=100')
      expect(body.detectorSummaries).toHaveLength(40)
      expect(new Set(body.detectorSummaries.map((it: any) => it.detectorModelVersion))).toEqual(
        new Set(['2']),
      )
      expect(service.mistakes).toEqual([])
    },
    TIME_MS_MAX,
  )
})
