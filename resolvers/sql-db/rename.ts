// Giving a database another name on its server. Specification 3, service Q.
import { armKey } from '../families/arm.ts'
import { checkSubscription, idAt, partsOf, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { checkIfMatch } from '../kernel/etag.ts'
import { Invalid } from '../kernel/fault.ts'
import { reply } from '../kernel/operation.ts'
import { announce, checkIdle } from './changes.ts'
import {
  CannotUseReservedDatabaseName,
  DatabaseAlreadyExists,
  DatabaseNotOnline,
} from './errors.ts'
import {
  DATABASE,
  databases,
  isDatabaseName,
  isReservedName,
  missing,
  serverIdOf,
} from './places.ts'
import { secondariesOf } from './replication.ts'

/**
 * Moves a database to another id on its server. Its databaseId stays, and with it all that it holds
 * and every moment that it can be restored to.
 */
export async function rename(input: Input, ctx: Context) {
  const id = idAt(DATABASE, checkSubscription(input, ctx))
  const wanted = input['parameters'].id as string
  const databaseName = nameIn(wanted, id)
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(databases, armKey({ id }))
    if (!before) throw missing(id)
    checkIfMatch(ctx.headers['if-match'], before)
    await checkIdle(tx, before)
    const { name, properties, held } = before
    if (properties.status !== 'Online') {
      throw DatabaseNotOnline(`The database ${name} is ${properties.status}, and not Online.`)
    }
    const followed = await secondariesOf(tx, properties.databaseId)
    if (held.primary !== undefined || followed.length > 0) {
      throw DatabaseNotOnline(
        `The database ${name} is replicated under its name. Delete the secondary first.`,
      )
    }
    const after = {
      ...before,
      id: `${serverIdOf(DATABASE, before)}/databases/${databaseName}`,
      name: databaseName,
    }
    const isSame = armKey(after) === armKey(before)
    if (!isSame && (await tx.get(databases, armKey(after)))) {
      throw DatabaseAlreadyExists(`There is a database ${databaseName} on this server already.`)
    }
    await tx.remove(databases, armKey(before))
    await tx.save(databases, after)
    await announce('changed', after, { tx, ctx })
    return reply(200)
  })
}

function nameIn(wanted: string, id: string): string {
  const parts = partsOf(DATABASE, wanted)
  const isHere =
    parts &&
    serverIdOf(DATABASE, { id: wanted }).toLowerCase() ===
      serverIdOf(DATABASE, { id }).toLowerCase()
  const name = parts?.['databaseName'] ?? ''
  if (!isHere || !isDatabaseName(name)) {
    const message = 'must be the id of a database on the same server'
    const field = { name: 'parameters.id', message }
    throw Invalid(`parameters.id ${message}.`, { details: { fields: [field] } })
  }
  if (isReservedName(name)) {
    throw CannotUseReservedDatabaseName(`A database cannot be called ${name}.`)
  }
  return name
}
