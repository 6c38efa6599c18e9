// Likes: one for each person who likes a contribution.
import { kind } from '../kernel/store.ts'

export interface Like {
  readonly contribution: string
  readonly user: string
  readonly date: string
}

export const likes = kind<Like>('like', {
  key: ({ contribution, user }) => `${contribution}/${user}`,
})
export const kinds = [likes]
