// What the comparison of gateways says, and what ours must reach.
import { digits, medianOf } from '../measure.ts'

/** One contender with one query, round by round. */
export interface Measured {
  readonly name: string
  readonly query: string
  readonly fetches: number
  /** Requests in a second of processor time. */
  readonly rates: number[]
  readonly p99sMs: number[]
  readonly memories: number[]
  /** Calls without HTTP in a second of processor time, where there are such. */
  readonly calls: number[]
}

/** How many times as many requests as each of the others ours must answer. */
const TARGETS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'in-process': { stock: 8 },
  'over-http': { stock: 3.5, hive: 6 },
}
const MEBIBYTE = 1024 * 1024

/** Prints what was measured one way, and returns whether ours reached every target. */
export function report(way: string, measured: readonly Measured[]): boolean {
  const verdicts: boolean[] = []
  function judge(isGood: boolean, line: string): void {
    console.log(`${isGood ? 'ok    ' : 'MISSED'} ${line}`)
    verdicts.push(isGood)
  }
  for (const [query, list] of Map.groupBy(measured, ({ query }) => query)) {
    const title = `graph ${way} ${query}`
    for (const one of list) console.log(`       ${title}: ${lineOf(one)}`)
    const ours = list.find(({ name }) => name === 'ours')
    if (!ours) continue
    for (const theirs of list.filter((one) => one !== ours)) {
      const ratios = ratiosOf(ours.rates, theirs.rates)
      const line = `${title}: ${spread(ratios)} times the requests of ${theirs.name}`
      const target = TARGETS[way]?.[theirs.name]
      if (target === undefined) console.log(`       ${line}`)
      else judge(medianOf(ratios) >= target, `${line}, must be at least ${target}`)
    }
    const stock = list.find(({ name }) => name === 'stock')
    if (!stock) continue
    if (ours.calls.length > 0) {
      const ratios = ratiosOf(ours.calls, stock.calls)
      console.log(`       ${title}: ${spread(ratios)} times the calls of stock without HTTP`)
    }
    const [p99, stocks] = [ours, stock].map(({ p99sMs }) => medianOf(p99sMs))
    judge(p99! <= stocks!, `${title}: p99 ${p99} ms, must be at most stock's ${stocks} ms`)
  }
  judgeMemory(way, measured, judge)
  return verdicts.every(Boolean)
}

function judgeMemory(
  way: string,
  measured: readonly Measured[],
  judge: (isGood: boolean, line: string) => void,
): void {
  const byName = Map.groupBy(measured, ({ name }) => name)
  const memories = new Map(
    [...byName].map(([name, list]) => [name, medianOf(list.flatMap(({ memories }) => memories))]),
  )
  const line = `graph ${way}: memory ${[...memories].map(([name, bytes]) => `${name} ${Math.round(bytes / MEBIBYTE)} MiB`).join(', ')}`
  const ours = memories.get('ours')
  const stock = memories.get('stock')
  if (ours === undefined || stock === undefined) console.log(`       ${line}`)
  else judge(ours <= stock, `${line}; ours must have at most stock's`)
}

function lineOf({ name, fetches, rates, p99sMs, calls }: Measured): string {
  const withoutHttp = calls.length > 0 ? `, ${spread(calls)} without HTTP` : ''
  return `${name} ${spread(rates)} a second of processor time${withoutHttp}, p99 ${medianOf(p99sMs)} ms, ${fetches} ${fetches === 1 ? 'fetch' : 'fetches'}`
}

const ratiosOf = (ours: readonly number[], theirs: readonly number[]): number[] =>
  ours.map((our, round) => our / theirs[round]!)

const spread = (values: readonly number[]): string =>
  `${digits(medianOf(values))} (${digits(Math.min(...values))}–${digits(Math.max(...values))})`
