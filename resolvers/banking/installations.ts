// How a client gets in: it installs its key, registers a device with an API key, and opens sessions.
// Specification 2, service B; steps as its clients know them.
//
// A token proves an installation or a session; subgraphs/banking/scheme.ts reads it, and proves the API key
// that a request of an installation carries as its secret. Here the caller is then the owner of that key.
import { createPublicKey } from 'node:crypto'
import { z } from 'zod'
import type { Context } from '../kernel/context.ts'
import { Forbidden } from '../kernel/fault.ts'
import { del, get, operation, post, reply } from '../kernel/operation.ts'
import { optional, text, whole } from '../kernel/shape.ts'
import { kind, numberOf, type Records } from '../kernel/store.ts'
import { BadRequest, LimitExceeded, NoSuch, SignatureRequired } from './errors.ts'
import { nextId } from './numbers.ts'
import { listInput, listKind, showNodes } from './pages.ts'
import { hashOf, newToken } from './secrets.ts'
import { serverPublicKey } from './server-key.ts'
import { idShape, itemId, momentOf, showId } from './shapes.ts'
import { SIGNED } from './signatures.ts'
import { bankUsers, showUser, userOfKindShape, type BankUser } from './users.ts'

const DEVICES_MAX = 20
const ADDRESSES_MAX = 20
const RSA_BITS_MIN = 2048
const SESSION_MS = 7 * 24 * 60 * 60_000

export interface Installation {
  readonly id: number
  readonly created: string
  readonly updated: string
  readonly tokenHash: string
  readonly client_public_key: string
}

export interface Device {
  readonly id: number
  readonly installationId: number
  readonly owner: string
  readonly created: string
  readonly updated: string
  readonly description: string
  readonly ip: string
  readonly status: 'ACTIVE'
  /** The addresses that its sessions may come from; `*` is any. */
  readonly permitted_ips: readonly string[]
}

export interface BankSession {
  readonly id: number
  readonly installationId: number
  readonly owner: string
  readonly tokenHash: string
  readonly created: string
  readonly expiresMs: number
  readonly permitted_ips: readonly string[]
}

export const installations = kind<Installation>('installation', {
  key: ({ tokenHash }) => tokenHash,
  columns: { id: numberOf(({ id }) => id) },
  indexes: [['id']],
})
export const devices = kind<Device>('device', {
  key: ({ id }) => String(id),
  columns: {
    id: numberOf(({ id }) => id),
    installation: numberOf(({ installationId }) => installationId),
  },
  indexes: [['installation', 'id']],
})
export const sessions = kind<BankSession>('bank_session', {
  key: ({ tokenHash }) => tokenHash,
  columns: {
    id: numberOf(({ id }) => id),
    expires: numberOf(({ expiresMs }) => expiresMs),
  },
  indexes: [['id'], ['expires']],
})
export const kinds = [installations, devices, sessions]

const beyond = { isBeyond: true }
const tokenShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  token: z.string(),
})
const keyShape = z.object({ server_public_key: z.string() })
const deviceShape = z.object({
  id: z.int(),
  created: z.string(),
  updated: z.string(),
  description: z.string(),
  ip: z.string(),
  status: z.string(),
})
const secret = text.min(1).max(512)

