// A million contributions: page 1,000 against page 1, circles and cells; and an export of 10,000 with
// media, killed on the way. It takes minutes, and so runs by itself: node bench/contributions.ts [rows]
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { driversOf } from '../resolvers/contributions/conditions.ts'
import { readFilter } from '../resolvers/contributions/filters.ts'
import { addLine } from '../resolvers/contributions/lines.ts'
import { completePlace } from '../resolvers/contributions/places.ts'
import {
  contributions,
  mediaFiles,
  type Contribution,
  type MediaFile,
} from '../resolvers/contributions/records.ts'
import { stillClock } from '../resolvers/kernel/clock.ts'
import { openOnFile, unzip } from '../tests/contributions/archive.ts'
import { fillStore } from '../tests/contributions/volume.ts'
import { people, tokenOf } from '../tests/people.ts'
import { compare, processorTime } from './measure.ts'

const ROWS = 1_000_000
const START_MS = Date.parse('2029-01-01T00:00:00.000Z')
const NOW = '2030-06-01T00:00:00.000Z'
const PAGE = 1_000
const ROUNDS = 9
const CALLS = 20
const EXPORTED = 10_000
const MEDIA_BYTES = 20_000
const ABOVE_IDLE_MB_MAX = 200
const WORDS = [
  'storm',
  'river',
  'night',
  'school',
  'bridge',
  'market',
  'train',
  'garden',
  'fire',
  'snow',
]
const COUNTRIES = ['DE', 'FR', 'GB', 'IT', 'ES', 'PL', 'US', 'CA', 'BR', 'IN']
const BUILDER = new URL('../tests/contributions/export-builder.ts', import.meta.url).pathname
const HEADERS = { authorization: `Bearer ${tokenOf('alice')}` }

type Service = Awaited<ReturnType<typeof openOnFile>>

