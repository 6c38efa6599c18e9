// What is asked of the shop: three queries, each time of others of its records and by another caller.

export interface Asked {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
}

interface Query {
  readonly text: string
  readonly variablesOf: (i: number) => Asked['variables']
}

/** So many requests differ. With as many connections, some would ask the same at once. */
const VARIANTS = 200
/**
 * Chosen: a round lasts a second, and what a gateway may keep about a caller, such as the notes of ours,
 * about ten. So few callers in a round need as many new notes for each request as ten times as many do
 * who go on asking.
 */
const CALLERS = 20

export const QUERIES: Readonly<Record<string, Query>> = {
  'one-field': {
    text: 'query ($id: ID!) { user(id: $id) { id name } }',
    variablesOf: (i) => ({ id: String(i * 5) }),
  },
  'fan-out': {
    text: `query ($after: Int!) {
      products(first: 20, after: $after) {
        id name price
        isInStock deliveryDays
        rating reviewCount
      }
    }`,
    variablesOf: (i) => ({ after: i * 2 }),
  },
  deep: {
    text: `query ($after: Int!) {
      users(first: 10, after: $after) {
        id name
        reviews(first: 5) {
          id text stars
          product {
            id name price isInStock
            reviews(first: 3) { id stars author { id name city } }
          }
        }
      }
    }`,
    variablesOf: (i) => ({ after: i * 5 }),
  },
}

export const askedOf = (name: string): Asked[] => {
  const { text, variablesOf } = QUERIES[name]!
  return Array.from({ length: VARIANTS }, (_, i) => ({ query: text, variables: variablesOf(i) }))
}

/** Of the callers; a gateway that proves them knows these. */
export const TOKENS = Array.from({ length: CALLERS }, (_, i) => `token-of-caller-${i}`)
export const authorizationOf = (i: number): string => `Bearer ${TOKENS[i % CALLERS]}`
