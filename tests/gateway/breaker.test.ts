import { expect, test } from 'vitest'
import { openBreaker } from '../../gateway/breaker.ts'
import { stillClock } from '../../resolvers/kernel/clock.ts'

function open() {
  const clock = stillClock('2030-01-01T00:00:00Z')
  const breaker = openBreaker(clock)
  const pass = (ms: number) => clock.moveTo(new Date(clock.now().getTime() + ms))
  const fail = (times: number) => {
    for (let i = 0; i < times; i += 1) breaker.failed()
  }
  return { ...breaker, pass, fail }
}

test('after five failures nothing is asked for a second', () => {
  const { fail, pauseMs, pass } = open()

  fail(4)
  expect(pauseMs()).toBe(0)
  fail(1)
  expect(pauseMs()).toBe(1_000)
  pass(999)
  expect(pauseMs()).toBe(1)
})

test('after a pause one request finds out, and others wait as long again', () => {
  const { fail, pauseMs, pass } = open()
  fail(5)

  pass(1_000)

  expect(pauseMs()).toBe(0)
  expect(pauseMs()).toBe(1_000)
})

test('each pause is twice as long as the one before, and none is longer than 30 s', () => {
  const { fail, pauseMs, pass } = open()
  fail(5)
  const pauses = Array.from({ length: 7 }, () => {
    const ms = pauseMs()
    pass(ms)
    pauseMs()
    fail(1)
    return ms
  })

  expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
})

test('failures of requests that were on their way make no pause longer', () => {
  const { fail, pauseMs } = open()

  fail(100)

  expect(pauseMs()).toBe(1_000)
})

test('a success ends the pause, and failures are counted anew', () => {
  const { fail, pauseMs, pass, succeeded } = open()
  fail(5)
  pass(1_000)
  pauseMs()

  succeeded()

  expect(pauseMs()).toBe(0)
  fail(4)
  expect(pauseMs()).toBe(0)
  fail(1)
  expect(pauseMs()).toBe(1_000)
})

test('failures that are not in a row stop nothing', () => {
  const { fail, pauseMs, succeeded } = open()

  fail(4)
  succeeded()
  fail(4)

  expect(pauseMs()).toBe(0)
})
