// What detectors do with messages and timers, seen from outside.
import { expect, test } from 'vitest'
import { openPumps, set } from './pumps.ts'

const say = (word: string) => set('said', `$variable.said + '${word} '`)
const always = (eventName: string, ...actions: object[]) => ({ eventName, actions })
const go = (condition: string, nextState: string, ...actions: object[]) => ({
  eventName: `to ${nextState}`,
  condition,
  actions,
  nextState,
})
const READS = 'currentInput("reading")'

/** A model that writes down what happens. */
const SAYING = {
  initialStateName: 'one',
  states: [
    {
      stateName: 'one',
      onEnter: { events: [always('begin', set('said', "'enter-one '"))] },
      onInput: {
        events: [always('say', say('in-one'))],
        transitionEvents: [
          go('$input.reading.pressure == 2', 'two', say('go-two')),
          go('$input.reading.pressure >= 2', 'three', say('go-three')),
        ],
      },
      onExit: { events: [always('leave', say('exit-one'))] },
    },
    {
      stateName: 'two',
      onEnter: { events: [always('arrive', say('enter-two'))] },
      onInput: {
        events: [always('say', say('in-two'))],
        transitionEvents: [go(READS, 'two', say('again'))],
      },
      onExit: { events: [always('leave', say('exit-two'))] },
    },
    { stateName: 'three', onEnter: { events: [always('arrive', say('enter-three'))] } },
  ],
}

const opened = async (definition: object, method = 'BATCH') => {
  const pumps = await openPumps()
  await pumps.createInput()
  const { errors } = await pumps.createModel(definition, { method })
  expect(errors).toBeUndefined()
  return pumps
}

test('events happen in order: of the state, of the way, of leaving, of entering', async () => {
  const { send, detector } = await opened(SAYING)

  await send({ pump: 'a', pressure: 2 })

  expect(await detector('a')).toMatchObject({
    stateName: 'two',
    variables: { said: 'enter-one in-one go-two exit-one enter-two ' },
  })
})

test('the first transition whose condition holds is taken, and one for each message', async () => {
  const { send, detector } = await opened(SAYING)

  await send({ pump: 'a', pressure: 5 }, { pump: 'b', pressure: 2 }, { pump: 'b', pressure: 2 })

  expect((await detector('a')).stateName).toBe('three')
  expect((await detector('b')).variables.said).toBe(
    'enter-one in-one go-two exit-one enter-two in-two again exit-two enter-two ',
  )
})

test.each([
  ['BATCH', { n: 2, seen: false }, 'on'],
  ['SERIAL', { n: 2, seen: true }, 'off'],
])('%s decides conditions at its own time', async (method, variables, stateName) => {
  const { send, detector } = await opened(
    {
      initialStateName: 'on',
      states: [
        {
          stateName: 'on',
          onEnter: { events: [always('begin', set('n', '1'), set('seen', 'false'))] },
          onInput: {
            events: [
              { eventName: 'raise', condition: READS, actions: [set('n', '$variable.n + 1')] },
              { eventName: 'see', condition: '$variable.n == 2', actions: [set('seen', 'true')] },
            ],
            transitionEvents: [go('$variable.n == 2', 'off')],
          },
        },
        { stateName: 'off' },
      ],
    },
    method,
  )

  await send({ pump: 'a' })

  expect(await detector('a')).toMatchObject({ stateName, variables })
})

test('an action whose expression has no value, or none that fits, does nothing', async () => {
  const { send, detector } = await opened({
    initialStateName: 'on',
    states: [
      {
        stateName: 'on',
        onInput: {
          events: [
            always('kept', set('kept', '1')),
            always('missing', set('kept', '$input.reading.pressure')),
            always('list', set('kept', '$input.reading.list')),
            always('late', { setTimer: { timerName: 't', durationExpression: "'soon'" } }),
            always('never', { setTimer: { timerName: 't', durationExpression: '0' } }),
            always('reset', { resetTimer: { timerName: 'constructor' } }),
          ],
        },
      },
    ],
  })

  await send({ pump: 'a', list: [1, 2] })

  expect(await detector('a')).toEqual({ stateName: 'on', variables: { kept: 1 }, timers: {} })
})

const TIMED = {
  initialStateName: 'idle',
  states: [
    {
      stateName: 'idle',
      onInput: {
        events: [
          {
            eventName: 'start',
            condition: '$input.reading.pressure == 1',
            actions: [{ setTimer: { timerName: 'wait', seconds: 60 } }],
          },
          {
            eventName: 'start as asked',
            condition: '$input.reading.pressure == 2',
            actions: [
              { setTimer: { timerName: 'wait', durationExpression: '$input.reading.at * 1.5' } },
            ],
          },
          {
            eventName: 'again',
            condition: '$input.reading.pressure == 3',
            actions: [{ resetTimer: { timerName: 'wait' } }],
          },
          {
            eventName: 'stop',
            condition: '$input.reading.pressure == 4',
            actions: [{ clearTimer: { timerName: 'wait' } }],
          },
        ],
        transitionEvents: [
          go('timeout("wait") && triggerType("Timer")', 'rung', set('rang', 'true')),
        ],
      },
    },
    {
      stateName: 'rung',
      onInput: {
        transitionEvents: [
          go('currentInput("reading")', 'idle', { resetTimer: { timerName: 'wait' } }),
        ],
      },
    },
  ],
}

