// Text as search sees it.
import { expect, test } from 'vitest'
import { termOf, trigramsOf, wordsOf } from '../../resolvers/kernel/text-search.ts'
import { checkOneStatement, dollarsOf, isRead } from '../../resolvers/kernel/sql-text.ts'

test.each([
  ['Crème Brûlée', ['creme', 'brulee']],
  ["don't", ['don', 't']],
  ['C++ & R2-D2', ['c', 'r2', 'd2']],
  ['ﬁne ½ ①', ['fine', '1', '2', '1']],
  ['ΑΘΉΝΑ İstanbul', ['αθηνα', 'istanbul']],
  ['東京 タワー', ['東京', 'タワー']],
  ['— … 😀', []],
])('the words of %s are %j', (text, words) => {
  expect(wordsOf(text)).toEqual(words)
})

test('a word has its groups of three letters, with its ends', () => {
  expect(trigramsOf('john')).toEqual(['__j', '_jo', 'joh', 'ohn', 'hn_'])
  expect(trigramsOf('a')).toEqual(['__a', '_a_'])
})

test('quotes make a phrase, and the last word may be a beginning', () => {
  expect(termOf({ words: 'One "two three" fo', prefix: true, limit: 1 })).toEqual({
    every: [
      { phrase: ['one'], isPrefix: false },
      { phrase: ['two', 'three'], isPrefix: false },
      { phrase: ['fo'], isPrefix: true },
    ],
  })
  expect(termOf({ words: ' " ! ', limit: 1 })).toBeUndefined()
})

test('a query has at most thirty-two words', () => {
  const term = termOf({ words: 'w '.repeat(100), limit: 1 })

  expect(term).toMatchObject({ every: { length: 32 } })
})

test('a question mark is a parameter outside quotes and comments', () => {
  expect(dollarsOf(`a = ? AND b = 'it''s ?' AND "c?" = ? -- ?\n AND d /* ? */ = ?`)).toBe(
    `a = $1 AND b = 'it''s ?' AND "c?" = $2 -- ?\n AND d /* ? */ = $3`,
  )
})

test('one statement may end with a semicolon, and a trigger may hold some', () => {
  expect(() => checkOneStatement(`SELECT ';' ; `)).not.toThrow()
  expect(() =>
    checkOneStatement('CREATE TRIGGER t AFTER INSERT ON a BEGIN b; c; END'),
  ).not.toThrow()
  expect(() => checkOneStatement('DO $a$ BEGIN b; c; END $a$')).not.toThrow()
  expect(() => checkOneStatement('DELETE FROM a; DELETE FROM b')).toThrow('one statement')
})

test('what does not certainly read is taken for a write', () => {
  expect(['SELECT 1', ' select 1', 'VALUES (1)'].map(isRead)).toEqual([true, true, true])
  expect(['WITH a AS (DELETE FROM b) SELECT 1', 'PRAGMA x', 'selection'].map(isRead)).toEqual([
    false,
    false,
    false,
  ])
})