export const operations = [
  operation({
    name: 'createBankInstallation',
    access: 'anyone',
    rest: post('/installation', {
      ...beyond,
      show: showInstallation,
      answer: z.object({ Id: idShape, Token: tokenShape, ServerPublicKey: keyShape }),
    }),
    input: { client_public_key: text.max(4096) },
    run: createInstallation,
  }),
  operation({
    name: 'bankInstallations',
    rest: get('/installation', { ...beyond, answer: z.array(idShape) }),
    input: {},
    run: async (_input, ctx) => [{ id: installationOf(ctx) }],
  }),
  operation({
    name: 'bankInstallation',
    rest: get('/installation/{itemId}', { ...beyond, show: showId, answer: idShape }),
    input: { itemId },
    run: async ({ itemId }, ctx) => ({ id: checkInstallation(ctx, itemId) }),
  }),
  operation({
    name: 'bankServerPublicKey',
    rest: get('/installation/{installationId}/server-public-key', { ...beyond, answer: keyShape }),
    input: { installationId: itemId },
    async run({ installationId }, ctx) {
      checkInstallation(ctx, installationId)
      return { server_public_key: await serverPublicKey(ctx) }
    },
  }),
  operation({
    name: 'createDeviceServer',
    rest: post('/device-server', { ...beyond, show: showId, answer: idShape }),
    input: {
      description: text.min(1).max(500),
      secret,
      permitted_ips: optional(z.array(text.min(1).max(64)).max(ADDRESSES_MAX)),
    },
    run: createDevice,
  }),
  operation({
    name: 'deviceServers',
    rest: get('/device-server', {
      ...beyond,
      show: (page) => (showNodes(page) as Device[]).map(showDevice),
      answer: z.array(deviceShape),
    }),
    input: listInput,
    run: (input, ctx) => listKind(ctx, devices, { installation: installationOf(ctx) }, input),
  }),
  operation({
    name: 'deviceServer',
    rest: get('/device-server/{itemId}', { ...beyond, show: showDevice, answer: deviceShape }),
    input: { itemId },
    async run({ itemId }, ctx) {
      const device = await ctx.store.get(devices, String(itemId))
      if (device?.installationId !== installationOf(ctx)) throw NoSuch('device', itemId)
      return device
    },
  }),
  operation({
    name: 'createSessionServer',
    rest: post('/session-server', {
      ...beyond,
      show: showSession,
      answer: z.object({ Id: idShape, Token: tokenShape }).and(userOfKindShape),
    }),
    input: { secret },
    refuses: { 466: 'The request is not signed.' },
    run: createSession,
  }),
  operation({
    name: 'deleteBankSession',
    rest: del('/session/{itemId}', beyond),
    input: { itemId: whole },
    run: deleteSession,
  }),
]

/** The installation that the caller's token or session belongs to. */
function installationOf({ caller }: Context): number {
  const id = /^installation (\d+)/.exec(caller.credentialId)?.[1]
  if (id !== undefined) return Number(id)
  throw Forbidden(
    'Show the token of an installation, or of a session, in X-Vendor-Client-Authentication.',
  )
}

function checkInstallation(ctx: Context, id: number): number {
  if (installationOf(ctx) !== id) throw NoSuch('installation', id)
  return id
}

async function createInstallation(
  { client_public_key }: { client_public_key: string },
  ctx: Context,
) {
  checkPublicKey(client_public_key)
  const server_public_key = await serverPublicKey(ctx)
  const token = newToken()
  const now = momentOf(ctx.clock.now())
  return ctx.store.transaction(async (tx) => {
    const id = await nextId(tx, 'installation')
    const installation = {
      id,
      created: now,
      updated: now,
      tokenHash: hashOf(token),
      client_public_key,
    }
    await tx.insert(installations, installation)
    await ctx.events.announce(tx, {
      type: 'banking.installation.created',
      subject: String(id),
      body: {},
    })
    return { id, token: { id, created: now, updated: now, token }, server_public_key }
  })
}

function showInstallation(made: Awaited<ReturnType<typeof createInstallation>>) {
  const { id, token, server_public_key } = made
  return { Id: { id }, Token: token, ServerPublicKey: { server_public_key } }
}

function checkPublicKey(pem: string): void {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPublicKey(pem)
    const bits = asymmetricKeyDetails?.modulusLength ?? 0
    if (asymmetricKeyType === 'rsa' && bits >= RSA_BITS_MIN) return
  } catch {
    // Text that is no key is refused like a key of the wrong kind.
  }
  throw BadRequest(`client_public_key must be an RSA key of ${RSA_BITS_MIN} bits or more, in PEM.`)
}

