// The life of a database on both stores.
import { describe, expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/sql-db.ts'
import { kindsOf, migrationsOf } from '../../subgraphs/server/open.ts'
import { engines } from '../kernel/engines.ts'
import {
  add,
  CHANGE_MS,
  fill,
  MANY,
  one,
  openShop,
  PLAIN,
  putReady,
  putServer,
  VERSION,
  wordsOf,
} from './shop.ts'

describe.each(engines)('$engine', ({ database }) => {
  const open = async () => {
    const { open } = await database()
    return openShop({ store: await open(kindsOf(subgraph), migrationsOf(subgraph)) })
  }
  const from = (createMode: string, more: object = {}) => ({
    ...PLAIN,
    properties: { createMode, sourceDatabaseId: `${MANY}/shop`, ...more },
  })

  test('a database is made, written, copied, restored, followed, renamed and deleted', async () => {
    const service = await open()
    await putReady(service, 'shop')
    await fill(service, 'shop')
    await service.advance(60_000)
    await add(service, 'shop', 'second')
    await putServer(service, 'far')

    await putReady(service, 'copy', from('Copy'))
    await putReady(
      service,
      'then',
      from('PointInTimeRestore', { restorePointInTime: '2030-01-01T00:00:30Z' }),
    )
    await putReady(service, 'shop', from('Secondary'), 'far')
    await add(service, 'shop', 'third')
    await service.advance(CHANGE_MS)

    expect(await wordsOf(service, 'copy')).toEqual(['first', 'second'])
    expect(await wordsOf(service, 'then')).toEqual(['first'])
    expect(await wordsOf(service, 'shop', 'far')).toEqual(['first', 'second', 'third'])
    const moved = await service.rest(`POST ${one('copy', 'move')}`, { id: `${MANY}/moved` })
    expect(moved.status).toBe(200)
    expect((await service.rest(`DELETE ${one('shop')}`)).status).toBe(202)
    await service.advance(CHANGE_MS)
    const { body } = await service.rest(`GET ${MANY}?${VERSION}`)
    expect(body.value.map(({ name }: { name: string }) => name)).toEqual(['moved', 'then'])
    expect(service.mistakes).toEqual([])
  })

  test('those who write at the same time lose nothing', async () => {
    const service = await open()
    await putReady(service, 'shop')
    await fill(service, 'shop')
    const words = Array.from({ length: 10 }, (_, n) => `word ${n}`)

    await Promise.all(words.map((word) => add(service, 'shop', word)))

    expect((await wordsOf(service, 'shop')).toSorted()).toEqual(['first', ...words])
    expect(service.mistakes).toEqual([])
  })
})
