// How the graph is asked, for Prometheus: by which way, with which plan, and what of which subgraph.
import { addTo, histogramLines, newTimed, type Timed } from '../subgraphs/server/timed.ts'
import type { Answer } from './executor/source.ts'

/** `error`: it was answered with errors; `failed`: it was not answered. */
export type FetchOutcome = 'ok' | 'error' | 'failed'
export type FetchFigures = Readonly<Record<FetchOutcome, Timed>>

export interface GraphFigures {
  /** Queries: those that came before in the same words, and those that go through the server. */
  readonly ways: Record<'short' | 'long', number>
  /** Their plans: one that was there, one that had to be made, one that ApolloGateway executes. */
  readonly plans: Record<'ready' | 'made' | 'uncompiled', number>
  fetchesOf(subgraph: string): FetchFigures
  /** In the text format of Prometheus. */
  text(): string
}

export function graphFigures(): GraphFigures {
  const ways = { short: 0, long: 0 }
  const plans = { ready: 0, made: 0, uncompiled: 0 }
  const fetches = new Map<string, FetchFigures>()

  return {
    ways,
    plans,
    fetchesOf(subgraph) {
      let own = fetches.get(subgraph)
      if (!own) {
        own = { ok: newTimed(), error: newTimed(), failed: newTimed() }
        fetches.set(subgraph, own)
      }
      return own
    },
    text() {
      const all = [...fetches].flatMap(([subgraph, own]) =>
        Object.entries(own).map(([outcome, timed]) => ({
          labels: `subgraph="${subgraph}",outcome="${outcome}"`,
          timed,
        })),
      )
      return [
        '# HELP polygraph_graph_queries_total Queries of the graph, by the way that they took.',
        '# TYPE polygraph_graph_queries_total counter',
        ...Object.entries(ways).map(
          ([way, count]) => `polygraph_graph_queries_total{way="${way}"} ${count}`,
        ),
        '# HELP polygraph_graph_plans_total Plans that were executed, by whether they were ready.',
        '# TYPE polygraph_graph_plans_total counter',
        ...Object.entries(plans).map(
          ([plan, count]) => `polygraph_graph_plans_total{plan="${plan}"} ${count}`,
        ),
        '# HELP polygraph_fetches_total Fetches of the gateway, by subgraph and outcome.',
        '# TYPE polygraph_fetches_total counter',
        ...all.map(({ labels, timed }) => `polygraph_fetches_total{${labels}} ${timed.count}`),
        '# HELP polygraph_fetch_seconds How long they took.',
        '# TYPE polygraph_fetch_seconds histogram',
        ...all
          .filter(({ timed }) => timed.count > 0)
          .flatMap(({ labels, timed }) => histogramLines('polygraph_fetch_seconds', labels, timed)),
        '',
      ].join('\n')
    },
  }
}

export const outcomeOf = ({ data, errors }: Answer): FetchOutcome =>
  errors?.length || !data ? 'error' : 'ok'

export const countFetch = (figures: FetchFigures, outcome: FetchOutcome, ms: number): void =>
  addTo(figures[outcome], ms)
