// What a configuration of a group may say, and what follows from it. Specification 3, service R.
import { z } from 'zod'
import { optional, text } from '../kernel/shape.ts'
import { BadRequest } from './errors.ts'
import { isTypeName } from './queries.ts'

const ITEMS_MAX = 2
const PARAMETERS_MAX = 20
const VALUES_MAX = 100

const GENERIC = 'AWS::ResourceGroups::Generic'
/** The two types whose groups take resources by name. */
const TAKING = new Set(['AWS::EC2::HostManagement', 'AWS::EC2::CapacityReservationPool'])
const ALLOWED_TYPES = 'allowed-resource-types'
const PROTECTION = 'deletion-protection'

export const configuration = z
  .array(
    z.object({
      Type: text,
      Parameters: optional(
        z
          .array(z.object({ Name: text, Values: optional(z.array(text.max(300)).max(VALUES_MAX)) }))
          .max(PARAMETERS_MAX),
      ),
    }),
  )
  .max(ITEMS_MAX)

export interface ConfigurationItem {
  readonly Type: string
  readonly Parameters?: readonly ConfigurationParameter[]
}

export interface ConfigurationParameter {
  readonly Name: string
  readonly Values?: readonly string[]
}

const isFlag = (value: string) => value === 'true' || value === 'false'
const isName = (value: string) => /^[\w.:/-]{1,300}$/.test(value)

/**
 * The parameters of each type, and which values they take.
 * Chosen: what clients say of hosts is kept and shown; it steers nothing, since there are no hosts.
 */
const PARAMETERS: Readonly<Record<string, Readonly<Record<string, (value: string) => boolean>>>> = {
  'AWS::EC2::HostManagement': {
    'allowed-host-families': isName,
    'allowed-host-based-license-configurations': isName,
    'any-host-based-license-configuration': isFlag,
    'auto-allocate-host': isFlag,
    'auto-release-host': isFlag,
    'auto-host-recovery': isFlag,
  },
  'AWS::EC2::CapacityReservationPool': {},
  [GENERIC]: { [ALLOWED_TYPES]: isTypeName, [PROTECTION]: (value) => value === 'UNLESS_EMPTY' },
}

type Sent = z.output<typeof configuration>

/** Refuses types, parameters and values that no group has. */
export function readConfiguration(sent: Sent): ConfigurationItem[] {
  checkOnce(sent.map(({ Type }) => Type))
  return sent.map(({ Type, Parameters }) => {
    const known = PARAMETERS[Type]
    if (!known) {
      throw BadRequest(`Configuration.Type must be one of ${Object.keys(PARAMETERS).join(', ')}.`)
    }
    if (!Parameters) return { Type }
    checkOnce(Parameters.map(({ Name }) => Name))
    return { Type, Parameters: Parameters.map((parameter) => readParameter(Type, parameter)) }
  })
}

function readParameter(
  type: string,
  { Name, Values = [] }: { Name: string; Values?: readonly string[] | undefined },
): ConfigurationParameter {
  const isValid = Object.hasOwn(PARAMETERS[type]!, Name) ? PARAMETERS[type]![Name] : undefined
  if (!isValid) throw BadRequest(`${type} has no parameter named ${Name}.`)
  const wrong = Values.find((value) => !isValid(value))
  if (wrong !== undefined) throw BadRequest(`${Name} of ${type} cannot be ${wrong}.`)
  if (Values.length === 0) throw BadRequest(`${Name} of ${type} needs a value.`)
  return { Name, Values }
}

function checkOnce(names: readonly string[]): void {
  const twice = names.find((name, i) => names.indexOf(name) !== i)
  if (twice !== undefined) throw BadRequest(`${twice} must be in the configuration once.`)
}

type Items = readonly ConfigurationItem[]

/** Whether a group of this configuration takes resources by name. */
export const takesResources = (items: Items): boolean => items.some(({ Type }) => TAKING.has(Type))

/** The types of resources that a group may hold. Undefined stands for all. */
export const allowedTypesOf = (items: Items): readonly string[] | undefined =>
  valuesOf(items, ALLOWED_TYPES)

/** Whether a group can be deleted only while nothing is in it. */
export const isProtected = (items: Items): boolean => valuesOf(items, PROTECTION) !== undefined

const valuesOf = (items: Items, name: string): readonly string[] | undefined =>
  items.find(({ Type }) => Type === GENERIC)?.Parameters?.find(({ Name }) => Name === name)?.Values
