import { expect, test } from 'vitest'
import { readSsml } from '../../resolvers/voice/ssml.ts'

// prettier-ignore
const said: [rule: string, markup: string, text: string, pauseMs: number][] = [
  ['words', '<speak>Hello you.</speak>', 'Hello you.', 0],
  ['an XML declaration', '<?xml version="1.0"?><speak>Hello</speak>', 'Hello', 0],
  ['a comment', '<speak>a<!-- <b> & --> b</speak>', 'a b', 0],
  ['entities', '<speak>Tom &amp; &lt;Jerry&gt; &#65;&#x42; &quot;&apos;</speak>', `Tom & <Jerry> AB "'`, 0],
  ['a pause in seconds', '<speak>a<break time="2s"/>b</speak>', 'a b', 2_000],
  ['a pause in milliseconds', "<speak>a<break time='250ms' />b</speak>", 'a b', 250],
  ['a fraction of a second', '<speak>a<break time="1.5s"></break>b</speak>', 'a b', 1_500],
  ['a pause without a length', '<speak>a<break/>b</speak>', 'a b', 500],
  ['a strong pause', '<speak>a<break strength="x-strong"/>b</speak>', 'a b', 1_250],
  ['sentences and paragraphs', '<speak><p><s>a</s><s>b</s></p></speak>', 'a b', 1_750],
  ['another word for a word', '<speak>a <sub alias="b c">bc<w>d</w></sub> e</speak>', 'a b c e', 0],
  ['a bracket in a value', '<speak><sub alias="a > b">c</sub></speak>', 'a > b', 0],
  ['prosody and effects', '<speak><prosody rate="slow"><amazon:effect name="whispered">a</amazon:effect></prosody></speak>', 'a', 0],
]
for (const [rule, markup, text, pauseMs] of said) {
  test(`${rule}: read for what is said`, () => {
    expect(readSsml(markup)).toEqual({ text, pauseMs })
  })
}

// prettier-ignore
const malformed: [rule: string, markup: string, message: string][] = [
  ['no element', 'Hello', 'Text outside of speak at 0.'],
  ['nothing', '', 'There is no element speak.'],
  ['another root', '<p>a</p>', 'There must be one element speak around everything, at 0.'],
  ['two roots', '<speak>a</speak><speak>b</speak>', 'There must be one element speak around everything, at 16.'],
  ['text after the end', '<speak>a</speak> b', 'Text outside of speak at 16.'],
  ['an element without an end', '<speak><p>a', 'The element p has no end.'],
  ['ends in the wrong order', '<speak><p><s>a</p></s></speak>', 'The end of p at 14 fits no beginning.'],
  ['an end without a beginning', '</speak>', 'The end of speak at 0 fits no beginning.'],
  ['an unknown element', '<speak><script>a</script></speak>', '<script> at 7 is no element of speech markup.'],
  ['an attribute without quotes', '<speak><break time=1s/></speak>', '<break time=1s/> at 7 is no element of speech markup.'],
  ['an attribute twice', '<speak><break time="1s" time="2s"/></speak>', 'time is there twice at 7.'],
  ['a tag without an end', '<speak>a<break', 'The tag at 8 has no end.'],
  ['a comment without an end', '<speak>a<!-- b</speak>', '--> is missing after 8.'],
  ['a document type', '<!DOCTYPE speak [<!ENTITY a "b">]><speak>&a;</speak>', 'The tag at 0 has no end.'],
  ['an entity of its own', '<speak>&other;</speak>', 'An ampersand after 7 must be written &amp;.'],
  ['an inherited entity', '<speak>&toString;</speak>', 'An ampersand after 7 must be written &amp;.'],
  ['a bare ampersand', '<speak>a & b</speak>', 'An ampersand after 7 must be written &amp;.'],
  ['half a character', '<speak>&#xD800;</speak>', 'An ampersand after 7 must be written &amp;.'],
  ['a pause that is too long', '<speak><break time="11s"/></speak>', 'The break at 7 must be a time such as 500ms, of 10s at most.'],
  ['a pause that is no time', '<speak><break time="long"/></speak>', 'The break at 7 must be a time such as 500ms, of 10s at most.'],
  ['an unknown strength', '<speak><break strength="toString"/></speak>', 'The break at 7 has an unknown strength.'],
  ['too many elements', `<speak>${'<p>'.repeat(40)}`, 'More than 32 elements deep at 100.'],
]
for (const [rule, markup, message] of malformed) {
  test(`${rule}: refused, with the place`, () => {
    expect(() => readSsml(markup)).toThrow(message)
  })
}

test('a hostile markup of the largest size is read in no time', () => {
  const start = performance.now()

  for (const part of ['<speak ', '<break time="1s" ', '&', '<!--', '<a b="', '<speak a=b ']) {
    expect(() => readSsml(`<speak>${part.repeat(6_000 / part.length)}`)).toThrow()
  }

  expect(performance.now() - start).toBeLessThan(1_000)
})
