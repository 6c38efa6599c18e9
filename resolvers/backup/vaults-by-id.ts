// Vaults by their ARN: read and tagged, as every cloud resource is. In the graph alone.
import { resourceTags } from '../families/aws.ts'
import { byId } from '../families/by-id.ts'
import { NotFound } from '../kernel/fault.ts'
import { resolveVault } from './entities.ts'
import { changeTags } from './tags.ts'

export const operations = byId({
  type: 'BackupVault',
  needs: {
    read: 'backup:DescribeBackupVault',
    tag: 'backup:TagResource',
    untag: 'backup:UntagResource',
  },
  find: (id, ctx) => resolveVault({ id }, ctx),
  tags: {
    shape: resourceTags,
    async change(id, to, ctx) {
      const vault = await resolveVault({ id }, ctx)
      if (!vault) throw NotFound(`There is no vault ${id}.`)
      await changeTags(id, ctx, to)
      return vault
    },
  },
})
