// Reads batched by DataLoader, one loader per kind and request.
import DataLoader from 'dataloader'
import type { Context } from './context.ts'
import type { Kind } from './store.ts'

const loaders = new WeakMap<Context, Map<unknown, DataLoader<any, any>>>()

/**
 * Reads one record, together with every other record of its kind asked for in the same tick.
 *
 * A context lives for one request, and so does what its loaders remember: a loader that lived
 * longer would show one caller what another was allowed to see.
 */
export function load<T extends object>(
  ctx: Context,
  kind: Kind<T>,
  key: string,
): Promise<T | undefined> {
  return loadBy(ctx, kind, (keys: readonly string[]) => ctx.store.getMany(kind, keys), key)
}

/** The same for any batched read; `name` says which reads belong together. */
export function loadBy<K, V>(
  ctx: Context,
  name: unknown,
  read: (keys: readonly K[]) => Promise<readonly V[]>,
  key: K,
): Promise<V> {
  let own = loaders.get(ctx)
  if (!own) loaders.set(ctx, (own = new Map()))
  let loader = own.get(name)
  if (!loader) own.set(name, (loader = new DataLoader<any, any>((keys) => read(keys) as any)))
  return loader.load(key)
}
