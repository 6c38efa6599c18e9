// What a scope tells of a person. Specification 1, service S1; wire notes.
import type { Profile, User } from './users.ts'

/** Identity scopes, and the claims that each releases. */
export const SCOPE_CLAIMS: Readonly<Record<string, readonly string[]>> = {
  openid: ['sub'],
  profile: [
    'name',
    'family_name',
    'given_name',
    'middle_name',
    'nickname',
    'preferred_username',
    'zoneinfo',
    'locale',
  ],
  email: ['email', 'email_verified'],
  phone: ['phone_number', 'phone_number_verified'],
  address: ['address'],
  'vendor:name': ['name', 'family_name', 'given_name', 'middle_name', 'nickname'],
  'vendor:location': ['vendor:location'],
  'vendor:username': ['preferred_username'],
  'vendor:locale': ['locale'],
  'vendor:zoneinfo': ['zoneinfo'],
  'vendor:push': [],
}

/** The scope that lets a client manage its owner's clients. */
export const CLIENTS_SCOPE = 'clients'

export const SCOPES: readonly string[] = [...Object.keys(SCOPE_CLAIMS), CLIENTS_SCOPE]

/** What the consent page says of a scope. */
export const SCOPE_WORDS: Readonly<Record<string, string>> = {
  openid: 'Know who you are here, by an id',
  profile: 'See your name, user name, language and time zone',
  email: 'See your e-mail address',
  phone: 'See your phone number',
  address: 'See your postal address',
  'vendor:name': 'See your name',
  'vendor:location': 'See your location',
  'vendor:username': 'See your user name',
  'vendor:locale': 'See your language',
  'vendor:zoneinfo': 'See your time zone',
  'vendor:push': 'Sign you in with one tap',
  [CLIENTS_SCOPE]: 'Register and change applications in your name',
}

export interface UserInfo {
  readonly sub: string
  readonly [claim: string]: unknown
}

/** All claims about a person that are known; what is not known is left out. */
export function claimsOf(user: User): UserInfo {
  const profile: Partial<Profile> = user.profile ?? {}
  const claims = {
    name: user.name,
    ...profile,
    email: user.email,
    // No mail is sent from here, so no address was ever verified by one.
    email_verified: false,
    ...(profile.phone_number && { phone_number_verified: false }),
    sub: user.id,
  }
  return Object.fromEntries(
    Object.entries(claims).filter(([, value]) => value !== undefined && value !== null),
  ) as unknown as UserInfo
}

/** The claims that these scopes release. `*` releases all. */
export function releasedBy(scopes: readonly string[], claims: UserInfo): UserInfo {
  if (scopes.includes('*')) return claims
  const released = new Set(scopes.flatMap((scope) => SCOPE_CLAIMS[scope] ?? []))
  const shown = Object.entries(claims).filter(([name]) => name === 'sub' || released.has(name))
  return Object.fromEntries(shown) as unknown as UserInfo
}
