// What is sent to stores and what they show. Specification 3, service C.
import { z } from 'zod'
import { inGroup, partsOf, resourceLocation, resourceTags } from '../families/arm-paths.ts'
import { oneOf, optional, tags, text } from '../kernel/shape.ts'
import type { SkuName } from './records.ts'

const NAME = /^[a-zA-Z0-9_-]{5,50}$/
const NAME_RULE = 'must be 5 to 50 letters, digits, underscores or hyphens'
const USER_IDENTITY = `${inGroup('Vendor.ManagedIdentity/userAssignedIdentities')}/{identityName}`
const USER_IDENTITIES_MAX = 20
const KEY_IDENTIFIER_MAX = 512
const KEY_BYTES_MAX = 384
const LABEL_BYTES_MAX = 128
const FILTER_MAX = 4096
const VALUE_MAX = 10_000
const CONTENT_TYPE_MAX = 256

export const isStoreName = (name: string): boolean => NAME.test(name)
export const storeName = text.regex(NAME, NAME_RULE)

const SKUS: Readonly<Record<string, SkuName>> = { free: 'Free', standard: 'Standard' }

/** Clients spell it in either case. */
const sku = z.object({
  name: z
    .preprocess(
      (name) => (typeof name === 'string' ? (SKUS[name.toLowerCase()] ?? name) : name),
      oneOf(['Free', 'Standard']),
    )
    .meta({ type: 'string' }),
})

// Chosen: an identity and a key of a vault are checked for their form alone, since no service here
// keeps them.
const userIdentityId = text.refine(
  (id) => partsOf(USER_IDENTITY, id) !== undefined,
  `must have the form ${USER_IDENTITY}`,
)

/** A PATCH takes an identity away by null. */
const identity = z.object({
  type: optional(oneOf(['None', 'SystemAssigned', 'UserAssigned', 'SystemAssigned, UserAssigned'])),
  userAssignedIdentities: optional(
    z
      .record(userIdentityId, z.object({}).nullable())
      .refine(
        (all) => Object.keys(all).length <= USER_IDENTITIES_MAX,
        `must be at most ${USER_IDENTITIES_MAX} identities`,
      ),
  ),
})

/** A PATCH takes the key away by null. */
const encryption = z.object({
  keyVaultProperties: z
    .object({
      keyIdentifier: optional(
        text
          .max(KEY_IDENTIFIER_MAX)
          .regex(/^https:\/\/[^\s/]+\/keys\/[\w-]+(\/\w+)?$/, 'must be the address of a key'),
      ),
      identityClientId: optional(z.uuid('must be a UUID')),
    })
    .nullish(),
})

/** The body of PUT. */
export const store = z.object({
  location: resourceLocation,
  sku,
  tags: optional(resourceTags),
  identity: optional(identity),
  properties: optional(z.object({ encryption: optional(encryption) })),
})

/** The body of PATCH. A location is read too, so that a move is refused and not silently ignored. */
export const storePatch = store.extend({
  location: optional(store.shape.location),
  sku: optional(store.shape.sku),
})

export type Store = z.output<typeof store>
export type SentIdentity = z.output<typeof identity>

const isPlain = (value: string) => /^\P{Cc}*$/u.test(value) && value.isWellFormed()

// Chosen: shorter than the vendor's ten thousand characters, so that they can be part of an index.
export const keyOfValue = text
  .refine(
    (key) => key.length >= 1 && Buffer.byteLength(key) <= KEY_BYTES_MAX,
    `must be 1 to ${KEY_BYTES_MAX} bytes long`,
  )
  .refine(isPlain, 'must not contain control characters')
  .refine(
    (key) => !key.includes('%') && key !== '.' && key !== '..',
    "must not contain '%', nor be . or ..",
  )

/** The null character, which clients send for it, and the empty label both mean: without a label. */
export const labelOfValue = optional(
  z
    .preprocess((label) => (label === '\0' ? '' : label), z.string())
    .refine(
      (label) => Buffer.byteLength(label) <= LABEL_BYTES_MAX,
      `must be at most ${LABEL_BYTES_MAX} bytes long`,
    )
    .refine(isPlain, 'must not contain control characters')
    .transform((label) => (label === '' ? undefined : label)),
)

/** Which keys or labels are meant, such as `app/*`. */
export const filterOfValue = optional(z.string().max(FILTER_MAX))

export const valueOfKey = {
  value: text.max(VALUE_MAX),
  contentType: optional(text.max(CONTENT_TYPE_MAX)),
  tags: optional(resourceTags),
}

const state = oneOf(['Creating', 'Updating', 'Deleting', 'Succeeded', 'Failed', 'Canceled'])
const resource = { id: text, name: text, type: text }
const pageOf = <T extends z.ZodType>(of: T) =>
  z.object({ value: z.array(of), nextLink: text.optional() })

export const storeAnswer = z.object({
  ...resource,
  location: text,
  tags: tags.optional(),
  sku: z.object({ name: text }),
  identity: z
    .object({
      type: text,
      principalId: text.optional(),
      userAssignedIdentities: z.record(text, z.object({})).optional(),
    })
    .optional(),
  properties: z.object({
    provisioningState: state,
    creationDate: text,
    endpoint: text,
    encryption: z
      .object({
        keyVaultProperties: z.object({
          keyIdentifier: text.optional(),
          identityClientId: text.optional(),
        }),
      })
      .optional(),
  }),
})
export const storeListAnswer = pageOf(storeAnswer)

export const nameAnswer = z.object({
  nameAvailable: z.boolean(),
  reason: oneOf(['AlreadyExists', 'Invalid']).optional(),
  message: text.optional(),
})

export const keyAnswer = z.object({
  id: text,
  name: text,
  value: text,
  connectionString: text,
  lastModified: text,
  readOnly: z.boolean(),
})
export const keyListAnswer = pageOf(keyAnswer)

export const keyValueAnswer = z.object({
  key: text,
  label: text.optional(),
  value: text,
  contentType: text.optional(),
  eTag: text,
  lastModified: text,
  locked: z.boolean(),
  tags: tags.optional(),
})

export const connectionAnswer = z.object({
  ...resource,
  properties: z.object({
    provisioningState: state,
    privateEndpoint: z.object({ id: text }),
    privateLinkServiceConnectionState: z.object({
      status: oneOf(['Pending', 'Approved', 'Rejected', 'Disconnected']),
      description: text.optional(),
      actionsRequired: oneOf(['None', 'Recreate']),
    }),
  }),
})
export const connectionListAnswer = pageOf(connectionAnswer)

export const linkAnswer = z.object({
  ...resource,
  properties: z.object({ groupId: text, requiredMembers: z.array(text) }),
})
export const linkListAnswer = pageOf(linkAnswer)

export const operationListAnswer = pageOf(
  z.object({
    name: text,
    display: z.object({ provider: text, resource: text, operation: text, description: text }),
  }),
)

/** A key-value as programs read it, in the spelling of that interface. */
export const settingAnswer = z.object({
  etag: text,
  key: text,
  label: text.nullable(),
  content_type: text.nullable(),
  value: text,
  last_modified: text,
  locked: z.boolean(),
  tags,
})
export const settingListAnswer = z.object({
  items: z.array(settingAnswer),
  '@nextLink': text.optional(),
})
