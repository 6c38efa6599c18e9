// What crash-writer.ts writes and crash.test.ts reads.
import { kind, textOf } from '../../resolvers/kernel/store.ts'

export interface Half {
  readonly pair: string
  readonly side: 'left' | 'right'
  readonly filler: string
}

export const half = kind<Half>('half', {
  key: ({ pair, side }) => `${pair}/${side}`,
  columns: { side: textOf(({ side }) => side) },
  indexes: [['side']],
  text: { pair: { of: ({ pair }) => pair, weight: 'A' } },
})
