import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import sharp from 'sharp'
import { describe, expect, test } from 'vitest'
import {
  beginText,
  continueText,
  directoryLine,
  endOfZip,
  endText,
  zipFile,
} from '../../resolvers/contributions/zip.ts'
import { stillClock } from '../../resolvers/kernel/clock.ts'
import { testFolder } from '../kernel/engines.ts'
import type { TestService } from '../open.ts'
import { tokenOf, type Person } from '../people.ts'
import { openOnFile, unzip } from './archive.ts'
import { assign, contribute, onEngines, openContributions, publish, upload } from './scene.ts'

const DAY_MS = 24 * 60 * 60_000
const BUILDER = join(import.meta.dirname, 'export-builder.ts')

const picture = (colour: string) =>
  sharp({ create: { width: 30, height: 20, channels: 3, background: colour } })
    .withExif({
      IFD3: {
        GPSLatitudeRef: 'N',
        GPSLatitude: '52/1 0/1 0/1',
        GPSLongitudeRef: 'E',
        GPSLongitude: '13/1 0/1 0/1',
      },
    })
    .jpeg()
    .toBuffer()

/** Begins an export, lets it finish, and reads the archive. */
async function exportAll(service: TestService, query = '', credential: Person = 'alice') {
  const begun = await service.rest(`POST /1/export${query}`, undefined, { credential })
  expect(begun.status).toBe(202)
  await service.advance(1_000)
  const { body } = await service.rest(`GET /1/exports/${begun.body.id}`, undefined, { credential })
  const path = body.downloadUrl.replace('http://polygraph.test', '')
  const { body: archive, headers } = await service.rest(`GET ${path}`, undefined, {
    credential: null,
  })
  return { begun, body, path, headers, archive: archive as Buffer, files: await unzip(archive) }
}

/** Without the ids of contributions, which differ from run to run. */
const plain = (names: Iterable<string>) =>
  [...names].map((name) => name.replace(/-[0-9a-f]{8}-[0-9a-f-]{27}/, ''))

test('an export is begun, told about and downloaded', async () => {
  const service = await openContributions()
  await publish(service, { headline: 'First', body: 'It rained.', attribution: 'Bob' })
  await service.advance(1_000)
  await publish(service, {
    headline: 'Second',
    place: { name: 'Quay', latLong: { latitude: 1, longitude: 2 } },
  })
  await contribute(service, { headline: 'Not seen' })

  const { begun, body, headers, files } = await exportAll(service)

  expect(begun.body).toEqual({
    id: begun.body.id,
    owner: 'alice',
    started: '2030-01-01T00:00:01.000Z',
    progress: 0,
    step: 'text',
  })
  expect(body).toMatchObject({
    finished: '2030-01-01T00:00:01.000Z',
    progress: 100,
    step: 'finished',
  })
  expect(headers['content-type']).toBe('application/zip')
  expect(headers['content-disposition']).toBe('attachment; filename="contributions-2030-01-01.zip"')
  const rule = '-'.repeat(72)
  expect(plain(files.keys())).toEqual(['contributions.txt'])
  expect(files.get('contributions.txt')!.toString()).toBe(
    `Second\nBy bob, 2030-01-01T00:00:01.000Z\nAt Quay\nAt 1, 2\n\n${rule}\n\n` +
      `First\nBy Bob, 2030-01-01T00:00:00.000Z\n\nIt rained.\n\n${rule}\n\n`,
  )
})

describe.each(onEngines)('exports on $engine', ({ open }) => {
  test('an export holds what was chosen, in the format that was chosen', async () => {
    const service = await open()
    const bytes = await picture('#cc3333')
    const { body: file } = await upload(service, bytes)
    const assignment = await assign(service)
    const to = { assignment: { id: assignment } }
    await publish(service, {
      headline: 'With a picture',
      attribution: 'Bob',
      ...to,
      mediaUsages: [{ media: { id: file.id } }],
    })
    await service.advance(1_000)
    const query = `?assignment=${assignment}`
    const folder = '2030-01-01-with-a-picture'
    const media = ({ files }: Awaited<ReturnType<typeof exportAll>>) =>
      [...files].find(([name]) => name.includes('media-1'))?.[1]

    const texts = await exportAll(service, `${query}&individual=true&json=true&format=none`)
    const fullsize = await exportAll(service, query)
    const tagged = await exportAll(service, `${query}&tagged=true&json=true`)
    const original = await exportAll(service, `${query}&format=original&combined=false`)

    expect(plain(texts.files.keys())).toEqual([
      `${folder}/contribution.txt`,
      `${folder}/contribution.json`,
    ])
    expect(plain(fullsize.files.keys())).toEqual(['contributions.txt', `${folder}/media-1.jpg`])
    expect(plain(tagged.files.keys())).toEqual([
      `${folder}/media-1.jpg`,
      `${folder}/contribution.json`,
    ])
    expect(plain(original.files.keys())).toEqual([`${folder}/media-1.jpg`])
    const json = JSON.parse([...tagged.files.values()][1]!.toString())
    expect(json).toMatchObject({
      headline: 'With a picture',
      assignment: { name: 'Floods' },
      mediaUsages: [{ id: file.id, media: { type: 'image' }, file: 'media-1.jpg' }],
    })
    expect((await sharp(media(fullsize)!).metadata()).exif).toBeUndefined()
    const told = (await sharp(media(tagged)!).metadata()).exif!.toString('latin1')
    expect([told.includes('With a picture'), told.includes('Bob'), told.includes('GPS')]).toEqual([
      true,
      true,
      false,
    ])
    expect(media(original)).toEqual(bytes)
  })
})

