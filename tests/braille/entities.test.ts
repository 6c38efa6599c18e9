// Texts of other services in braille.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/braille.ts'
import { openForTest } from '../open.ts'

const ASK = `query ($of: [_Any!]!) { _entities(representations: $of) {
  ... on Episode { titleBraille transcriptBraille dots: titleBraille(form: DOTS)
    html: titleBraille(form: HTML) images: titleBraille(form: IMAGES) }
  ... on Contribution { headlineBraille display: headlineBraille(form: DISPLAY) } } }`

const episode = (title: string, transcript: string | null = null) => ({
  __typename: 'Episode',
  id: title,
  title,
  transcript,
})

test('titles, transcripts and headlines are written in the form that is asked for, in lines without ends', async () => {
  const service = await openForTest(subgraph)
  const contribution = { __typename: 'Contribution', id: '1', headline: 'Two storks' }

  const { data, errors } = await service.graphql(ASK, {
    of: [episode('Hi', 'One\nTwo'), contribution, episode('Hi')],
  })

  expect(errors).toBeUndefined()
  const shown = {
    titleBraille: '⠠⠓⠊',
    dots: '6 125 24',
    html: '&#x2820;&#x2813;&#x280a;',
    images: expect.stringMatching(
      /^(<img src='http:\/\/polygraph\.test\/img\/braille\/char\/\w\w\.gif'[^>]*>){3}$/,
    ),
  }
  expect(data._entities).toEqual([
    { ...shown, transcriptBraille: '⠠⠐⠕\r\n⠠⠞⠺⠕' },
    { headlineBraille: '⠠⠞⠺⠕⠀⠌⠕⠗⠅⠎', display: ',two /orks' },
    { ...shown, transcriptBraille: null },
  ])
})

test('a long title is one line', async () => {
  const service = await openForTest(subgraph)

  const { data } = await service.graphql(ASK, { of: [episode('storks '.repeat(60).trim())] })

  expect(data._entities[0].titleBraille).toBe('⠌⠕⠗⠅⠎⠀'.repeat(60).slice(0, -1))
})

test('a text that is too long is refused, and nobody is told nothing', async () => {
  const service = await openForTest(subgraph)
  const of = [episode('Hi', 'a'.repeat(200_001))]

  const long = await service.graphql(ASK, { of })
  const nobody = await service.graphql(ASK, { of: [episode('Hi')] }, { credential: null })

  expect(long.errors).toMatchObject([
    { path: ['_entities', 0, 'transcriptBraille'], extensions: { code: 'Invalid', status: 400 } },
  ])
  expect(long.data._entities[0].titleBraille).toBe('⠠⠓⠊')
  expect(nobody.data._entities).toEqual([null])
  expect(nobody.errors?.[0]).toMatchObject({ extensions: { code: 'Unauthenticated' } })
})
