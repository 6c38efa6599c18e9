// What is kept of assignments, contributions and media. Specification 1, service S2.
import { kind, textOf } from '../kernel/store.ts'
import type { Place } from './places.ts'
import type { StateId } from './moderation-states.ts'

/** What people are asked to contribute to. All but its fundraiser stays as it was made. */
export interface Assignment {
  readonly id: string
  /** Whose it is; the contributions to it are in this person's jurisdiction. */
  readonly owner: string
  readonly name: string
  readonly description?: string | undefined
  readonly urlWords: string
  readonly receiptMessage?: string | undefined
  /** A credential, or a person, that may moderate beside the owner. */
  readonly moderator?: string | undefined
  readonly created: string
  readonly starts?: string | undefined
  readonly ends?: string | undefined
  /** Before this moment nothing that was contributed is public. */
  readonly embargo?: string | undefined
  readonly featured: boolean
  readonly mediaRequired: boolean
  readonly allowsAnonymousContributions: boolean
  /** A media file. */
  readonly cover?: string | undefined
  readonly tags: readonly string[]
  /** The fundraiser that it supports, by the number that the bank gave it. */
  readonly fundraiser?: string | undefined
}

export interface Contribution {
  readonly id: string
  /** Who contributed it, also where the public does not learn that. */
  readonly user: string
  readonly owner: string
  readonly moderator?: string | undefined
  readonly assignment?: string | undefined
  readonly headline: string
  readonly body?: string | undefined
  readonly attribution?: string | undefined
  readonly isAnonymous: boolean
  readonly urlWords: string
  readonly created: string
  readonly place?: Place | undefined
  /** Media files, in the order of the contributor. */
  readonly media: readonly string[]
  readonly tags: readonly string[]
  readonly state: StateId
  readonly history: readonly Decision[]
  readonly ipAddress?: string | undefined
  readonly likes: number
  /** Until when the embargo of its assignment holds it back. */
  readonly embargo?: string | undefined
  /** Set when it was deleted: it is gone for everyone, and work removes what hangs on it. */
  readonly removed?: string | undefined
}

/** One decision about a contribution, and whose it was. */
export interface Decision {
  readonly date: string
  readonly action: string
  readonly notes?: string | undefined
  readonly by: string
}

export interface MediaFile {
  readonly id: string
  readonly owner: string
  readonly created: string
  readonly type: 'image' | 'video'
  readonly contentType: string
  readonly contentLength: number
  /** SHA-256 of the bytes as they came, under which they are kept. */
  readonly digest: string
  /** What follows is known once the file was worked on. */
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly duration?: number | undefined
  /** Where it was taken, as the file itself says; for its owner and for moderators. */
  readonly place?: Place | undefined
  readonly artifacts?: readonly Artifact[] | undefined
  /** Why it could not be worked on. */
  readonly problem?: string | undefined
  readonly contribution?: string | undefined
  readonly assignment?: string | undefined
}

/** A public copy in one format. */
export interface Artifact {
  readonly label: string
  readonly contentType: string
  readonly contentLength: number
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly digest: string
}

export const assignments = kind<Assignment>('assignment', {
  key: ({ id }) => id,
  columns: {
    owner: textOf(({ owner }) => owner),
    fundraiser: textOf(({ fundraiser }) => fundraiser),
  },
  indexes: [['owner'], ['fundraiser']],
})

export const contributions = kind<Contribution>('contribution', { key: ({ id }) => id })

export const mediaFiles = kind<MediaFile>('media_file', {
  key: ({ id }) => id,
  columns: { unusedOf: textOf((file) => (isUsed(file) ? null : file.owner)) },
  indexes: [['unusedOf']],
})

export const isUsed = ({ contribution, assignment }: MediaFile): boolean =>
  contribution !== undefined || assignment !== undefined

export const kinds = [assignments, contributions, mediaFiles]
