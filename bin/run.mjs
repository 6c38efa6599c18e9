// What the npm scripts go through: installs what is missing, then runs the task on Node 24.
//
// It runs on whatever Node the machine has, from 20 on, and uses nothing but Node itself.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MODULES = join(ROOT, 'node_modules')
const STAMP = join(MODULES, '.polygraph-installed')
const NODE_MIN = 24

const vitest = 'node_modules/vitest/vitest.mjs'
const prettier = 'node_modules/prettier/bin/prettier.cjs'

/** Each task as the programs that it runs one after the other; the last gets the arguments. */
const TASKS = {
  // V8 would take twice the memory for young objects, and use none of it to be faster. What starting
  // leaves behind is given back once it has ended.
  start: [['--max-semi-space-size=16', '--expose-gc', 'gateway/start.ts']],
  test: [[vitest, 'run']],
  check: [
    ['node_modules/typescript/bin/tsc'],
    ['node_modules/oxlint/bin/oxlint', '--deny-warnings'],
    [prettier, '--check', '--log-level', 'warn', '.'],
  ],
  compose: [['gateway/compose.ts']],
  credentials: [['gateway/credentials.ts']],
  admin: [['gateway/admin.ts']],
  work: [['gateway/parked-work.ts']],
  cluster: [['gateway/cluster.ts']],
  demo: [['gateway/demo-directory.ts']],
  bench: [['bench/run.ts']],
  format: [[prettier, '--write', '--log-level', 'warn', '.']],
}

const [task, ...args] = process.argv.slice(2)
if (!Object.hasOwn(TASKS, task ?? '')) {
  fail(`There is no task ${task}. There are: ${Object.keys(TASKS).join(', ')}.`)
}
install()
await run(TASKS[task])

/** Installs exactly what the lockfile says, unless that was done before. */
function install() {
  const lock = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')))
  const wanted = `${lock.digest('hex')} ${process.platform} ${process.arch}`
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted) return
  process.stderr.write('Installing what is missing. This happens once.\n')
  const npm = process.env.npm_execpath
  const command = npm ? [process.execPath, npm] : ['npm']
  const { status } = spawnSync(
    command[0],
    [...command.slice(1), 'ci', '--no-fund', '--no-audit', '--loglevel=error'],
    // What npm says goes to standard error: standard output belongs to the task.
    { cwd: ROOT, stdio: ['ignore', 2, 2], shell: !npm && process.platform === 'win32' },
  )
  if (status !== 0) fail('The installation failed. See above; run the command again to repeat it.')
  writeFileSync(STAMP, wanted)
}

/** Node 24 from the registry, or the machine's own where that is new enough. */
function node() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  const installed = join(MODULES, '.bin', name)
  if (existsSync(installed)) return installed
  if (Number(process.versions.node.split('.')[0]) >= NODE_MIN) return process.execPath
  return fail(
    `Polygraph needs Node ${NODE_MIN}, and the registry has none for ${process.platform} ${process.arch}.` +
      ` Install Node ${NODE_MIN} and run the command again.`,
  )
}

async function run(programs) {
  for (const [i, program] of programs.entries()) {
    const isLast = i === programs.length - 1
    const code = await runOne([...program, ...(isLast ? args : [])])
    if (code !== 0) process.exit(code)
  }
}

function runOne(program) {
  const child = spawn(node(), ['--disable-warning=ExperimentalWarning', ...program], {
    cwd: ROOT,
    stdio: 'inherit',
    env: {
      NODE_COMPILE_CACHE: join(MODULES, '.cache', 'compile'),
      // Of more, each keeps memory that is free.
      MALLOC_ARENA_MAX: '2',
      ...process.env,
    },
  })
  // A terminal signals the whole group, and a supervisor this process alone: the child decides when
  // it has finished.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)))
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
