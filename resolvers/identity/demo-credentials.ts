// The demo's credentials, kept so that `npm run credentials` can show them. They exist in a demo alone.
import type { Context } from '../kernel/context.ts'
import { operation } from '../kernel/operation.ts'
import { json } from '../kernel/shape.ts'
import { kind } from '../kernel/store.ts'

interface DemoCredentials {
  readonly sealed: string
}

const ABOUT = 'demo'
export const demoCredentials = kind<DemoCredentials>('demo_credentials', { key: () => ABOUT })
export const kinds = [demoCredentials]

export const operations = [
  operation({
    name: 'demoCredentials',
    access: 'services',
    input: {},
    async run(_input, ctx: Context) {
      const kept = await ctx.store.get(demoCredentials, ABOUT)
      return kept ? JSON.parse(ctx.secrets.open(kept.sealed, ABOUT)) : null
    },
  }),
  operation({
    name: 'keepDemoCredentials',
    access: 'services',
    input: { credentials: json },
    async run({ credentials }, ctx: Context) {
      const sealed = ctx.secrets.seal(JSON.stringify(credentials), ABOUT)
      await ctx.store.save(demoCredentials, { sealed })
      return true
    },
  }),
]
