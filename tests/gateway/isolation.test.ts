// People who ask all at once are told what is theirs, and nothing of each other. `npm run bench -- isolation`
// is the same with fifty of them for a minute.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runApart } from './apart/run.ts'
import { openWhole, type Whole } from './whole.ts'

const CALLERS = 6
const ROUNDS = 24

let whole: Whole
beforeAll(async () => {
  whole = await openWhole({ POLYGRAPH_DEMO: '0' })
})
afterAll(() => whole.close())

test('no answer holds what is not for its reader, whoever asks beside them', async () => {
  const counts = await runApart({
    whole,
    callers: CALLERS,
    seed: 1,
    goesOn: (round) => round < ROUNDS,
  })

  expect(counts.requests).toBe(CALLERS * ROUNDS)
  expect(counts.ownMarks).toBeGreaterThan(200)
}, 60_000)
