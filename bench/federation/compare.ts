// Our gateway against stock ApolloGateway and Hive Gateway over the same subgraphs, in turns.
//
// A rate counts the processor time of the gateway's process: in process the subgraphs are part of it,
// over HTTP they are not. Some of it runs alone: node bench/federation/compare.ts ours in-process deep
import { isDeepStrictEqual } from 'node:util'
import { installHive } from '../hive/install.ts'
import { startChild, type Child } from './child.ts'
import type { Loaded } from './client.ts'
import type { Usage } from './contender.ts'
import { askedOf, authorizationOf, QUERIES } from './queries.ts'
import { report, type Measured } from './report.ts'
import { composed } from './subgraphs.ts'

const ROUNDS = 5
/** About how much processor time a contender uses for a query in each round. */
const ROUND_SECONDS = 1.5
const REQUESTS_MIN = 64
const WARM_ROUNDS = 3
const CALLS_MS = 400
/** Which of the requests of a query all must answer alike before anything is measured. */
const COMPARED = [0, 7, 101]

export const CHOICES = {
  contenders: ['ours', 'stock', 'hive', 'bare'],
  ways: ['in-process', 'over-http'],
  queries: Object.keys(QUERIES),
}

/** Ours is started as `npm start` starts it; the others say nothing of flags. */
const FLAGS: Readonly<Record<string, readonly string[]>> = { ours: ['--max-semi-space-size=16'] }

interface Running {
  readonly name: string
  readonly child: Child
  readonly url: string
  readonly canAnswer: boolean
}

/** Whether each target was reached. */
export async function compareGateways(choices = CHOICES): Promise<boolean> {
  const hasHive = choices.contenders.includes('hive') && installHive()
  const names = choices.contenders.filter((name) => name !== 'hive' || hasHive)
  const servers = startChild('subgraph-servers.ts')
  const client = startChild('client.ts')
  const urls = await servers.ask<Record<string, string>>('open')
  const shop = { urls, supergraph: composed(urls) }
  let isGood = true
  for (const way of choices.ways) {
    // Bare asks nobody, so that it is the same either way.
    const those = names.filter((name) => name !== 'bare' || way === 'in-process')
    const running = await Promise.all(those.map((name) => start(name, way, shop)))
    const measured = await measure({ way, running, client, servers, queries: choices.queries })
    isGood = report(way, measured) && isGood
    await Promise.all(running.map(({ child }) => child.stop()))
  }
  await client.stop()
  await servers.stop()
  return isGood
}

async function start(name: string, way: string, shop: object): Promise<Running> {
  const child = startChild('contender.ts', [name, way], FLAGS[name])
  return { name, child, ...(await child.ask<{ url: string; canAnswer: boolean }>('open', shop)) }
}

interface Field {
  readonly way: string
  readonly running: readonly Running[]
  readonly client: Child
  readonly servers: Child
  readonly queries: readonly string[]
}

async function measure(field: Field): Promise<Measured[]> {
  const { way, running, queries } = field
  for (const query of queries) await sameAnswers(query, running)
  const measured: Measured[] = []
  // How many requests fill a round.
  const enough = new Map<Measured, number>()
  for (const one of running) {
    for (const query of queries) {
      const fetches = await fetchesOf(query, one, field)
      const { name } = one
      const of = { name, query, fetches, rates: [], p99sMs: [], memories: [], calls: [] }
      measured.push(of)
      enough.set(of, await warm(one, query, field))
    }
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const query of queries) {
      // Whoever comes later finds the machine warmer, so they take turns in that too.
      for (const one of turned(running, round)) {
        const of = measured.find(({ name, query: its }) => name === one.name && its === query)!
        const { rate, p99Ms, memoryBytes } = await load(one, query, enough.get(of)!, field)
        of.rates.push(rate)
        of.p99sMs.push(p99Ms)
        of.memories.push(memoryBytes)
        if (way === 'in-process' && one.canAnswer) {
          of.calls.push(await one.child.ask('calls', { asked: askedOf(query), ms: CALLS_MS }))
        }
      }
    }
  }
  return measured
}

async function load(
  { child, url }: Running,
  query: string,
  requests: number,
  { client }: Field,
): Promise<{ rate: number; p99Ms: number; memoryBytes: number }> {
  const before = await child.ask<Usage>('usage')
  const { p99Ms } = await client.ask<Loaded>('load', { url, query, requests })
  const { processorMs, memoryBytes } = await child.ask<Usage>('usage')
  return { rate: (requests * 1000) / (processorMs - before.processorMs), p99Ms, memoryBytes }
}

/** Asks until plans are made and code is compiled. Returns how many requests then fill a round. */
async function warm(one: Running, query: string, field: Field): Promise<number> {
  let requests = REQUESTS_MIN
  for (let round = 0; round < WARM_ROUNDS; round += 1) {
    const { rate } = await load(one, query, requests, field)
    requests = Math.max(REQUESTS_MIN, Math.round(rate * ROUND_SECONDS))
  }
  return requests
}

const turned = <T>(list: readonly T[], by: number): T[] =>
  list.map((_, i) => list[(i + by) % list.length]!)

async function sameAnswers(query: string, running: readonly Running[]): Promise<void> {
  for (const i of COMPARED) {
    const answers = await Promise.all(running.map(({ url }) => answerOf(url, query, i)))
    for (const [at, answer] of answers.entries()) {
      if (isDeepStrictEqual(answer, answers[0]) && (answer as any).data) continue
      throw new Error(
        `${running[at]!.name} answers ${query} with ${JSON.stringify(answer)}, and ${running[0]!.name} with ${JSON.stringify(answers[0])}`,
      )
    }
  }
}

async function answerOf(url: string, query: string, i: number): Promise<unknown> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: authorizationOf(i) },
    body: JSON.stringify(askedOf(query)[i]),
  })
  return answer.json()
}

/** How many fetches one request makes, counted where they arrive. */
async function fetchesOf(
  query: string,
  { child, url }: Running,
  { way, servers }: Field,
): Promise<number> {
  const count = async () =>
    way === 'in-process'
      ? (await child.ask<Usage>('usage')).fetches
      : await servers.ask<number>('fetches')
  const before = await count()
  await answerOf(url, query, 0)
  return (await count()) - before
}

if (import.meta.main) {
  const chosen = process.argv.slice(2)
  const known = Object.values(CHOICES).flat()
  const unknown = chosen.filter((word) => !known.includes(word))
  if (unknown.length > 0) {
    console.error(`There is no ${unknown.join(', ')}. There are: ${known.join(', ')}.`)
    process.exit(2)
  }
  const some = (all: string[]) => {
    const named = all.filter((word) => chosen.includes(word))
    return named.length > 0 ? named : all
  }
  const { contenders, ways, queries } = CHOICES
  const isGood = await compareGateways({
    contenders: some(contenders),
    ways: some(ways),
    queries: some(queries),
  })
  process.exit(isGood ? 0 : 1)
}
