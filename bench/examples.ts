// The example queries: what the first asker waits for, who has them planned, and what the next ones cost.
import { examples } from '../gateway/examples.ts'
import { openGateway } from '../gateway/gateway.ts'
import { inProcess } from '../gateway/in-process.ts'
import { openGround } from './ground.ts'
import { processorTime } from './measure.ts'

const FIRST_MAX_MS = 150
/** Each with a gateway that has planned nothing; the best counts, since noise only adds. */
const ROUNDS = 5
const CALLS = 50

export async function benchExamples(): Promise<boolean> {
  const ground = await openGround()
  const { polygraph, caller, url } = ground
  const context = { caller, publicUrl: url, requestId: 'bench', headers: {} }
  const open = () =>
    openGateway({
      isIntrospectable: false,
      sourceOf: (name) =>
        inProcess(polygraph.services.find(({ subgraph }) => subgraph.name === name)!),
    })
  const first = new Map<string, number>(examples.map(({ name }) => [name, Infinity]))
  const again = new Map<string, number>()
  for (let round = 0; round < ROUNDS; round += 1) {
    const gateway = await open()
    for (const { name, query } of examples) {
      const ask = () => gateway.answer({ query }, context)
      // The first round also starts what services start at first use, such as the translator of braille.
      const firstMs = (await processorTime(ask, 1)) / 1_000
      first.set(name, Math.min(first.get(name)!, firstMs))
      if (round === ROUNDS - 1) again.set(name, (await processorTime(ask, CALLS)) / 1_000)
    }
    await gateway.server.stop()
  }
  await ground.close()

  let areGood = true
  for (const { name } of examples) {
    const isGood = first.get(name)! <= FIRST_MAX_MS
    areGood &&= isGood
    const figures = `${first.get(name)!.toFixed(0)} ms, must be at most ${FIRST_MAX_MS}; again ${again.get(name)!.toFixed(1)} ms`
    console.log(`${isGood ? 'ok    ' : 'MISSED'} example ${name}, planned and answered: ${figures}`)
  }
  return areGood
}
