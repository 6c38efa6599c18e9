// Installs Hive Gateway on the first run of the bench that compares with it.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dirname
const STAMP = join(FOLDER, 'node_modules', '.polygraph-installed')

/** False, and says so, where it cannot be installed. */
export function installHive(): boolean {
  const lock = readFileSync(join(FOLDER, 'package-lock.json'), 'utf8')
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === lock) return true
  process.stderr.write('Installing Hive Gateway, to compare with. This happens once.\n')
  const npm = process.env.npm_execpath
  const command = npm ? [process.execPath, npm] : ['npm']
  const { status } = spawnSync(
    command[0]!,
    [...command.slice(1), 'ci', '--no-fund', '--no-audit', '--loglevel=error'],
    { cwd: FOLDER, stdio: ['ignore', 2, 2], shell: !npm && process.platform === 'win32' },
  )
  if (status !== 0) {
    console.log('Hive Gateway could not be installed, so that nothing is compared with it.')
    return false
  }
  writeFileSync(STAMP, lock)
  return true
}