export async function benchContributions(rows = ROWS): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'polygraph-bench-'))
  try {
    const areListsGood = await benchLists(folder, rows)
    return (await benchExport(folder)) && areListsGood
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function benchLists(folder: string, rows: number): Promise<boolean> {
  const file = join(folder, 'lists.db')
  const service = await openOnFile({ file, clock: stillClock(NOW), synchronous: 'OFF' })
  const beganMs = performance.now()
  await fill(service, rows)
  const seconds = Math.round((performance.now() - beganMs) / 1_000)
  console.log(`       ${rows} contributions stored in ${seconds} s`)

  const page = Math.min(PAGE, Math.floor(rows / 100))
  const ask = async (query: string) => {
    const { statusCode, body } = await service.rest.inject({
      url: `/1/contributions?${query}`,
      headers: HEADERS,
    })
    if (statusCode !== 200) throw new Error(`${query} answered ${statusCode}: ${body}`)
    return JSON.parse(body) as unknown[]
  }
  const results: boolean[] = []
  for (const [title, query] of [
    ['everything', ''],
    ['one assignment', 'assignment=a1&'],
  ] as const) {
    const last = title === 'everything' ? page : Math.floor(page / 10)
    results.push(
      await compare({
        title: `${title}: page ${last} of ${rows} contributions by REST against page 1`,
        atMost: 2,
        rounds: ROUNDS,
        unit: 'µs of processor time',
        ours: () => processorTime(() => ask(`${query}page=${last}`), CALLS),
        theirs: () => processorTime(() => ask(`${query}page=1`), CALLS),
      }),
    )
  }
  for (const query of [
    'latLong=52.5,13.4&radius=10',
    'latLong=52.5,13.4&radius=100',
    'latLong=52.5,13.4&radius=500',
    'latLong=52.5,13.4&radius=5000',
    'geohash=u33d',
    'geohash=u3,u0',
    'q=storm',
    'q=storm%20river&country=DE&hasLocation=true',
    'country=DE&mediaType=image',
  ]) {
    const micros = await processorTime(() => ask(query), 5)
    const isIndexed = await usesPlaces(service, query)
    results.push(isIndexed)
    console.log(`${isIndexed ? 'ok    ' : 'MISSED'} ${query}: ${(micros / 1000).toFixed(1)} ms`)
  }
  for (const url of [
    '/1/contribution-refinements?refinements=country,user,assignment',
    '/1/contribution-refinements?refinements=geohash3',
    '/1/contribution-refinements?country=DE&refinements=user',
    '/1/export-summary',
    '/1/export-summary?country=DE',
  ]) {
    const method = url.includes('summary') ? 'POST' : 'GET'
    const micros = await processorTime(
      () => service.rest.inject({ method, url, headers: HEADERS }),
      3,
    )
    console.log(`       ${method} ${url}: ${(micros / 1000).toFixed(1)} ms`)
  }
  await service.close()
  return results.every(Boolean)
}

/** Whether what asks for a place is answered by the index of places. */
async function usesPlaces(service: Service, query: string): Promise<boolean> {
  const sent = Object.fromEntries(new URLSearchParams(query))
  if (!sent['latLong'] && !sent['geohash']) return true
  const ctx = service.contextFor(people.alice, { address: '', headers: {} })
  const radius = sent['radius'] === undefined ? undefined : Number(sent['radius'])
  const [driver] = await driversOf(await readFilter({ ...sent, radius } as object, ctx))
  const rows = await ctx.store.sql(`EXPLAIN QUERY PLAN ${driver!.text}`, driver!.values)
  return (
    rows.every(({ detail }) => !/SCAN contribution_line/.test(detail)) &&
    rows.some(({ detail }) => detail.includes('contribution_by_place'))
  )
}

async function fill(service: Service, rows: number): Promise<void> {
  const { default: geohash } = await import('ngeohash')
  let state = 42
  const random = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32
  const contributionAt = (n: number): Contribution => {
    // Every other one is in Europe, where they stand close together.
    const isNear = n % 2 === 0
    const latitude = isNear ? 45 + random() * 15 : random() * 170 - 85
    const longitude = isNear ? random() * 20 : random() * 360 - 180
    const words = [0, 1, 2].map(() => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
    return {
      id: `${String(n).padStart(8, '0')}-0000-7000-8000-000000000000`,
      user: `user-${Math.floor(random() * 10_000)}`,
      owner: 'owner',
      assignment: `a${n % 10}`,
      headline: `${words} ${n % 1000}`,
      body: 'What was seen, in some words more than the headline has.',
      isAnonymous: false,
      urlWords: `${words.replaceAll(' ', '-')}-${n}`,
      created: new Date(START_MS + n * 40_000).toISOString(),
      place: {
        country: COUNTRIES[n % COUNTRIES.length],
        latLong: { latitude, longitude },
        geohash: geohash.encode(latitude, longitude, 12),
      },
      media: [],
      tags: [],
      state: 'approved',
      history: [],
      likes: 0,
    }
  }
  await fillStore(service.ground.store, { total: rows, contributionAt, now: new Date(NOW) })
}

async function benchExport(folder: string): Promise<boolean> {
  const file = join(folder, 'export.db')
  const idle = await build(join(folder, 'idle.db'), NOW, 0)
  const filling = await openOnFile({ file, clock: stillClock(NOW), synchronous: 'OFF' })
  const digests = await fillMedia(filling)
  const url = '/1/export?user=alice&individual=true&json=true&combined=true&format=fullsize'
  const { id } = (await filling.rest.inject({ method: 'POST', url, headers: HEADERS })).json()
  await filling.close()

  const beganMs = performance.now()
  await build(file, '2030-06-01T00:10:00.000Z', 60)
  const built = await build(file, '2030-06-01T00:20:00.000Z', 0)
  const seconds = Math.round((performance.now() - beganMs) / 1_000)

  const looking = await openOnFile({
    file,
    clock: stillClock('2030-06-01T00:30:00.000Z'),
    synchronous: 'OFF',
  })
  const { downloadUrl } = (
    await looking.rest.inject({ url: `/1/exports/${id}`, headers: HEADERS })
  ).json()
  const { pathname, search } = new URL(downloadUrl)
  const archive = (await looking.rest.inject({ url: pathname + search })).rawPayload
  await looking.close()
  const zip = join(folder, 'export.zip')
  await writeFile(zip, archive)
  const found = new Set<string>()
  const files = await unzip(zip, {
    onFile(name, content) {
      if (name.endsWith('.jpg')) found.add(createHash('sha256').update(content).digest('hex'))
    },
  })
  const isWhole = files.size === 1 + EXPORTED * 3 && digests.every((digest) => found.has(digest))
  const aboveIdleMb = built! - idle!
  const isGood = isWhole && aboveIdleMb <= ABOVE_IDLE_MB_MAX
  console.log(
    `${isGood ? 'ok    ' : 'MISSED'} an export of ${EXPORTED} contributions with media, killed once: ` +
      `${files.size} files, ${Math.round(archive.length / 1024 ** 2)} MB in ${seconds} s, ` +
      `${isWhole ? 'whole' : 'NOT WHOLE'}, at most ${aboveIdleMb} MB above the ${idle} MB of an idle ` +
      `process, must be at most ${ABOVE_IDLE_MB_MAX}`,
  )
  return isGood
}

/** Builds what is due in a process of its own, and returns the memory that it took at most, in MB. */
async function build(file: string, moment: string, killAt: number): Promise<number | undefined> {
  const builder = spawn(
    process.execPath,
    [BUILDER, file, 'OFF', moment, String(killAt), 'before'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let said = ''
  builder.stdout.on('data', (part) => (said += String(part)))
  const [code, signal] = await once(builder, 'close')
  if (killAt > 0 ? signal !== 'SIGKILL' : code !== 0)
    throw new Error(`the builder ended with ${code ?? signal}`)
  return killAt > 0 ? undefined : JSON.parse(said).peakMb
}

/** Contributions with a file each, which is a picture as far as exports care. */
async function fillMedia(service: Service): Promise<string[]> {
  const ctx = service.contextFor(people.alice, { address: '', headers: {} })
  const digests: string[] = []
  const place = await completePlace({ latLong: { latitude: 52.5, longitude: 13.4 } })
  for (let from = 0; from < EXPORTED; from += 100) {
    await ctx.store.transaction(async (tx) => {
      for (let n = from; n < from + 100; n += 1) {
        const bytes = Buffer.concat(
          Array.from({ length: MEDIA_BYTES / 32 }, (_, at) =>
            createHash('sha256').update(`${n} ${at}`).digest(),
          ),
        )
        const digest = createHash('sha256').update(bytes).digest('hex')
        digests.push(digest)
        const contentLength = bytes.length
        const artifact = { label: 'fullsize', contentType: 'image/jpeg', contentLength, digest }
        const created = new Date(START_MS + n * 1_000).toISOString()
        const file: MediaFile = {
          id: `m${n}`,
          owner: 'alice',
          created,
          type: 'image',
          contentType: 'image/jpeg',
          contentLength,
          digest,
          artifacts: [artifact],
          contribution: `c${n}`,
        }
        const contribution: Contribution = {
          id: `c${n}`,
          user: 'alice',
          owner: 'alice',
          headline: `Number ${n}`,
          body: 'Some words.',
          isAnonymous: false,
          urlWords: `number-${n}`,
          created,
          place,
          media: [file.id],
          tags: [],
          state: 'approved',
          history: [],
          likes: 0,
        }
        await ctx.blobs.write(tx, `media/${digest}`, bytes)
        await tx.insert(mediaFiles, file)
        await tx.insert(contributions, contribution)
        await addLine(tx, contribution, { media: [file], now: new Date(NOW) })
      }
    })
  }
  return digests
}

if (import.meta.main)
  process.exit((await benchContributions(Number(process.argv[2] ?? ROWS))) ? 0 : 1)
