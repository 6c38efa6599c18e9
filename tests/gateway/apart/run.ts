// People with different rights who ask all at once, at one address. No answer may hold what is not its
// reader's to see, and each must hold what is.
import assert from 'node:assert/strict'
import type { Whole } from '../whole.ts'
import { makeLate } from './late.ts'
import { readerOf } from './marks.ts'
import { aliases, alone, othersWritten } from './others.ts'
import { makePeople, type Person, type Things } from './people.ts'
import {
  costly,
  example,
  guarded,
  me,
  own,
  published,
  whose,
  written,
  wrong,
  type Asking,
  type Question,
} from './questions.ts'
import { readByRest } from './rest.ts'

const BATCH = 4
/** Every so many rounds all ask the same in the same tick. */
const TOGETHER_EVERY = 3
/** How many of a hundred questions are in words of their own, so that they have to be planned. */
const NEW_WORDS_PERCENT = 1
/** Of so many questions about one goes the long way though it came before. */
const LONG_EVERY = 5

export interface ApartOptions {
  readonly whole: Whole
  readonly callers: number
  readonly seed: number
  /** Called before each round; no more follow when it says so. */
  readonly goesOn: (round: number) => boolean
}

export interface ApartCounts {
  requests: number
  /** Answers that were read for marks, each of a batch too, by what was asked. */
  readonly answers: Record<string, number>
  /** How often people were told what is their own. */
  ownMarks: number
}

/** Throws, naming the seed and the round, at the first answer that is not as it must be. */
export async function runApart(options: ApartOptions): Promise<ApartCounts> {
  const { whole, seed, goesOn } = options
  const people = await makePeople(whole, options.callers)
  makeLate(whole)
  const owning = people.filter((one): one is Owner => one.things !== undefined)
  const { read } = readerOf(people)
  const counts: ApartCounts = { requests: 0, answers: {}, ownMarks: 0 }
  const chances = people.map((_, at) => chanceOf(seed + at))

  const take = (kind: string, person: Person, sent: string, answer: string) => {
    counts.ownMarks += read(person, sent, answer)
    counts.answers[kind] = (counts.answers[kind] ?? 0) + 1
  }

  async function post(person: Person, sent: string, headers: object = {}) {
    counts.requests += 1
    const response = await fetch(`${whole.url}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(person.token && { authorization: `Bearer ${person.token}` }),
        ...headers,
      },
      body: sent,
    })
    return { status: response.status, text: await response.text() }
  }

  async function askOne(person: Person, question: Question, chance: Chance) {
    const { kind, variables, check } = question
    const isNew = chance(100) < NEW_WORDS_PERCENT
    const query = isNew ? `${question.query} # ${chance(1e9)}` : question.query
    const sent = JSON.stringify({ query, variables })
    // Who wants to know what a query costs goes the long way.
    const headers = chance(LONG_EVERY) === 0 ? { 'x-polygraph-cost': '1' } : {}
    const { text } = await post(person, sent, headers)
    take(kind, person, sent, text)
    checkAs(kind, () => check(JSON.parse(text)), text)
  }

  async function askBatch(person: Person, questions: readonly Question[]) {
    const sent = JSON.stringify(questions.map(({ query, variables }) => ({ query, variables })))
    const { text } = await post(person, sent)
    const answers = JSON.parse(text)
    assert.equal(answers.length, questions.length)
    for (const [at, { kind, check }] of questions.entries()) {
      take(`${kind}, in a batch`, person, sent, JSON.stringify(answers[at]))
      checkAs(kind, () => check(answers[at]), text)
    }
  }

  /** What is no question at all, or asked with a token that is none. */
  async function askBadly(person: Person, chance: Chance) {
    const isToken = chance(2) === 0
    const sent = isToken
      ? JSON.stringify({ query: me(askingOf(person, chance)).query })
      : '{"query":'
    const headers = isToken ? { authorization: `Bearer ${person.token}x` } : {}
    const { status, text } = await post(person, sent, headers)
    take('badly asked', person, sent, text)
    assert.equal(status, isToken ? 401 : 400)
  }

  function askingOf(person: Person, chance: Chance): Asking {
    const others = owning.filter((one) => one !== person)
    const other = others[chance(others.length)]!
    return { person, things: person.things ?? other.things, other }
  }

  async function askAny(person: Person, chance: Chance): Promise<void> {
    const asking = askingOf(person, chance)
    const at = chance(1_000)
    switch (chance(8)) {
      case 0:
        return askBadly(person, chance)
      case 1: {
        counts.requests += 1
        const { sent, text, check } = await readByRest(whole.url, asking, at)
        take('REST', person, sent, text)
        return checkAs('REST', check, text)
      }
      case 2: {
        // None of them writes: they run together, and the others might see that or not.
        const questions = Array.from({ length: BATCH }, () =>
          CHEAP[chance(CHEAP.length)]!(askingOf(person, chance), chance(1_000)),
        )
        return askBatch(person, questions)
      }
      case 3:
        return askOne(person, written(asking), chance)
      case 4:
        return askOne(person, othersWritten(asking, at), chance)
      default:
        return askOne(person, READING[chance(READING.length)]!(asking, at), chance)
    }
  }

  for (let round = 0; goesOn(round); round += 1) {
    const isTogether = round % TOGETHER_EVERY === 0
    const all = people.map((person, at) => {
      const chance = chances[at]!
      const asking = isTogether
        ? askOne(person, TOGETHER[round % TOGETHER.length]!(askingOf(person, chance), 0), chance)
        : askAny(person, chance)
      return asking.catch((cause: Error) => {
        const where = `seed ${seed}, round ${round}, ${person.name}, ${person.role}`
        throw new Error(`${where}: ${cause.message}`, { cause })
      })
    })
    // All have been answered before it is told that one was answered wrongly.
    for (const outcome of await Promise.allSettled(all)) {
      if (outcome.status === 'rejected') throw outcome.reason
    }
  }
  return counts
}

/** Names what was asked, and what was answered, where that is wrong. */
function checkAs(kind: string, check: () => void, text: string): void {
  try {
    check()
  } catch (error) {
    throw new Error(`${kind}: ${(error as Error).message}\nThe answer: ${text}`, { cause: error })
  }
}

type Owner = Person & { readonly things: Things }

type Ask = (asking: Asking, at: number) => Question
/** What may stand beside anything else in one batch, which together may not cost more than one alone. */
const CHEAP: readonly Ask[] = [me, own, guarded, whose, aliases, alone, published, wrong]
const READING: readonly Ask[] = [...CHEAP, example, example, costly]
const TOGETHER: readonly Ask[] = [me, own, guarded, whose, aliases]

/** A whole number below a bound, the same ones for the same seed. */
type Chance = (below: number) => number

function chanceOf(seed: number): Chance {
  let state = Math.imul(seed + 1, 0x9e3779b1) >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
