// Plans that are taken as a whole and put back.
import { subgraph } from '../../subgraphs/backup.ts'
import { openForTest } from '../open.ts'
import { ACCOUNT, OTHER_ACCOUNT } from '../people.ts'
import { snapshotCases } from '../snapshots.ts'
import { plans } from '../../resolvers/backup/kinds.ts'
import { makePlan, makeVault } from './making.ts'

const id = `arn:aws:backup:us-east-1:${ACCOUNT}:backup-plan:first`

snapshotCases({
  type: 'BackupPlan',
  open: () => openForTest(subgraph),
  async make(service) {
    await makeVault(service)
    const { BackupPlanId } = await makePlan(service, 'plan')
    // The id of a plan is given by the service, and a test must know it.
    const plan = (await service.store.get(plans, `${ACCOUNT}/${BackupPlanId}`))!
    await service.store.remove(plans, plans.key(plan))
    await service.store.save(plans, { ...plan, BackupPlanId: 'first' })
  },
  async remove(service, gone) {
    await service.rest(`DELETE /backup/plans/${gone.split(':').at(-1)}`)
  },
  id,
  vacantId: `arn:aws:backup:us-east-1:${ACCOUNT}:backup-plan:other`,
  foreignId: `arn:aws:backup:us-east-1:${OTHER_ACCOUNT}:backup-plan:first`,
  shown: 'rules { ruleName scheduleExpression startWindowMinutes } nextExecutionDate',
  announces: 'backup.plan',
  hasTags: true,
})