async function createDevice(
  input: { description: string; permitted_ips?: string[] | undefined },
  ctx: Context,
): Promise<Device> {
  const installationId = installationOf(ctx)
  const now = momentOf(ctx.clock.now())
  return ctx.store.transaction(async (tx) => {
    const count = await tx.count(devices, { where: { installation: installationId } })
    if (count >= DEVICES_MAX)
      throw LimitExceeded(`An installation has at most ${DEVICES_MAX} devices.`)
    const device: Device = {
      id: await nextId(tx, 'device'),
      installationId,
      owner: ctx.caller.userId,
      created: now,
      updated: now,
      description: input.description,
      ip: ctx.remote ?? '',
      status: 'ACTIVE',
      permitted_ips: input.permitted_ips ?? [ctx.remote ?? '*'],
    }
    await tx.insert(devices, device)
    await ctx.events.announce(tx, {
      type: 'banking.device.created',
      subject: String(device.id),
      body: { description: device.description },
    })
    return device
  })
}

function showDevice({ installationId: _, owner: __, permitted_ips: ___, ...device }: Device) {
  return device
}

async function createSession(_input: object, ctx: Context) {
  const installationId = installationOf(ctx)
  const { userId, permissions } = ctx.caller
  if (!permissions.includes(SIGNED)) {
    throw SignatureRequired(
      'Sign the body of this request, and send it in X-Vendor-Client-Signature.',
    )
  }
  const token = newToken()
  const now = ctx.clock.now().getTime()
  return ctx.store.transaction(async (tx) => {
    const device = await deviceOf(tx, installationId, userId)
    if (!device)
      throw BadRequest('Register a device with this secret first, at POST /device-server.')
    const { items } = await tx.list(bankUsers, { where: { owner: userId }, order: 'id', limit: 1 })
    const user = items[0]
    if (!user)
      throw BadRequest('The owner of this secret has no user yet: POST /user-person makes one.')
    const id = await nextId(tx, 'session')
    await tx.insert(sessions, {
      id,
      installationId,
      owner: userId,
      tokenHash: hashOf(token),
      created: momentOf(now),
      expiresMs: ctx.wallClock.now().getTime() + SESSION_MS,
      permitted_ips: device.permitted_ips,
    })
    await ctx.events.announce(tx, {
      type: 'banking.session.created',
      subject: String(id),
      body: { user_id: user.id },
    })
    return { id, token: { id, created: momentOf(now), updated: momentOf(now), token }, user }
  })
}

async function deviceOf(
  tx: Records,
  installationId: number,
  owner: string,
): Promise<Device | undefined> {
  const { items } = await tx.list(devices, {
    where: { installation: installationId },
    order: 'id',
    descending: true,
    limit: DEVICES_MAX,
  })
  return items.find((device) => device.owner === owner)
}

function showSession({ id, token, user }: { id: number; token: object; user: BankUser }) {
  return { Id: { id }, Token: token, ...showUser(user) }
}

/** Ends the caller's own session, by its id or by 0. */
async function deleteSession({ itemId }: { itemId: number }, ctx: Context) {
  const own = Number(/ session (\d+)$/.exec(ctx.caller.credentialId)?.[1] ?? 0)
  if (own === 0 || (itemId !== 0 && itemId !== own)) throw NoSuch('session', itemId)
  await ctx.store.transaction(async (tx) => {
    const { items } = await tx.list(sessions, { where: { id: own }, limit: 1 })
    if (!items[0] || !(await tx.remove(sessions, items[0].tokenHash)))
      throw NoSuch('session', itemId)
    await ctx.events.announce(tx, {
      type: 'banking.session.deleted',
      subject: String(own),
      body: {},
    })
  })
  return reply(200)
}

const SWEEP_MAX = 1_000

/** Forgets sessions that have ended. */
export async function sweepSessions({ store, wallClock }: Context): Promise<void> {
  const query = { order: 'expires', below: wallClock.now().getTime(), limit: SWEEP_MAX }
  while ((await store.removeMany(sessions, query)) === SWEEP_MAX);
}
