import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/braille.ts'
import { openForTest } from '../open.ts'

const PAGE = `query ($language: String, $first: Int, $after: String) {
  brailleTables(language: $language, first: $first, after: $after) {
    totalCount
    nodes { name displayName language grade dots }
    edges { cursor node { name } }
    pageInfo { hasNextPage endCursor }
  }
}`

test('the tables of one language are found with what their metadata say', async () => {
  const service = await openForTest(subgraph)

  const { data, errors } = await service.graphql(PAGE, { language: 'en-us' })

  expect(errors).toBeUndefined()
  expect(data.brailleTables.nodes).toContainEqual({
    name: 'en-us-g2.ctb',
    displayName: 'English, U.S. Grade 2 (ABAE) table',
    language: 'en-US',
    grade: 2,
    dots: 6,
  })
  expect(data.brailleTables.nodes.map(({ name }: any) => name)).toEqual([
    'en-us-comp6.ctb',
    'en-us-comp8.ctb',
    'en-us-g1.ctb',
    'en-us-g2.ctb',
    'en_US-comp8-ext.tbl',
    'en_US.tbl',
  ])
})

test('pages follow each other until all tables were shown once', async () => {
  const service = await openForTest(subgraph)
  const names: string[] = []
  let after: string | null = null

  for (let page = 0; page < 3; page++) {
    const { data } = await service.graphql(PAGE, { first: 50, after })
    names.push(...data.brailleTables.nodes.map(({ name }: any) => name))
    after = data.brailleTables.pageInfo.endCursor
    expect(data.brailleTables.totalCount).toBe(124)
    expect(data.brailleTables.pageInfo.hasNextPage).toBe(page < 2)
  }

  expect(names).toHaveLength(124)
  expect(names).toEqual([...new Set(names)].sort())
})

test('a table that hangs liblouis is not usable', async () => {
  const service = await openForTest(subgraph)

  const { errors } = await service.graphql(
    '{ brailleTranslation(text: "a", table: "ru-litbrl.ctb") { display } }',
  )

  expect(errors?.[0].message).toBe(
    'There is no braille table named ru-litbrl.ctb. The field brailleTables lists them.',
  )
})

test.for([{ first: 0 }, { first: 101 }, { after: 'forged' }])(
  'a page that cannot be is refused: %j',
  async (asked) => {
    const service = await openForTest(subgraph)

    const { errors } = await service.graphql(PAGE, asked)

    expect(errors?.[0].extensions).toMatchObject({ code: 'Invalid', status: 400 })
  },
)

test('a cursor of one language does not fit another', async () => {
  const service = await openForTest(subgraph)
  const { data } = await service.graphql(PAGE, { language: 'en', first: 1 })

  const { errors } = await service.graphql(PAGE, {
    language: 'de',
    after: data.brailleTables.pageInfo.endCursor,
  })

  expect(errors?.[0].extensions.code).toBe('Invalid')
})
