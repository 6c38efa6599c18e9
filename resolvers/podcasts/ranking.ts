// How well a text fits a query: words by their rarity and place, words that stand together, titles.
//
// The same on both engines: they find what matches, and this puts it in order.
import { wordsOf } from '../kernel/text-search.ts'
import { isCommon } from './words.ts'

export type Field = 'title' | 'author' | 'description' | 'audio'

/** The texts of something that can be found. */
export interface Texts {
  readonly title: string
  readonly author: string
  readonly description: string
  readonly audio: string
}

/** A word of the query, with other words that count as it. */
export interface Wanted {
  readonly word: string
  /** Whether any text of the directory holds it. */
  readonly isKnown: boolean
  /** How rare it is: the logarithm of how many texts there are for each that holds it. */
  readonly rarity: number
  /** Other words and how good each is as this one, from 0 to 1. */
  readonly alike: ReadonlyMap<string, number>
}

const FIELDS: readonly { field: Field; weight: number; usualWords: number }[] = [
  { field: 'title', weight: 6, usualWords: 5 },
  { field: 'author', weight: 3, usualWords: 5 },
  { field: 'description', weight: 1, usualWords: 30 },
  { field: 'audio', weight: 0.3, usualWords: 200 },
]

/** How soon one more occurrence counts for little. */
const SATURATION = 1.5
/** How much a long field makes a word count less, from 0 to 1. */
const LENGTH_SHARE = 0.6
const TOGETHER_IN_TITLE = 0.6
const TOGETHER_ELSEWHERE = 0.35
const TITLE_IS_QUERY = 2
const TITLE_BEGINS = 0.4

/** The words of a title that a query is compared with: it leaves the common ones out as well. */
function tellingOf(words: readonly string[]): readonly string[] {
  const telling = words.filter((word) => !isCommon(word))
  return telling.length > 0 ? telling : words
}

export const rarityOf = (texts: number, all: number): number =>
  Math.log(1 + (all + 1) / (texts + 0.5))

/** A scorer for one query; higher is better, 0 is nothing in common. */
export function scorerOf(
  wanted: readonly Wanted[],
  fields: readonly Field[],
): (texts: Texts) => number {
  const places = new Map<string, { at: number; quality: number }>()
  wanted.forEach(({ word, alike }, at) => {
    for (const [other, quality] of alike) {
      if (!places.has(other)) places.set(other, { at, quality })
    }
    places.set(word, { at, quality: 1 })
  })
  const all = wanted.reduce((sum, { rarity }) => sum + rarity, 0)
  const looked = FIELDS.filter(({ field }) => fields.includes(field))

  return (texts) => {
    const weights = new Float64Array(wanted.length)
    let together = 0
    let titles = 0
    for (const { field, weight, usualWords } of looked) {
      const written = wordsOf(texts[field])
      const words = field === 'title' ? tellingOf(written) : written
      const perHit = weight / (1 - LENGTH_SHARE + (LENGTH_SHARE * words.length) / usualWords)
      let before = -1
      let hits = 0
      let isInOrder = true
      for (const [index, word] of words.entries()) {
        const place = places.get(word)
        if (!place) {
          before = -1
          continue
        }
        weights[place.at]! += perHit * place.quality
        if (before >= 0 && place.at === before + 1) {
          const pair = Math.min(wanted[before]!.rarity, wanted[place.at]!.rarity)
          const worth = field === 'title' ? TOGETHER_IN_TITLE : TOGETHER_ELSEWHERE
          together = Math.max(together, pair * worth * (place.at + 1))
        }
        isInOrder &&= place.at === index
        if (isInOrder) hits += 1
        before = place.at
      }
      if (field === 'title' && hits === wanted.length) {
        titles = words.length === hits ? TITLE_IS_QUERY : TITLE_BEGINS
      }
    }
    let sum = 0
    let covered = 0
    weights.forEach((weight, at) => {
      if (weight === 0) return
      sum += wanted[at]!.rarity * (weight / (SATURATION + weight))
      covered += wanted[at]!.rarity
    })
    return all === 0 ? 0 : (sum + together + titles * all) * (covered / all)
  }
}