test('a timer moves its detector at its moment, and not before', async () => {
  const { service, send, detector } = await opened(TIMED)
  await send({ pump: 'a', pressure: 1 })

  await service.advance(59_999)
  const before = await detector('a')
  await service.advance(1)

  expect(before).toEqual({ stateName: 'idle', variables: {}, timers: { wait: 1893456060 } })
  expect(await detector('a')).toEqual({ stateName: 'rung', variables: { rang: true }, timers: {} })
})

test('a timer can last as long as an expression says, rounded down', async () => {
  const { send, detector } = await opened(TIMED)

  await send({ pump: 'a', pressure: 2, at: 5 })

  expect((await detector('a')).timers).toEqual({ wait: 1893456007 })
})

test('a timer that is reset begins anew, and rings once', async () => {
  const { service, send, detector } = await opened(TIMED)
  await send({ pump: 'a', pressure: 1 })
  await service.advance(50_000)
  await send({ pump: 'a', pressure: 3 })

  await service.advance(59_000)
  const before = await detector('a')
  const { body } = await service.rest('GET /detectors/pumps/keyValues?keyValue=a')
  await service.advance(1_000)

  expect(before).toMatchObject({ stateName: 'idle', timers: { wait: 1893456110 } })
  expect(body.detector.lastUpdateTime).toBe(1893456050)
  expect((await detector('a')).stateName).toBe('rung')
})

test('a timer that has elapsed can be reset to what it was set to', async () => {
  const { service, send, detector } = await opened(TIMED)
  await send({ pump: 'a', pressure: 1 })
  await service.advance(60_000)

  await send({ pump: 'a' })

  expect(await detector('a')).toMatchObject({ stateName: 'idle', timers: { wait: 1893456120 } })
})

test('a timer that is cleared does not ring, and one that is set earlier rings earlier', async () => {
  const { service, send, detector } = await opened(TIMED)
  await send({ pump: 'a', pressure: 1 }, { pump: 'b', pressure: 1 })
  await send({ pump: 'a', pressure: 4 }, { pump: 'b', pressure: 2, at: 20 })

  await service.advance(30_000)
  const early = await detector('b')
  await service.advance(60_000)

  expect(early.stateName).toBe('rung')
  expect(await detector('a')).toEqual({ stateName: 'idle', variables: {}, timers: {} })
})

test('a timer that is reset by every message keeps one step of work, not one for each', async () => {
  const { service, send } = await opened(TIMED)
  await send({ pump: 'a', pressure: 1 })
  for (let i = 0; i < 20; i += 1) {
    await service.advance(1_000)
    await send({ pump: 'a', pressure: 3 })
  }

  expect(await service.opened.work.counts()).toEqual({ waiting: 1, parked: 0 })
})

test('the timers of a detector that was deleted ring for nobody', async () => {
  const { service, send, detector } = await opened(TIMED)
  await send({ pump: 'a', pressure: 1 })
  await service.rest('POST /detectors/delete', {
    detectors: [{ messageId: 'm', detectorModelName: 'pumps', keyValue: 'a' }],
  })
  await send({ pump: 'a', pressure: 9 })

  await service.advance(120_000)

  expect(await detector('a')).toEqual({ stateName: 'idle', variables: {}, timers: {} })
  expect(service.mistakes).toEqual([])
})

test('a timer set by an update rings, and one that it does not name does not', async () => {
  const { service, send, detector } = await opened(TIMED)
  await send({ pump: 'a', pressure: 1 }, { pump: 'b', pressure: 1 })
  const update = (messageId: string, keyValue: string, timers: object[]) => ({
    messageId,
    detectorModelName: 'pumps',
    keyValue,
    state: { stateName: 'idle', variables: [], timers },
  })
  await service.rest('POST /detectors', {
    detectors: [update('m1', 'a', [{ name: 'wait', seconds: 600 }]), update('m2', 'b', [])],
  })

  await service.advance(599_000)
  const before = [await detector('a'), await detector('b')]
  await service.advance(1_000)

  expect(before.map(({ stateName }) => stateName)).toEqual(['idle', 'idle'])
  expect((await detector('a')).stateName).toBe('rung')
  expect((await detector('b')).stateName).toBe('idle')
})
