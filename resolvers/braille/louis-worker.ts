// liblouis in a thread of its own: one message in, one message out. Specification 1, service S4.
//
// 1. liblouis (LGPL-2.1-or-later) is used as it is published and is loaded here alone, so that it
//    can be replaced without touching anything else.
// 2. Its heap has a fixed size. When it is exhausted liblouis is beyond repair: the thread ends, and
//    whoever asked starts another.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parentPort } from 'node:worker_threads'
import type { LouisAnswer, LouisRequest } from './louis.ts'

/** The largest table (Hungarian, with its hyphenation) takes 19 MB, the others at most 4.4 MB. */
const HEAP_BYTES = 64 * 1024 * 1024
/** So many compiled tables fit into the heap, the largest among them. */
const TABLES_MAX = 8
/** An unknown character becomes an escape of nine cells; hardly any known one becomes more. */
const CELLS_PER_CHARACTER = 12
/** What ends this close to the end of its room may have been cut off. */
const CELLS_SPARE = 64
const TRIES_MAX = 3
const CHARACTER_BYTES = 4
const LOG_NOTHING = 60_000
const FOLDER = '/tables'
/** Makes braille come and go as Unicode braille patterns, whatever the table would display. */
const DISPLAY = 'unicode.dis'
/** Tables, input, its length, output, its length, type form, spacing, mode. */
const TYPES = ['string', 'number', 'number', 'number', 'number', 'number', 'number', 'number']

/** What is used of the build, which has no types of its own. */
interface Build {
  readonly FS: {
    mkdir(path: string): void
    writeFile(path: string, bytes: Uint8Array, options: { encoding: 'binary' }): void
  }
  readonly HEAPU32: Uint32Array
  print: (line: string) => void
  printErr: (line: string) => void
  _malloc(bytes: number): number
  _free(pointer: number): void
  _lou_free(): void
  ccall(name: string, returns: string | null, types: string[], values: unknown[]): number
}

const require = createRequire(import.meta.url)
const tablesFolder = join(dirname(require.resolve('liblouis-build/package.json')), 'tables')
const louis = loadBuild()
const { _malloc: allocate, _free: release, _lou_free: forgetTables } = louis
const written = new Set<string>()
const compiled = new Set<string>()

parentPort!.on('message', (request: LouisRequest) => {
  // oxlint-disable-next-line require-post-message-target-origin -- a thread has no origin.
  parentPort!.postMessage(answer(request))
})

function answer({ table, direction, text }: LouisRequest): LouisAnswer {
  if (!compiled.has(table) && compiled.size >= TABLES_MAX) {
    forgetTables()
    compiled.clear()
  }
  compiled.add(table)
  writeTable(DISPLAY)
  writeTable(table)
  const name = direction === 'forward' ? 'lou_translateString' : 'lou_backTranslateString'
  // Lines repeat in tables and verse; each distinct one is translated once.
  const done = new Map([['', '']])
  for (const line of text.split('\n')) {
    if (done.has(line)) continue
    const translated = translateLine({ name, table, line })
    if (translated === undefined) return { failed: `liblouis cannot use ${table} for this text` }
    done.set(line, translated)
  }
  const translated = text.split('\n').map((line) => done.get(line))
  return { translated: translated.join('\n') }
}

function translateLine({ name, table, line }: { name: string; table: string; line: string }) {
  const characters = Array.from(line, (character) => character.codePointAt(0)!)
  let room = characters.length * CELLS_PER_CHARACTER + 2 * CELLS_SPARE
  for (let tries = 0; tries < TRIES_MAX; tries++, room *= 2) {
    const { isDone, out } = callLouis({ name, table, characters, room })
    if (!isDone) return undefined
    // How much of the input was consumed would tell too, but tables of several passes count it wrong.
    if (out.length + CELLS_SPARE <= room) return out
  }
  return undefined
}

interface Call {
  readonly name: string
  readonly table: string
  readonly characters: readonly number[]
  readonly room: number
}

function callLouis({ name, table, characters, room }: Call) {
  const lengths = allocate(2 * CHARACTER_BYTES)
  const input = allocate((characters.length + 1) * CHARACTER_BYTES)
  const output = allocate((room + 1) * CHARACTER_BYTES)
  const memory = louis.HEAPU32
  const [lengthsAt, inputAt, outputAt] = [lengths, input, output].map((at) => at / CHARACTER_BYTES)
  try {
    memory.set(characters, inputAt!)
    memory.set([characters.length, room], lengthsAt!)
    const tables = `${FOLDER}/${DISPLAY},${FOLDER}/${table}`
    const values = [tables, input, lengths, output, lengths + CHARACTER_BYTES, 0, 0, 0]
    const isDone = louis.ccall(name, 'number', TYPES, values)
    const length = memory[lengthsAt! + 1]!
    let out = ''
    for (const character of memory.subarray(outputAt!, outputAt! + length)) {
      out += String.fromCodePoint(character)
    }
    return { isDone: isDone !== 0, out }
  } finally {
    for (const pointer of [lengths, input, output]) release(pointer)
  }
}

/** Puts a table, and the tables that it includes, where liblouis looks for them. */
function writeTable(file: string): void {
  if (written.has(file)) return
  written.add(file)
  const bytes = readFileSync(join(tablesFolder, file))
  louis.FS.writeFile(`${FOLDER}/${file}`, bytes, { encoding: 'binary' })
  for (const [, included] of bytes.toString('latin1').matchAll(/^\s*include\s+(\S+)/gm)) {
    writeTable(included!)
  }
}

function loadBuild(): Build {
  // The build makes its settings object itself and lets nobody give it one, but it reads the size of
  // its heap through the prototype. This thread has nothing else that could notice.
  // oxlint-disable-next-line no-extend-native
  Object.defineProperty(Object.prototype, 'TOTAL_MEMORY', { value: HEAP_BYTES, configurable: true })
  const build: Build = require('liblouis-build/build-no-tables-utf32.js')
  delete (Object.prototype as { TOTAL_MEMORY?: number }).TOTAL_MEMORY
  // It would keep the thread alive after a failure, and write to the terminal.
  process.removeAllListeners('uncaughtException')
  build.print = build.printErr = () => {}
  build.ccall('lou_setLogLevel', null, ['number'], [LOG_NOTHING])
  build.FS.mkdir(FOLDER)
  return build
}
