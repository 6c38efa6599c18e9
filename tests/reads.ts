// Counts what is read of a store.
import type { Store } from '../resolvers/kernel/store.ts'

export const READS: readonly (keyof Store)[] = [
  'get',
  'getMany',
  'list',
  'listMany',
  'count',
  'sql',
]

/** `wrap` goes around a store; `only` names the methods that count, and a kind narrows to its reads. */
export function countingReads(only: readonly (keyof Store)[] = READS, kind?: string) {
  const counted = { reads: 0 }
  const wrap = (store: Store): Store =>
    new Proxy(store, {
      get(target, name) {
        const member = target[name as keyof Store]
        if (typeof member !== 'function') return member
        return (...asked: any[]) => {
          const isMeant = kind === undefined || asked[0]?.name === kind
          if (isMeant && only.includes(name as keyof Store)) counted.reads += 1
          return (member as any).apply(target, asked)
        }
      },
    })
  return { counted, wrap }
}