test('the bytes as they came are for those in whose jurisdiction they are', async () => {
  const service = await openContributions()
  const bytes = await picture('#33cc33')
  const { body: file } = await upload(service, bytes)
  await publish(service, { mediaUsages: [{ media: { id: file.id } }] })
  await service.advance(1_000)

  const { files } = await exportAll(service, '?format=original&combined=false')

  const [copy] = [...files.values()]
  expect(copy).not.toEqual(bytes)
  expect((await sharp(copy).metadata()).exif).toBeUndefined()
})

test('who moderates by a credential exports what waits in the queue', async () => {
  const service = await openContributions()
  const assignment = await assign(service, { moderator: 'bob-credential' })
  await contribute(service, { headline: 'Waiting', assignment: { id: assignment } }, 'alice')

  const { files } = await exportAll(service, `?assignment=${assignment}`, 'bob')

  expect(files.get('contributions.txt')!.toString()).toContain('Waiting')
})

test('an export of nothing is an archive with nothing to read', async () => {
  const service = await openContributions()

  const { files } = await exportAll(service, '?country=DE')

  expect([...files]).toEqual([['contributions.txt', Buffer.alloc(0)]])
})

test('the graph begins an export and follows it', async () => {
  const service = await openContributions()
  await publish(service)

  const begun = await service.graphql(
    'mutation { createContributionExport(hasLocation: false, individual: true) { id owner { id } progress step downloadUrl } }',
  )
  const { id } = begun.data.createContributionExport
  await service.advance(1_000)
  const { data } = await service.graphql(
    'query ($id: ID!) { contributionExport(id: $id) { progress step finished downloadUrl } }',
    { id },
  )

  expect(begun.data.createContributionExport).toMatchObject({
    owner: { id: 'alice' },
    progress: 0,
    step: 'files',
    downloadUrl: null,
  })
  expect(data.contributionExport).toMatchObject({ progress: 100, step: 'finished' })
  expect(data.contributionExport.downloadUrl).toContain(`/1/exports/${id}/download?key=`)
})

test('an export is seen by its owner alone, and choices that contradict each other are refused', async () => {
  const service = await openContributions()
  const { body } = await service.rest('POST /1/export')

  const foreign = await service.rest(`GET /1/exports/${body.id}`, undefined, { credential: 'bob' })
  const none = await service.rest('GET /1/exports/none')
  const contradiction = await service.rest('POST /1/export?tagged=true&format=none')
  const unknown = await service.rest('POST /1/export?format=huge')
  const early = await service.rest(`GET /1/exports/${body.id}/download?key=x`)

  expect([foreign.status, none.status, early.status]).toEqual([404, 404, 404])
  expect(contradiction).toMatchObject({ status: 400, body: { fields: [{ name: 'tagged' }] } })
  expect(unknown).toMatchObject({ status: 400, body: { fields: [{ name: 'format' }] } })
})

test('five exports of a person are built at a time', async () => {
  const service = await openContributions()
  for (let n = 0; n < 5; n += 1) await service.rest('POST /1/export')

  const sixth = await service.rest('POST /1/export')
  const others = await service.rest('POST /1/export', undefined, { credential: 'bob' })
  await service.advance(1_000)
  const later = await service.rest('POST /1/export')

  expect([sixth.status, others.status, later.status]).toEqual([429, 202, 202])
})

test('an export goes after a week, and takes its bytes along', async () => {
  const service = await openContributions()
  for (let n = 0; n < 110; n += 1) await contribute(service, { headline: `Number ${n}` }, 'alice')
  const { body, path } = await exportAll(service, '?user=alice&individual=true')

  await service.advance(7 * DAY_MS)

  expect((await service.rest(`GET /1/exports/${body.id}`)).status).toBe(404)
  expect((await service.rest(`GET ${path}`, undefined, { credential: null })).status).toBe(404)
  const [left] = await service.store.sql(
    "SELECT count(*) AS n FROM blob_version WHERE key LIKE 'export/%'",
  )
  expect(left!.n).toBe(0)
})

