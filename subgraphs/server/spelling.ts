// One rule between two spellings: the graph's camelCase and what a service writes.
import type { Dialect, Subgraph } from './subgraph.ts'

/** `BackupVaultName`, `backup_vault_name`, `$top` and `api-version` as the graph spells them. */
export function graphNameOf(name: string): string {
  const joined = name
    .replace(/^\$/, '')
    .replace(/[-_.]+([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
  // A run of capitals is one word: SSMLMessage is ssmlMessage, ARN is arn.
  return joined.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+$|^[A-Z]/, (word) => word.toLowerCase())
}

/** How a service spells a field of the graph. */
export function serviceNameOf(
  name: string,
  { dialect, exceptions = {} }: Pick<Subgraph, 'dialect' | 'exceptions'>,
): string {
  return exceptions[name] ?? respell[dialect.spelling](name)
}

const respell: Record<Dialect['spelling'], (name: string) => string> = {
  camel: (name) => name,
  pascal: (name) => name.charAt(0).toUpperCase() + name.slice(1),
  snake: (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
}
