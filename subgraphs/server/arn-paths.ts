// ARNs in paths. Clients write them percent-encoded or as they are, and either is one parameter.
import type { IncomingMessage } from 'node:http'

const ARN_PARAMETER = /\{\w*arn\}/i
/** How the router tells that there may be something to do. */
const RAW_ARN = '/arn:'

/**
 * Makes one segment of every ARN that stands in a path as it is, by the paths that have a parameter
 * for one. What the client sent stays with the request, since a signature covers that.
 */
export function arnPaths(paths: readonly string[]): (request: IncomingMessage) => string {
  const patterns = paths
    .filter((path) => ARN_PARAMETER.test(path))
    // A longer path says more about where an ARN ends.
    .toSorted((a, b) => literalLength(b) - literalLength(a))
    .map(patternOf)

  return (request) => {
    const url = request.url!
    if (!url.includes(RAW_ARN)) return url
    const [path = '', query] = url.split(/(?=\?)/, 2)
    for (const pattern of patterns) {
      const match = pattern.exec(path)
      if (!match) continue
      request.originalUrl ??= url
      const segments = match.slice(1).map((part) => part.replace(/^arn:.*/, oneSegment))
      return segments.join('') + (query ?? '')
    }
    return url
  }
}

const oneSegment = (arn: string): string => arn.replaceAll('/', '%2F')

const literalLength = (path: string): number => path.replace(/\{\w+\+?\}/g, '').length

/** Captures every part of a path, whether it is a parameter or between two. */
function patternOf(path: string): RegExp {
  const parts = path.split(/(\{\w+\+?\})/).map((part) => {
    if (ARN_PARAMETER.test(part)) return '(.+)'
    return part.startsWith('{') ? '([^/]+)' : `(${part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')})`
  })
  return new RegExp(`^${parts.join('')}(/?)$`)
}
