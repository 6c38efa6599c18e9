// A client in a process of its own, so that it does not eat the server's time.
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'

const AUTOCANNON = createRequire(import.meta.url).resolve('autocannon/autocannon.js')
const CONNECTIONS = 16
const SECONDS = 2

export interface Request {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Requests answered in a second of this process's processor time, which what else runs on the machine
 * does not change much. Throws if one was answered with other than success.
 */
export async function rateOf({
  url,
  method = 'GET',
  headers = {},
  body,
}: Request): Promise<number> {
  const flags = ['-j', '-n', '-c', String(CONNECTIONS), '-d', String(SECONDS), '-m', method]
  for (const [name, value] of Object.entries(headers)) flags.push('-H', `${name}=${value}`)
  if (body !== undefined) flags.push('-b', body)
  const before = process.cpuUsage()
  const { stdout } = await promisify(execFile)(process.execPath, [AUTOCANNON, ...flags, url])
  const { user, system } = process.cpuUsage(before)
  const { requests, non2xx, errors } = JSON.parse(stdout)
  if (non2xx + errors > 0) {
    throw new Error(`${method} ${url} was refused ${non2xx} times and broke ${errors} times`)
  }
  return requests.total / ((user + system) / 1e6)
}
