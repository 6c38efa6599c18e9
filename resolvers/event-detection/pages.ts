// The pages and the refused items of event detection's answers. Specification 3, service T.
import { z } from 'zod'
import { optional, text, whole } from '../kernel/shape.ts'

export const pageInput = {
  nextToken: optional(text),
  maxResults: optional(whole.refine((most) => most >= 1, 'must be 1 or more')),
}

export const pageAnswer = (name: string, summary: z.ZodRawShape) =>
  z.object({ [name]: z.array(z.object(summary)), nextToken: z.string().optional() })

export const errorAnswer = (name: string, itemName: string) =>
  z.object({
    [name]: z.array(
      z.object({ [itemName]: z.string(), errorCode: z.string(), errorMessage: z.string() }),
    ),
  })
