// Something to look at: a group of everything that the demo tagged, in all services.
import type { Context } from '../kernel/context.ts'
import { createGroup } from './groups.ts'

const Name = 'demo-resources'

export async function demo(ctx: Context): Promise<Record<string, string>> {
  await createGroup(
    {
      Name,
      Description: 'Everything that is tagged as being of the demo',
      ResourceQuery: {
        Type: 'TAG_FILTERS_1_0',
        Query: JSON.stringify({
          ResourceTypeFilters: ['AWS::AllSupported'],
          TagFilters: [{ Key: 'environment', Values: ['demo'] }],
        }),
      },
      Tags: { environment: 'demo' },
    },
    ctx,
  )
  return { groupName: Name }
}