test('a summary counts contributions and media, also where filters are combined', async () => {
  const service = await openContributions()
  const bytes = await picture('#000000')
  const { body: file } = await upload(service, bytes)
  await publish(service, { place: { country: 'DE' }, mediaUsages: [{ media: { id: file.id } }] })
  await publish(service)
  await contribute(service)

  const all = await service.rest('POST /1/export-summary')
  const german = await service.rest('POST /1/export-summary?country=DE&q=water')
  const { data } = await service.graphql(
    '{ contributionExportSummary(user: "bob") { contributions media totalMediaSize } }',
    {},
    { credential: 'bob' },
  )

  expect(all).toMatchObject({
    status: 200,
    body: {
      contributions: 2,
      media: 1,
      totalMediaSize: bytes.length,
      estimatedSize: `${bytes.length}B`,
    },
  })
  expect(german.body).toMatchObject({ contributions: 1, media: 1, totalMediaSize: bytes.length })
  expect(data.contributionExportSummary).toEqual({
    contributions: 3,
    media: 1,
    totalMediaSize: bytes.length,
  })
})

test('a download goes on where it stopped', async () => {
  const service = await openContributions()
  for (let n = 0; n < 110; n += 1) await contribute(service, { headline: `Number ${n}` }, 'alice')
  const { archive, path } = await exportAll(service, '?user=alice&individual=true&combined=true')
  const ask = async (range: string) =>
    (await service.rest(`GET ${path}`, undefined, { headers: { range }, credential: null })).body

  const begin = await ask('bytes=0-9999')
  const end = await ask('bytes=10000-')

  expect(Buffer.concat([begin, end])).toEqual(archive)
})

test('an export that is killed again and again is whole in the end', async () => {
  const folder = await testFolder()
  const file = join(folder, 'contributions.db')
  const openAt = (moment: string) =>
    openOnFile({ file, clock: stillClock(moment), synchronous: 'OFF' })
  const headers = {
    authorization: `Bearer ${tokenOf('alice')}`,
    'content-type': 'application/json',
  }
  const filling = await openAt('2030-01-01T00:00:00.000Z')
  for (let n = 0; n < 250; n += 1) {
    await filling.rest.inject({
      method: 'POST',
      url: '/1/contributions',
      headers,
      payload: { headline: `Number ${n}` },
    })
  }
  const url = '/1/export?user=alice&individual=true&json=true&combined=true'
  const { id } = (await filling.rest.inject({ method: 'POST', url, headers })).json()
  await filling.close()

  // A step that died is leased for a minute, so each process comes two minutes after the one before.
  const kills = [
    ['3', 'before'],
    ['4', 'after'],
    ['0', ''],
  ] as const
  for (const [at, [count, where]] of kills.entries()) {
    const moment = `2030-01-01T00:${String(10 + at * 2)}:00.000Z`
    const builder = spawn(process.execPath, [BUILDER, file, 'OFF', moment, count, where], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') },
    })
    const [code, signal] = await once(builder, 'close')
    expect(code ?? signal).toBe(count === '0' ? 0 : 'SIGKILL')
  }

  const looking = await openAt('2030-01-01T01:00:00.000Z')
  const job = (await looking.rest.inject({ url: `/1/exports/${id}`, headers })).json()
  const path = new URL(job.downloadUrl).pathname + new URL(job.downloadUrl).search
  const archive = (await looking.rest.inject({ url: path })).rawPayload
  const files = await unzip(archive)
  await looking.close()
  expect(job.step).toBe('finished')
  expect(files.size).toBe(1 + 250 * 2)
  const numbers = [
    ...files
      .get('contributions.txt')!
      .toString()
      .matchAll(/^Number (\d+)$/gm),
  ].map(([, n]) => Number(n))
  expect(numbers).toEqual(Array.from({ length: 250 }, (_, n) => 249 - n))
}, 120_000)

test('an archive of more files than a short number holds can be read', async () => {
  const modified = new Date('2030-01-01T12:34:56.000Z')
  const text = beginText('long.txt', modified, 0)
  const one = continueText(text.entry, Buffer.from('one '))
  const two = endText(continueText(one.entry, Buffer.from('two')).entry)
  const pieces = [
    text.bytes,
    one.bytes,
    continueText(one.entry, Buffer.from('two')).bytes,
    two.bytes,
  ]
  const lines = [directoryLine(two.entry)]
  let offset = pieces.reduce((sum, { length }) => sum + length, 0)
  for (let n = 0; n < 66_000; n += 1) {
    const piece = zipFile(
      { name: `${n}.txt`, modified, offset, isPacked: false },
      Buffer.from(String(n)),
    )
    pieces.push(piece.bytes)
    lines.push(directoryLine(piece.entry))
    offset += piece.bytes.length
  }
  const size = lines.reduce((sum, { length }) => sum + length, 0)

  const end = endOfZip({ entries: lines.length, offset, size })
  const files = await unzip(Buffer.concat([...pieces, ...lines, end]), {
    isWanted: (name) => name === 'long.txt' || name === '65999.txt',
  })

  expect(files.size).toBe(66_001)
  expect(files.get('long.txt')!.toString()).toBe('one two')
  expect(files.get('65999.txt')!.toString()).toBe('65999')
})
