// Forms and what people answered in them.
import { kind, textOf } from '../kernel/store.ts'

export type FieldType =
  'input' | 'textarea' | 'select' | 'radio' | 'checkbox' | 'media' | 'location'

export interface FormField {
  readonly name: string
  readonly label?: string | undefined
  readonly description?: string | undefined
  readonly type: FieldType
  readonly options?: readonly string[] | undefined
  readonly required: boolean
  readonly public: boolean
  readonly placeholder?: string | undefined
  readonly validator?: 'email' | undefined
}

export interface Form {
  readonly id: string
  readonly ownedBy: string
  readonly name: string
  readonly heading?: string | undefined
  readonly callToAction?: string | undefined
  readonly cssUrl?: string | undefined
  readonly noCss: boolean
  readonly fields: readonly FormField[]
  readonly tags: readonly string[]
}

export interface FormResponse {
  readonly id: string
  readonly user: string
  readonly form: string
  readonly contribution?: string | undefined
  readonly date: string
  readonly responses: Readonly<Record<string, string>>
}

export const forms = kind<Form>('form', {
  key: ({ id }) => id,
  columns: { ownedBy: textOf(({ ownedBy }) => ownedBy) },
  indexes: [['ownedBy']],
})

export const formResponses = kind<FormResponse>('form_response', {
  key: ({ id }) => id,
  columns: {
    user: textOf(({ user }) => user),
    form: textOf(({ form }) => form),
    contribution: textOf(({ contribution }) => contribution),
  },
  indexes: [
    ['user'],
    ['form'],
    ['contribution'],
    ['user', 'form'],
    ['user', 'contribution'],
    ['form', 'contribution'],
    ['user', 'form', 'contribution'],
  ],
})
export const kinds = [forms, formResponses]
