// Waiting for what runs on, as published management clients do it: as long as each answer asks.
import { expect } from 'vitest'
import type { TestService } from './open.ts'

export const POLLS_MAX = 10

/** The words that end a polling loop, whatever their case. */
export const TERMINAL = new Set(['succeeded', 'failed', 'canceled'])

export type Answer = Awaited<ReturnType<TestService['rest']>>

interface Polling {
  readonly first: Answer
  readonly ask: () => Promise<Answer>
  readonly isDone: (answer: Answer) => boolean
}

/** Waits as long as the answer asks, which it must. */
export async function wait(service: TestService, { headers }: Answer): Promise<void> {
  expect(headers['retry-after']).toBe('1')
  await service.advance(Number(headers['retry-after']) * 1000)
}

/** Polls until `isDone`, and returns the last answer and how many were needed. */
export async function poll(service: TestService, { first, ask, isDone }: Polling) {
  let answer = first
  for (let polls = 1; polls <= POLLS_MAX; polls++) {
    await wait(service, answer)
    answer = await ask()
    if (isDone(answer)) return { answer, polls }
  }
  throw new Error('the operation does not end')
}
