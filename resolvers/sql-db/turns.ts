// Turns at one thing: who comes while another is there waits. Beside specification 3, service Q.

/** Runs what has the same key one after the other, and what has another key beside it. */
export function turnTaker() {
  const last = new Map<string, Promise<unknown>>()
  return async <R>(key: string, run: () => Promise<R>): Promise<R> => {
    const before = last.get(key) ?? Promise.resolve()
    // How the one before ended is for its own caller.
    const own = before.then(run, run)
    last.set(key, own)
    try {
      return await own
    } finally {
      if (last.get(key) === own) last.delete(key)
    }
  }
}
