// npm run bench: what speed costs here, as ratios, which other machines can be held to as well.
// npm run bench -- rest graph runs some of them, and those that take many minutes run so alone.
const USUAL = ['rest', 'one-service', 'store', 'identity', 'config-store']
const BENCHES: Readonly<Record<string, () => Promise<() => Promise<boolean>>>> = {
  rest: async () => (await import('./rest.ts')).benchRest,
  graph: async () => (await import('./graph.ts')).benchGraph,
  'one-service': async () => (await import('./graph.ts')).benchOneService,
  examples: async () => (await import('./examples.ts')).benchExamples,
  store: async () => (await import('./store.ts')).benchStore,
  identity: async () => (await import('./identity.ts')).benchIdentity,
  banking: async () => (await import('./banking.ts')).benchBanking,
  'config-store': async () => (await import('./config-store.ts')).benchConfigStore,
  isolation: async () => (await import('./isolation.ts')).benchIsolation,
  relevance: async () => (await import('./relevance.ts')).benchRelevance,
}

process.env.APOLLO_TELEMETRY_DISABLED = '1'
const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !Object.hasOwn(BENCHES, name))
if (unknown.length > 0) {
  console.error(
    `There is no bench ${unknown.join(', ')}. There are: ${Object.keys(BENCHES).join(', ')}.`,
  )
  process.exit(2)
}
console.log('Medians of rounds in turns, with their range. Logs go to /dev/null at level info.')
let areGood = true
for (const name of chosen.length > 0 ? chosen : USUAL) {
  const bench = await BENCHES[name]!()
  areGood = (await bench()) && areGood
}
process.exit(areGood ? 0 : 1)
