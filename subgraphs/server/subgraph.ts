// What a subgraph is: who may call, how it refuses, which resources it serves.
import type { FastifyInstance } from 'fastify'
import type { GraphQLResolveInfo } from 'graphql'
import type { Caller, Context } from '../../resolvers/kernel/context.ts'
import type { Listener } from '../../resolvers/kernel/events.ts'
import type { Fault } from '../../resolvers/kernel/fault.ts'
import type { GraphTypes } from '../../resolvers/kernel/graph.ts'
import type { Operation, Shown } from '../../resolvers/kernel/operation.ts'
import type { Soon } from '../../resolvers/kernel/soon.ts'
import type { Kind, Migration } from '../../resolvers/kernel/store.ts'
import type { Step } from '../../resolvers/kernel/work.ts'

/** A service as it is served. */
export interface Subgraph {
  readonly name: string
  /** What the service is, in a few words, for OpenAPI and the start-up banner. */
  readonly title: string
  /** The version that its specification gives. */
  readonly version: string
  /** What its document puts before every path: '' or '/v1/sms-voice'. */
  readonly basePath: string
  readonly scheme: Scheme
  readonly dialect: Dialect
  /** Field names that the dialect's rule spells wrong: the graph's name, then the service's. */
  readonly exceptions?: Readonly<Record<string, string>>
  readonly resources: readonly Resource[]
  readonly migrations?: readonly Migration[]
  /** Adds what is no operation to the REST door: pages for people, and what their browsers need. */
  readonly mount?: (app: FastifyInstance, contextFor: ContextFor) => void | Promise<void>
  /** Does what the first request would wait for, once the process serves. */
  readonly makeReady?: () => Promise<unknown>
  /** Forgets what has expired in the world's time. Called every hour, in every process. */
  readonly sweep?: (ctx: Context) => Promise<void>
  /**
   * Fills a fresh store with something to look at, and returns the names and ids of what no
   * documented operation could have made, for `npm run credentials`.
   */
  readonly demo?: (ctx: Context) => Promise<Record<string, string>>
  /** The services whose demos this one's looks for in the graph, and which are made before it. */
  readonly demoAfter?: readonly string[]
}

/** Makes the context of a request. */
export type ContextFor = (
  caller: Caller,
  request: Pick<Context, 'address' | 'headers' | 'remote'>,
) => Context

/** What one file in resolvers/<service>/ contributes. */
export interface Resource {
  readonly operations?: readonly Operation[]
  readonly kinds?: readonly Kind<any>[]
  readonly steps?: Readonly<Record<string, Step>>
  /** What it will ask the graph that takes long to plan. */
  readonly asks?: (types: GraphTypes) => readonly string[]
  readonly listeners?: Readonly<Record<string, Listener>>
  /** By type: resolves a reference from another subgraph, or returns null. */
  readonly entities?: Readonly<Record<string, EntityResolver>>
  /** By type, then field: fields that are more than a member of their parent. */
  readonly fields?: Readonly<Record<string, Readonly<Record<string, FieldResolver>>>>
}

export type EntityResolver = (reference: any, ctx: Context) => unknown
export type FieldResolver = (
  parent: any,
  args: any,
  ctx: Context,
  info: GraphQLResolveInfo,
) => unknown

/** How an interface words a refusal, spells a field and reads a path. */
export interface Dialect {
  /** How the service spells `backupVaultName`: BackupVaultName, backup_vault_name or the same. */
  readonly spelling: 'pascal' | 'snake' | 'camel'
  /** Whether literal path segments match in any case. */
  readonly ignoreCase?: boolean
  /** Refuses, at the REST door alone, a request that lacks a formality such as a version. */
  readonly admit?: (query: Readonly<Record<string, unknown>>, subgraph: Subgraph) => void
  refuse(fault: Fault): Refusal
  /** The header of every answer in which its clients look for the request id. */
  readonly requestIdHeader?: string
  /** The formalities of every request, as OpenAPI parameters. */
  readonly parameters?: (subgraph: Subgraph) => object[]
  /** The body of a refusal as JSON Schema. */
  readonly refusalSchema: object
}

export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

/** How a caller proves who they are at the service's own doors. */
export interface Scheme {
  readonly kind: 'api-key' | 'basic' | 'bearer' | 'sigv4'
  /** The header that carries the credential, lower case. */
  readonly header: string
  /** The OpenAPI security scheme. */
  readonly security: object
  /** The name of the service in the scope of a signature. */
  readonly signingName?: string
  /** Returns the caller, or throws a Fault that says what is wrong with the credential. */
  prove(shown: Shown, credentials: Credentials, own?: ProofGround): Promise<Caller>
}

/** What a scheme needs that gives out credentials of its own, and keeps them in the service's store. */
export type ProofGround = Pick<Context, 'store' | 'wallClock' | 'remote'>

export type { Shown }

/** What identity knows about credentials, as the schemes ask for it. */
export interface Credentials {
  byApiKey(service: string, key: string): Soon<Caller | undefined>
  byPassword(service: string, username: string, password: string): Soon<Caller | undefined>
  byToken(service: string, token: string): Soon<Caller | undefined>
  /** A person whom no credential proves now, for whom a service acts: it permits nothing by itself. */
  byUser(userId: string): Soon<Caller | undefined>
  /** The key derived for one day, region and service; the secret itself stays with identity. */
  signingKey(scope: SigningScope): Promise<SigningKey | undefined>
}

export interface SigningScope {
  readonly accessKeyId: string
  /** yyyymmdd */
  readonly date: string
  readonly region: string
  /** The signing name, such as `sms-voice`. */
  readonly service: string
}

export interface SigningKey {
  readonly key: Uint8Array
  readonly caller: Caller
  /** SHA-256, in hex, of the session token that must accompany temporary credentials. */
  readonly sessionTokenHash?: string
  /** When temporary credentials end, in milliseconds since 1970. */
  readonly expiresMs?: number
}
