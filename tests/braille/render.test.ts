import { expect, test } from 'vitest'
import { cellOfAscii, displayOf, dotsOf, imagesOf } from '../../resolvers/braille/render.ts'

const SIX_DOT_CELLS = Array.from({ length: 64 }, (_, i) => String.fromCharCode(0x2800 + i))

test('braille ASCII is the North American table in lower case', () => {
  expect(displayOf(['⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚', '⠠⠐⠹⠬⠿⠲⠀'])).toBe('abcdefghij\r\n,"?+=4 \r\n')
})

test('every cell of six dots has a braille ASCII character of its own, which leads back', () => {
  const signs = Array.from(displayOf([SIX_DOT_CELLS.join('')]).slice(0, 64))

  expect(new Set(signs).size).toBe(64)
  expect(signs.map(cellOfAscii)).toEqual(SIX_DOT_CELLS)
  expect(signs.map((sign) => cellOfAscii(sign.toUpperCase()))).toEqual(SIX_DOT_CELLS)
})

test('the other case of the signs at the end of the table is the same cell', () => {
  expect(['`', '{', '|', '}', '~'].map(cellOfAscii)).toEqual(['⠈', '⠪', '⠳', '⠻', '⠘'])
  expect(['@', '[', '\\', ']', '^'].map(cellOfAscii)).toEqual(['⠈', '⠪', '⠳', '⠻', '⠘'])
  expect(cellOfAscii('é')).toBeUndefined()
  expect(cellOfAscii('\u007f')).toBeUndefined()
})

test('dots 7 and 8 are named, and left out of braille ASCII', () => {
  expect(dotsOf(['⣿⡁'])).toEqual(['12345678', '17', '\r', '\n'])
  expect(displayOf(['⣿⡁'])).toBe('=a\r\n')
})

test('an address cannot break out of an image tag', () => {
  expect(imagesOf(['⠁'], "http://a'onerror='x")[0]).toContain(
    "src='http://a&#39;onerror=&#39;x/img/braille/char/01.gif' alt=",
  )
})
