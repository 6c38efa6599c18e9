// Exports as they are kept: the job, and the pieces of its archive.
import { kind, numberOf, textOf } from '../kernel/store.ts'
import type { Filter } from './filters.ts'
import type { Position } from './connections.ts'
import type { ZipEntry } from './zip.ts'

export type MediaFormat = 'none' | 'fullsize' | 'tagged' | 'original'

export interface ExportOptions {
  readonly combined: boolean
  readonly individual: boolean
  readonly json: boolean
  readonly format: MediaFormat
}

export interface ExportJob {
  readonly id: string
  readonly owner: string
  /** The credential that asked for it, which may be that of a moderator. */
  readonly credential: string
  readonly isAdmin: boolean
  readonly filter: Filter
  readonly options: ExportOptions
  readonly started: string
  readonly finished?: string | undefined
  readonly step: 'text' | 'files' | 'directory' | 'finished'
  /** How many contributions there were when it began, and how many it has been through, in all passes. */
  readonly total: number
  readonly done: number
  /** The number of the slice that comes next. A slice that finds another number was done before. */
  readonly slice: number
  /** The last contribution of the pass that is done with, and how many files of the next one are. */
  readonly position?: Position | undefined
  readonly files: number
  /** The combined text, while it is written, and how many such texts there are. */
  readonly text?: (Omit<ZipEntry, 'modified'> & { readonly modified: string }) | undefined
  readonly texts: number
  readonly sizeBytes: number
  readonly entries: number
  /** The pieces of the directory, which comes last: how many, of which size, and how many are in. */
  readonly directoryParts: number
  readonly directoryBytes: number
  readonly directoryWritten: number
}

/** A stretch of the archive. */
export interface ExportPart {
  readonly export: string
  readonly start: number
  readonly sizeBytes: number
}

export const exportJobs = kind<ExportJob>('export', {
  key: ({ id }) => id,
  columns: { runningOf: textOf(({ owner, finished }) => (finished === undefined ? owner : null)) },
  indexes: [['runningOf']],
})

export const exportParts = kind<ExportPart>('export_part', {
  key: (part) => `${part.export}/${part.start}`,
  columns: {
    export: textOf((part) => part.export),
    start: numberOf(({ start }) => start),
  },
  indexes: [['export', 'start'], ['export']],
})
export const kinds = [exportJobs, exportParts]

/** The blob of a part, and that of a piece of the directory. */
export const partKey = (id: string, start: number): string => `export/${id}/${start}`
export const directoryKey = (id: string, part: number): string => `export/${id}/directory/${part}`
