// The example queries, as files in the folder beside this one: shown in GraphiQL, proved by a test.
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('./examples/', import.meta.url)
const ENDING = '.graphql'
/** The comment that a file begins with. */
const COMMENT = /^(?:#.*\n)+/

export interface Example {
  /** That of its file. */
  readonly name: string
  /** What it shows, in a sentence or two. */
  readonly about: string
  readonly query: string
}

/** In the order of their names. */
export const examples: readonly Example[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith(ENDING))
  .toSorted()
  .map((file) => {
    const query = readFileSync(new URL(file, FOLDER), 'utf8')
    const [comment = ''] = COMMENT.exec(query) ?? []
    const about = comment.replaceAll(/^# ?/gm, '').trim().replaceAll('\n', ' ')
    return { name: file.slice(0, -ENDING.length), about, query }
  })
