// How interfaces without a shape of their own refuse: a status and a message.
import type { Dialect } from '../subgraph.ts'

export const plain = (spelling: Dialect['spelling']): Dialect => ({
  spelling,
  refuse: ({ status, message, details }) => ({
    status,
    headers: {},
    body: { message, ...details },
  }),
  refusalSchema: {
    type: 'object',
    properties: { message: { type: 'string' } },
    required: ['message'],
  },
})
