// Requests of clients with a session are signed by the key of their installation, where they move money.
import type { Context } from '../kernel/context.ts'
import { SignatureRequired } from './errors.ts'

/** What a caller has whose request was signed. */
export const SIGNED = 'banking:signed'

export const isSession = (credentialId: string): boolean =>
  /^installation \d+ session/.test(credentialId)

/** Refuses a client that could have signed its request, and did not. Other credentials have no key to sign with. */
export function checkSigned({ caller }: Context): void {
  if (!isSession(caller.credentialId) || caller.permissions.includes(SIGNED)) return
  throw SignatureRequired(
    'Sign the body of this request, and send it in X-Vendor-Client-Signature.',
  )
}
