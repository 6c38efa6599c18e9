// Feeds detectors on a file, and may kill itself on the way. Run by volume.ts: file, how it is
// synchronised, file that takes a line for each message acknowledged, the volume, and after how many
// of those lines it kills itself.
import { openSync, writeSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import { feed, openVolume, type Synchronous } from './volume.ts'

const [file, synchronous, saidFile, volume, killAfter] = process.argv.slice(2)

// Node would keep what it compiled when it exits, which a process that is killed never does.
flushCompileCache()

const said = openSync(saidFile!, 'a')
let count = 0
const opened = await openVolume({ file: file!, synchronous: synchronous as Synchronous })
await feed(opened, JSON.parse(volume!), (messages) => {
  // At once, since what Node has not handed over when the process dies was never said.
  writeSync(said, messages.map(({ key, number }) => `${key} ${number}\n`).join(''))
  count += messages.length
  if (Number(killAfter) > 0 && count >= Number(killAfter)) process.kill(process.pid, 'SIGKILL')
})
await opened.close()
