// Composing tells what would break, and does not do it unasked.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { compose, composeFile } from '../../gateway/compose.ts'

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@inaccessible"])\n'
const BOOKS = `${LINK} type Query { book(id: ID!): Book } type Book @key(fields: "id") { id: ID! title: String pages: Int hidden: Int @inaccessible }`
const STARS = `${LINK} type Book @key(fields: "id") { id: ID! stars: Int }`

interface Making {
  readonly hasGit?: boolean
}

/** A folder of two schemas that were composed, and committed where there is git. */
function openFolder({ hasGit = false }: Making = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'polygraph-compose-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'ignore' })
  const write = (name: string, text: string) => writeFileSync(join(folder, `${name}.graphql`), text)
  const read = () => readFileSync(join(folder, 'supergraph.graphql'), 'utf8')
  const run = (...args: string[]) => {
    const said: string[] = []
    return { code: composeFile(args, folder, (line) => said.push(line)), said }
  }
  const commit = () => {
    git('add', '.')
    git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'schemas')
  }
  write('books', BOOKS)
  write('stars', STARS)
  expect(run()).toEqual({ code: 0, said: [] })
  if (hasGit) {
    git('init', '-q')
    commit()
  }
  return { write, read, run, commit, folder }
}

const REFUSAL = 'Nothing was written. If clients can bear it: npm run compose -- --accept-breaking'

test('what would break clients is said and not written', () => {
  const { write, read, run } = openFolder()
  const before = read()
  write('books', BOOKS.replace('title: String', '').replace('id: ID!)', 'id: ID!, shelf: Int!)'))

  const { code, said } = run()

  expect(code).toBe(1)
  expect(said).toEqual([
    'breaks clients: Book.title was removed.',
    'breaks clients: A required arg shelf on Query.book was added.',
    REFUSAL,
  ])
  expect(read()).toBe(before)
})

test('what breaks clients is written where that is accepted', () => {
  const { write, read, run } = openFolder()
  write('books', BOOKS.replace('title: String', ''))

  const { code, said } = run('--accept-breaking')

  expect(code).toBe(0)
  expect(said).toEqual(['breaks clients: Book.title was removed.'])
  expect(read()).not.toContain('title: String')
})

test('what may surprise clients is said and written', () => {
  const { write, read, run } = openFolder()
  write('books', BOOKS.replace('id: ID!)', 'id: ID!, shelf: Int)'))

  const { code, said } = run()

  expect(code).toBe(0)
  expect(said).toEqual(['may surprise clients: An optional arg shelf on Query.book was added.'])
  expect(read()).toContain('shelf: Int')
})

test('what clients do not see breaks nothing: a hidden field, and which service answers', () => {
  const { write, run } = openFolder()
  write('books', BOOKS.replace('hidden: Int @inaccessible', '').replace('pages: Int', ''))
  write('stars', STARS.replace('stars: Int', 'stars: Int pages: Int'))

  expect(run()).toEqual({ code: 0, said: [] })
})

test.skipIf(spawnSync('git', ['--version']).status !== 0)(
  'where there is git, clients know what was committed last, whatever stands in the folder',
  () => {
    const { write, run, commit } = openFolder({ hasGit: true })
    write('books', BOOKS.replace('title: String', ''))
    run('--accept-breaking')

    const before = run()
    commit()
    const after = run()

    expect(before.said).toEqual(['breaks clients: Book.title was removed.', REFUSAL])
    expect(after).toEqual({ code: 0, said: [] })
  },
)

test('what composes only with a hint, and what the gateway cannot serve, is refused', () => {
  const { write, folder, run } = openFolder()
  write('stars', `${LINK} "Another book." type Book @key(fields: "id") { id: ID! stars: Int }`)
  write('books', BOOKS.replace('type Book', '"A book." type Book'))
  write('more', `${LINK} type Subscription { a: Int }`)

  expect(() => run()).toThrow(/Subscription is not served[^]*INCONSISTENT_DESCRIPTION/)
  expect(existsSync(join(folder, 'supergraph.graphql'))).toBe(true)
  expect(() => compose(['books'], folder)).not.toThrow()
})

test('an option that does not exist is refused', () => {
  const { run } = openFolder()

  expect(() => run('--accept')).toThrow("Unknown option '--accept'")
})
