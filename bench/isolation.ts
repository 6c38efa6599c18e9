// Fifty people with different rights who ask all at once for a minute: no answer holds what is not for
// its reader. ISOLATION_SECONDS, ISOLATION_CALLERS and ISOLATION_SEED change that.
import { runApart } from '../tests/gateway/apart/run.ts'
import { openWhole } from '../tests/gateway/whole.ts'

const numberOf = (name: string, usual: number) => Number(process.env[name] ?? usual)

export async function benchIsolation(): Promise<boolean> {
  const seconds = numberOf('ISOLATION_SECONDS', 60)
  const callers = numberOf('ISOLATION_CALLERS', 50)
  const seed = numberOf('ISOLATION_SEED', 1)
  const whole = await openWhole({ POLYGRAPH_DEMO: '0' })
  try {
    let untilMs: number | undefined
    const { requests, answers, ownMarks } = await runApart({
      whole,
      callers,
      seed,
      goesOn: () => performance.now() < (untilMs ??= performance.now() + seconds * 1_000),
    })
    const total = Object.values(answers).reduce((sum, count) => sum + count, 0)
    console.log(
      `ok     ${callers} callers for ${seconds} s, seed ${seed}: ${requests} requests, ${total} answers read, none with what is someone else's; ${ownMarks} times people were told what is their own`,
    )
    for (const [kind, count] of Object.entries(answers).toSorted()) {
      console.log(`         ${String(count).padStart(6)} ${kind}`)
    }
    const ways = await (await fetch(`${whole.url}/metrics`)).text()
    for (const [, way, count] of ways.matchAll(
      /^polygraph_graph_queries_total\{way="(\w+)"\} (\d+)/gm,
    )) {
      console.log(`         ${count!.padStart(6)} by the ${way} way`)
    }
    return true
  } catch (error) {
    console.log(`MISSED ${(error as Error).message}`)
    return false
  } finally {
    await whole.close()
  }
}
