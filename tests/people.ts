// Two people who do not know each other, and what identity would say of their credentials.
import { createHmac } from 'node:crypto'
import type { Caller } from '../resolvers/kernel/context.ts'
import type { Credentials, SigningScope } from '../subgraphs/server/subgraph.ts'

export const SUBSCRIPTION = '11111111-1111-4111-8111-111111111111'
export const OTHER_SUBSCRIPTION = '22222222-2222-4222-8222-222222222222'
export const ACCOUNT = '111111111111'
export const OTHER_ACCOUNT = '222222222222'

export type Person = 'alice' | 'bob'

export const people: Record<Person, Caller> = {
  alice: {
    kind: 'user',
    userId: 'alice',
    credentialId: 'alice-credential',
    accounts: [
      { id: SUBSCRIPTION, kind: 'SUBSCRIPTION' },
      { id: ACCOUNT, kind: 'ACCOUNT' },
    ],
    permissions: ['*'],
    isAdmin: false,
  },
  bob: {
    kind: 'user',
    userId: 'bob',
    credentialId: 'bob-credential',
    accounts: [
      { id: OTHER_SUBSCRIPTION, kind: 'SUBSCRIPTION' },
      { id: OTHER_ACCOUNT, kind: 'ACCOUNT' },
    ],
    permissions: ['*'],
    isAdmin: false,
  },
}

export const keyOf = (person: Person): string => `key-of-${person}`
export const tokenOf = (person: Person): string => `token-of-${person}`
export const passwordOf = (person: Person): string => `password-of-${person}`
export const signingKeyOf = (person: Person) => ({
  accessKeyId: `AKIA${person.toUpperCase().padEnd(16, '0')}`,
  secretAccessKey: `secret-of-${person}`,
})

const personWith = (shown: string, of: (person: Person) => string): Caller | undefined =>
  Object.keys(people)
    .filter((person) => of(person as Person) === shown)
    .map((person) => people[person as Person])[0]

/** Identity, reduced to what the schemes ask of it. */
export const testCredentials: Credentials = {
  byApiKey: async (_service, key) => personWith(key, keyOf),
  byToken: async (_service, token) => personWith(token, tokenOf),
  byPassword: async (_service, username, password) =>
    username in people && password === passwordOf(username as Person)
      ? people[username as Person]
      : undefined,
  byUser: async (userId) =>
    people[userId as Person] && { ...people[userId as Person], permissions: [] },

  async signingKey({ accessKeyId, date, region, service }: SigningScope) {
    const caller = personWith(accessKeyId, (person) => signingKeyOf(person).accessKeyId)
    if (!caller) return undefined
    const secret = `AWS4${signingKeyOf(caller.userId as Person).secretAccessKey}`
    const key = [date, region, service, 'aws4_request'].reduce<string | Buffer>(
      (key, part) => createHmac('sha256', key).update(part).digest(),
      secret,
    ) as Buffer
    return { key, caller }
  },
}
