// What is nearly always known at once. Waiting for it all the same would cost more than many answers do.

export type Soon<T> = T | Promise<T>

/** Goes on with a value: now, if it is known. */
export const goOn = <T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> =>
  value instanceof Promise ? value.then(next) : next(value)
