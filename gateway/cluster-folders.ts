// Where a cluster keeps its files: below the data folder, unless PostgreSQL may not enter that.
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** PostgreSQL does not run as root, so root lends it the user who owns nothing. */
const NOBODY = 65_534
/** Where root keeps PostgreSQL's files when that user may not enter the data folder. */
const FOLDER_OF_ROOT = '/var/lib/polygraph'

export interface ClusterFolders {
  readonly own: string
  /** Emptied at each start. */
  readonly logs: string
  readonly postgres: string
}

export function makeFolders(dataFolder: string): ClusterFolders {
  const isRoot = process.getuid?.() === 0
  const isNew = !existsSync(dataFolder)
  const own = join(dataFolder, 'cluster')
  const logs = join(own, 'logs')
  rmSync(logs, { recursive: true, force: true })
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  mkdirSync(logs, { recursive: true })
  if (isRoot && isNew) {
    chownSync(dataFolder, 0, NOBODY)
    chmodSync(dataFolder, 0o710)
  }
  const isOpen = !isRoot || mayNobodyEnter(own)
  const digest = createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)
  return { own, logs, postgres: isOpen ? join(own, 'postgres') : join(FOLDER_OF_ROOT, digest) }
}

function mayNobodyEnter(folder: string): boolean {
  const { mode, gid } = statSync(folder)
  const mayEnter = (mode & 0o001) !== 0 || (gid === NOBODY && (mode & 0o010) !== 0)
  const above = dirname(folder)
  return mayEnter && (above === folder || mayNobodyEnter(above))
}
