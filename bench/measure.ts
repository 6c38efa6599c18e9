// How a bench measures: two things in turns, many times, so that noise on the machine meets both.

export interface Bench {
  /** What is compared with what, in words. */
  readonly title: string
  /** A large figure is good (`atLeast`), or a small one (`atMost`). */
  readonly atLeast?: number
  readonly atMost?: number
  readonly rounds: number
  /** One round of what is judged, and one of what it is judged by: a rate, or a time. */
  readonly ours: () => Promise<number>
  readonly theirs: () => Promise<number>
  /** What a figure of either counts. */
  readonly unit: string
}

/** Prints the line of a bench, and returns whether it is as good as it must be. */
export async function compare(bench: Bench): Promise<boolean> {
  const { title, atLeast, atMost, rounds, ours, theirs, unit } = bench
  // The first round warms up: code is compiled, caches are filled.
  await ours()
  await theirs()
  const pairs: { our: number; their: number }[] = []
  for (let round = 0; round < rounds; round += 1) {
    // Whoever comes second finds the machine warmer, so they take turns in that too.
    const isFirst = round % 2 === 0
    const early = isFirst ? await ours() : await theirs()
    const late = isFirst ? await theirs() : await ours()
    pairs.push(isFirst ? { our: early, their: late } : { our: late, their: early })
  }
  const ratios = pairs.map(({ our, their }) => our / their)
  const ratio = medianOf(ratios)
  const isGood = ratio >= (atLeast ?? -Infinity) && ratio <= (atMost ?? Infinity)
  const range = `${digits(Math.min(...ratios))}–${digits(Math.max(...ratios))}`
  const bound = atLeast === undefined ? `at most ${atMost}` : `at least ${atLeast}`
  const our = `${digits(medianOf(pairs.map((pair) => pair.our)))} ${unit}`
  const their = `${digits(medianOf(pairs.map((pair) => pair.their)))} ${unit}`
  console.log(
    `${isGood ? 'ok    ' : 'MISSED'} ${title}: ${digits(ratio)} (${range}), must be ${bound}. ${our} against ${their}`,
  )
  return isGood
}

/** The processor time that one call takes, in microseconds: what else runs here does not count. */
export async function processorTime(call: () => unknown, calls: number): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < calls; i += 1) await call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

/** The time that passes for one call, in microseconds, when so many are under way together. */
export async function passedTime(
  call: (i: number) => Promise<unknown>,
  { calls, together }: { calls: number; together: number },
): Promise<number> {
  const startMs = performance.now()
  let next = 0
  const lane = async () => {
    while (next < calls) await call((next += 1))
  }
  await Promise.all(Array.from({ length: together }, lane))
  return ((performance.now() - startMs) * 1000) / calls
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export const digits = (value: number): string =>
  value >= 100 ? String(Math.round(value)) : value.toFixed(2)
