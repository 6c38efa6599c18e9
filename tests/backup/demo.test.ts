// What a first start leaves to look at.
import { expect, test } from 'vitest'
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest } from '../open.ts'
import { people } from '../people.ts'
import { pointPath } from './making.ts'

const make = async () => {
  const service = await openForTest(subgraph)
  const ctx = service.opened.contextFor(people.alice, { address: '', headers: {} })
  return { service, made: await subgraph.demo!(ctx) }
}

test('the demo names a job, a copy, a recovery point and a resource that exist', async () => {
  const { service, made } = await make()
  await service.advance(0)

  const job = await service.rest(`GET /backup-jobs/${made['backupJobId']}`)
  const copy = await service.rest(`GET /copy-jobs/${made['copyJobId']}`)
  const point = await service.rest(
    `GET ${pointPath(made['recoveryPointVault']!, made['recoveryPointArn']!)}`,
  )
  const resource = await service.rest(`GET /resources/${encodeURIComponent(made['resourceArn']!)}`)

  expect(Object.keys(made).toSorted()).toEqual([
    'backupJobId',
    'copyJobId',
    'recoveryPointArn',
    'recoveryPointVault',
    'resourceArn',
  ])
  expect(job.body).toMatchObject({ State: 'COMPLETED', RecoveryPointArn: made['recoveryPointArn'] })
  expect(copy.body.CopyJob.State).toBe('COMPLETED')
  expect(point.body.Status).toBe('COMPLETED')
  expect(resource.body.ResourceArn).toBe(made['resourceArn'])
  expect(service.mistakes).toEqual([])
})

test('the recovery point of the demo is there before any step ran', async () => {
  const { service, made } = await make()

  const { status } = await service.rest(
    `GET ${pointPath(made['recoveryPointVault']!, made['recoveryPointArn']!)}`,
  )

  expect(status).toBe(200)
})
