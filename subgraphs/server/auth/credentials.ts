// What identity knows about credentials, remembered for seconds: revoking takes effect within them.
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../resolvers/kernel/clock.ts'
import type { Caller } from '../../../resolvers/kernel/context.ts'
import type { Soon } from '../../../resolvers/kernel/soon.ts'
import type { Credentials, SigningKey, SigningScope } from '../subgraph.ts'

/** A revoked credential is refused everywhere after this, and revocation promises five seconds. */
const REMEMBERED_MS = 4_000
const REMEMBERED_MAX = 20_000

const CALLER = '{ kind userId credentialId accounts { id kind } permissions isAdmin }'
const QUESTIONS = {
  byApiKey: `query ($service: String!, $keyHash: String!) {
    answer: callerByApiKey(service: $service, keyHash: $keyHash) ${CALLER} }`,
  byToken: `query ($service: String!, $tokenHash: String!) {
    answer: callerByToken(service: $service, tokenHash: $tokenHash) ${CALLER} }`,
  byJwt: `query ($service: String!, $token: String!) {
    answer: callerByJwt(service: $service, token: $token) ${CALLER} }`,
  byPassword: `query ($service: String!, $username: String!, $password: String!) {
    answer: callerByPassword(service: $service, username: $username, password: $password) ${CALLER} }`,
  byUser: `query ($userId: String!) { answer: callerByUser(userId: $userId) ${CALLER} }`,
  signingKey: `query ($accessKeyId: String!, $date: String!, $region: String!, $service: String!) {
    answer: signingKey(accessKeyId: $accessKeyId, date: $date, region: $region, service: $service) {
      key sessionTokenHash expiresMs caller ${CALLER} } }`,
}

/** Identity alone checks the signature, and whether what the token stands for has ended. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/

type Question = keyof typeof QUESTIONS
type Asked = readonly [Question, Record<string, string>]

/** Asks identity's subgraph, as one service asks another. */
export type AskIdentity = (
  query: string,
  variables: Record<string, string>,
) => Promise<{ answer: unknown }>

export function openCredentials(ask: AskIdentity, wallClock: Clock): Credentials {
  const remembered = new LRUCache<string, { found: unknown; untilMs: number }>({
    max: REMEMBERED_MAX,
  })
  const asking = new Map<string, Promise<unknown>>()

  // What is not known is not remembered, so that a new credential works at once.
  async function askFor(name: string, [question, variables]: Asked) {
    try {
      const { answer } = await ask(QUESTIONS[question], variables)
      if (!answer) return undefined
      const untilMs = wallClock.now().getTime() + REMEMBERED_MS
      remembered.set(name, { found: answer, untilMs })
      return answer
    } finally {
      asking.delete(name)
    }
  }

  /** `name` says what was shown. Nearly every request finds its caller by it, without waiting. */
  function lookUp<T>(name: string, asked: () => Asked): Soon<T | undefined> {
    const kept = remembered.get(name)
    if (kept && kept.untilMs > wallClock.now().getTime()) return kept.found as T
    // Many requests with one credential at the same time cost one question.
    let answer = asking.get(name)
    if (!answer) asking.set(name, (answer = askFor(name, asked())))
    return answer as Promise<T | undefined>
  }

  return {
    byApiKey: (service, key) =>
      lookUp(`key ${service} ${key}`, () => ['byApiKey', { service, keyHash: hashOf(key) }]),
    byToken: (service, token) =>
      lookUp(`token ${service} ${token}`, () =>
        JWT.test(token)
          ? ['byJwt', { service, token }]
          : ['byToken', { service, tokenHash: hashOf(token) }],
      ),
    byPassword: (service, username, password) =>
      lookUp(`password ${JSON.stringify([service, username, password])}`, () => [
        'byPassword',
        { service, username, password },
      ]),
    byUser: (userId) => lookUp(`user ${userId}`, () => ['byUser', { userId }]),

    async signingKey(scope) {
      const found = await lookUp<DerivedSigningKey>(`signing ${nameOf(scope)}`, () => [
        'signingKey',
        { ...scope },
      ])
      if (!found) return undefined
      const { key, caller, sessionTokenHash, expiresMs } = found
      return {
        key: Buffer.from(key, 'base64'),
        caller,
        ...(sessionTokenHash && { sessionTokenHash }),
        ...(expiresMs && { expiresMs }),
      } satisfies SigningKey
    },
  }
}

interface DerivedSigningKey {
  readonly key: string
  readonly caller: Caller
  readonly sessionTokenHash: string | null
  readonly expiresMs: number | null
}

const nameOf = ({ accessKeyId, date, region, service }: SigningScope): string =>
  `${accessKeyId} ${date} ${region} ${service}`

const hashOf = (secret: string): string => hash('sha256', secret, 'hex')
