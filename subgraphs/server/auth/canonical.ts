// What a signature covers: a request in the one form that signer and verifier both write.
import type { Shown } from '../subgraph.ts'

/** The canonical request without its last line, the hash of the payload. */
export function canonicalHead(shown: Shown, signedHeaders: readonly string[]): string {
  const [path, query] = splitUrl(shown.url)
  let head = `${shown.method}\n${canonicalPath(path)}\n${canonicalQuery(query)}\n`
  for (const name of signedHeaders) {
    const value = shown.headers[name]!
    head += `${name}:${trimmed(typeof value === 'string' ? value : value.join(','))}\n`
  }
  return `${head}\n${signedHeaders.join(';')}`
}

export function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

// Chosen: no segment is resolved (`.`, `..`, an empty one), since our paths have none and the router
// would not resolve it either. What was signed is what is asked.
const canonicalPath = (path: string): string =>
  /^[\w\-.~/]+$/.test(path) ? path : path.split('/').map(encode).join('/') || '/'

function canonicalQuery(query: string): string {
  if (query === '') return ''
  const pairs: { name: string; value: string }[] = []
  for (const pair of query.split('&')) {
    if (pair === '' || pair.startsWith('X-Amz-Signature=')) continue
    const at = pair.indexOf('=')
    pairs.push({
      name: encodePlain(at < 0 ? pair : pair.slice(0, at)),
      value: at < 0 ? '' : encodePlain(pair.slice(at + 1)),
    })
  }
  pairs.sort((a, b) => byBytes(a.name, b.name) || byBytes(a.value, b.value))
  return pairs.map(({ name, value }) => `${name}=${value}`).join('&')
}

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

const encode = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/** Encodes what a client sent plain but signed encoded, such as `(`, and leaves `%28` as it is. */
const encodePlain = (text: string): string =>
  /^[\w\-.~%]*$/.test(text)
    ? text
    : text.replace(/[^\w\-.~%]+/gu, (plain) => encode(plain.replaceAll('+', ' ')))

const trimmed = (value: string): string => value.trim().replace(/\s+/g, ' ')
