// Databases on servers. Specification 3, service Q.
import { armKey } from '../families/arm.ts'
import { ResourceNotFound } from '../families/arm-errors.ts'
import { listAt, under, type ListResult } from '../families/arm-lists.ts'
import { statusAnswer } from '../families/arm-operations.ts'
import { checkSubscription, idAt, paging, type Input } from '../families/arm-paths.ts'
import type { Context } from '../kernel/context.ts'
import { etagOf } from '../kernel/etag.ts'
import { del, get, operation, patch, post, put, reply } from '../kernel/operation.ts'
import * as autoPause from './auto-pause.ts'
import { polling, showDatabase, viewOf } from './changes.ts'
import * as dropped from './dropped.ts'
import { OBJECTIVES, TIERS } from './objectives.ts'
import {
  DATABASE,
  databaseKey,
  DATABASES,
  databases,
  elasticPools,
  findServer,
  missing,
  POOL,
  poolKey,
  serverKey,
  VERSION,
} from './places.ts'
import * as power from './power.ts'
import * as removal from './removal.ts'
import { rename } from './rename.ts'
import * as replication from './replication.ts'
import {
  database,
  databaseAnswer,
  databaseListAnswer,
  databasePatch,
  moveDefinition,
  type SqlDatabase,
} from './shapes.ts'
import * as writing from './writing.ts'

const IN_POOL = `${POOL}/databases`
const MOVE = `${DATABASE}/move`
const PAUSE = `${DATABASE}/pause`
const RESUME = `${DATABASE}/resume`
const UPGRADE = `${DATABASE}/upgradeDataWarehouse`
const { statusPath: STATUS, resultPath: RESULT, input: polledKey } = polling

const key = databaseKey
const body = { ...key, parameters: database }
const change = { ...key, parameters: databasePatch }
const move = { ...key, parameters: moveDefinition }
const onServer = { ...serverKey, ...paging }
const inPool = { ...poolKey, ...paging }

const one = { answer: databaseAnswer, show: showDatabase }
const page = { answer: databaseListAnswer, show: showList }
const written = { ...one, status: [202, 201, 200], body: 'parameters' }
const changed = { ...one, status: [202, 200], body: 'parameters' }
const powered = { ...one, status: [202, 200] }
// The documents show no body here, and clients expect none.
const upgraded = { status: [202, 200], show: () => undefined }
const erased = { status: [202, 200, 204] }
const moved = { body: 'parameters' }
const polled = { answer: statusAnswer, isBeyond: true }
const ended = { status: [200, 202, 204], show: polling.showResult, isBeyond: true }

const { put: write, patch: modify } = writing
const { pause, resume, upgrade } = power
const { remove } = removal
const { status, result } = polling

export const operations = [
  operation({ name: 'sqlDatabases', rest: get(DATABASES, page), input: onServer, run: list }),
  operation({ name: 'sqlDatabase', rest: get(DATABASE, one), input: key, run: read }),
  operation({ name: 'putSqlDatabase', rest: put(DATABASE, written), input: body, run: write }),
  operation({ name: 'deleteSqlDatabase', rest: del(DATABASE, erased), input: key, run: remove }),
  operation({
    name: 'patchSqlDatabase',
    rest: patch(DATABASE, changed),
    input: change,
    run: modify,
  }),
  operation({ name: 'sqlDatabasesByPool', rest: get(IN_POOL, page), input: inPool, run: listPool }),
  operation({ name: 'pauseSqlDatabase', rest: post(PAUSE, powered), input: key, run: pause }),
  operation({ name: 'resumeSqlDatabase', rest: post(RESUME, powered), input: key, run: resume }),
  operation({
    name: 'upgradeDataWarehouse',
    rest: post(UPGRADE, upgraded),
    input: key,
    run: upgrade,
  }),
  operation({ name: 'renameSqlDatabase', rest: post(MOVE, moved), input: move, run: rename }),
  operation({
    name: 'sqlOperationStatus',
    rest: get(STATUS, polled),
    input: polledKey,
    run: status,
  }),
  operation({
    name: 'sqlOperationResult',
    rest: get(RESULT, ended),
    input: polledKey,
    run: result,
  }),
  operation({ name: 'sqlServiceObjectives', input: {}, run: listObjectives }),
]

export const kinds = [...polling.kinds, ...autoPause.kinds]
export const steps = {
  ...polling.steps,
  ...writing.steps,
  ...power.steps,
  ...removal.steps,
  ...dropped.steps,
  ...replication.steps,
  ...autoPause.steps,
}

const listed = { version: VERSION, kind: databases }

async function list(input: Input, ctx: Context) {
  await findServer(ctx.store, checkSubscription(input, ctx))
  const at = { path: DATABASES, select: (asked: Input) => under(DATABASES, asked) }
  return listAt(listed, at, input, ctx)
}

async function listPool(input: Input, ctx: Context) {
  const id = idAt(POOL, checkSubscription(input, ctx))
  const pool = await ctx.store.get(elasticPools, armKey({ id }))
  if (!pool) throw ResourceNotFound(`The resource ${id} was not found.`)
  const select = () => ({ where: { pool: armKey(pool) } })
  return listAt(listed, { path: IN_POOL, select }, input, ctx)
}

function showList(shown: unknown, ctx: Context) {
  const { value, ...rest } = shown as ListResult<SqlDatabase>
  return { value: value.map((database) => viewOf(database, ctx)), ...rest }
}

async function read(input: Input, ctx: Context) {
  const id = idAt(DATABASE, checkSubscription(input, ctx))
  const found = await ctx.store.get(databases, armKey({ id }))
  if (!found) throw missing(id)
  return reply(200, found, { ETag: etagOf(found) })
}

/** What a database can be, for those who choose. */
async function listObjectives() {
  return OBJECTIVES.map((objective) => ({ ...objective, ...TIERS[objective.tier] }))
}
