// Expressions over messages and variables, read once and evaluated often. Pure.
//
// 1. There is nothing to reach but what a scope holds: members are own members, and no function is
//    called but the listed ones.
// 2. What is missing or of the wrong type has no value, which is undefined here; so has everything
//    made of it, except where `||`, `isUndefined` and the like say otherwise.
// 3. A text is short and its result is bounded, so that every evaluation ends soon.
import jsep from 'jsep'
import { FUNCTIONS, KEYWORDS, type BuiltIn } from './functions.ts'
import { divider, OPERATORS } from './operators.ts'
import { asFlag, asNumber, asText, bounded, type Scalar } from './values.ts'

export const EXPRESSION_LENGTH_MAX = 512

/** What an expression can see. */
export interface Scope {
  /** The message, where one is evaluated. */
  readonly inputName?: string
  readonly payload?: unknown
  readonly variables: Readonly<Record<string, Scalar>>
  /** The timer that has elapsed, where it is what is evaluated. */
  readonly timerName?: string
  /** What is said of an alarm. */
  readonly alarm?: Readonly<Record<string, Scalar | undefined>> | undefined
}

export type Evaluate = (scope: Scope) => unknown

/** What an expression refers to. */
export interface References {
  /** Paths of attributes, by the input. */
  readonly attributes: Map<string, Set<string>>
  readonly inputs: Set<string>
  readonly variables: Set<string>
  readonly timers: Set<string>
  readonly alarm: Set<string>
}

export const noReferences = (): References => ({
  attributes: new Map(),
  inputs: new Set(),
  variables: new Set(),
  timers: new Set(),
  alarm: new Set(),
})

/** What is wrong with an expression. */
export class BadExpression extends Error {}

interface Compiled {
  readonly evaluate: Evaluate
  /** Whether it is a decimal by the way it is written, whatever its value. */
  readonly isDecimal?: boolean
}

/** Reads an expression and adds what it refers to. Throws BadExpression, which says why it cannot. */
export function readExpression(text: string, refers: References): Evaluate {
  if (text.length > EXPRESSION_LENGTH_MAX) {
    throw new BadExpression(`is longer than ${EXPRESSION_LENGTH_MAX} characters`)
  }
  return compile(parse(text), refers).evaluate
}

/** Reads a text in which `${...}` stands for the value of an expression. */
export function readTemplate(text: string, refers: References): (scope: Scope) => string {
  const parts = text.split(/\$\{([^}]*)\}/)
  const pieces = parts.map((part, i) => (i % 2 === 0 ? part : readExpression(part, refers)))
  return (scope) =>
    pieces
      .map((piece) => (typeof piece === 'string' ? piece : (asText(piece(scope)) ?? 'unknown')))
      .join('')
}

function parse(text: string): jsep.Expression {
  let node: jsep.Expression
  try {
    node = jsep(text)
  } catch (error) {
    // The parser has no class of its own for what is wrong with a text.
    throw new BadExpression(`cannot be read: ${(error as Error).message}`)
  }
  if (node.type === 'Compound') {
    const { body } = node as jsep.Compound
    throw new BadExpression(body.length === 0 ? 'is empty' : 'holds more than one expression')
  }
  return node
}

function compile(node: jsep.Expression, refers: References): Compiled {
  switch (node.type) {
    case 'Literal':
      return literal(node as jsep.Literal)
    case 'MemberExpression':
      return reference(node as jsep.MemberExpression, refers)
    case 'UnaryExpression':
      return unary(node as jsep.UnaryExpression, refers)
    case 'LogicalExpression':
    case 'BinaryExpression':
      return binary(node as jsep.BinaryExpression, refers)
    case 'CallExpression':
      return call(node as jsep.CallExpression, refers)
    case 'Identifier':
      throw new BadExpression(
        `names ${(node as jsep.Identifier).name}, which is neither $input, $variable nor a function`,
      )
    default:
      throw new BadExpression(`holds a ${node.type}, which expressions here do not have`)
  }
}

function literal({ value, raw }: jsep.Literal): Compiled {
  if (value === null || value instanceof RegExp) throw new BadExpression(`holds ${raw}`)
  const isDecimal = typeof value === 'number' && /[.e]/i.test(raw)
  return { evaluate: () => value, isDecimal }
}

type PathStep = string | number

/** `$input.name.path`, `$variable.name` or `$alarm.name`. */
function reference(node: jsep.MemberExpression, refers: References): Compiled {
  const { root, path } = pathOf(node)
  const [first, ...rest] = path
  if (typeof first !== 'string') throw new BadExpression(`reads a place of ${root}, not a name`)
  if (root === '$input') {
    if (rest.length === 0) throw new BadExpression(`names no attribute of $input.${first}`)
    refers.inputs.add(first)
    const known = refers.attributes.get(first) ?? new Set()
    refers.attributes.set(first, known.add(pathText(rest)))
    return {
      evaluate: ({ inputName, payload }) =>
        inputName === first ? valueAt(payload, rest) : undefined,
    }
  }
  if (rest.length > 0) throw new BadExpression(`reads within ${root}.${first}, which is one value`)
  if (root === '$variable') {
    refers.variables.add(first)
    return {
      evaluate: ({ variables }) => (Object.hasOwn(variables, first) ? variables[first] : undefined),
    }
  }
  if (root === '$alarm') {
    refers.alarm.add(first)
    return {
      evaluate: ({ alarm = {} }) => (Object.hasOwn(alarm, first) ? alarm[first] : undefined),
    }
  }
  throw new BadExpression(`names ${root}, which is neither $input nor $variable`)
}

function pathOf(node: jsep.Expression): { root: string; path: PathStep[] } {
  if (node.type === 'Identifier') return { root: (node as jsep.Identifier).name, path: [] }
  if (node.type !== 'MemberExpression') {
    throw new BadExpression('reads a member of something that is neither $input nor $variable')
  }
  const { object, property, computed } = node as jsep.MemberExpression
  const { root, path } = pathOf(object)
  if (!computed) return { root, path: [...path, (property as jsep.Identifier).name] }
  const place = (property as jsep.Literal).value
  if (typeof place !== 'number' || !Number.isSafeInteger(place)) {
    throw new BadExpression('has something else than a whole number between brackets')
  }
  return { root, path: [...path, place] }
}

const pathText = (path: readonly PathStep[]): string =>
  path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text ? `${text}.${step}` : step,
    '',
  )

/** What a message holds at a path; undefined where it holds nothing of its own. */
export function valueAt(payload: unknown, path: readonly PathStep[]): unknown {
  let value = payload
  for (const step of path) {
    const isList = Array.isArray(value)
    if (typeof value !== 'object' || value === null || isList !== (typeof step === 'number')) {
      return undefined
    }
    if (!Object.hasOwn(value, step)) return undefined
    value = (value as Record<PathStep, unknown>)[step]
  }
  return value ?? undefined
}

function unary({ operator, argument }: jsep.UnaryExpression, refers: References): Compiled {
  const { evaluate, isDecimal = false } = compile(argument, refers)
  switch (operator) {
    case '!':
      return {
        evaluate(scope) {
          const value = evaluate(scope)
          return typeof value === 'boolean' ? !value : undefined
        },
      }
    case '-':
      return { isDecimal, evaluate: (scope) => negated(asNumber(evaluate(scope))) }
    case '~':
      return {
        evaluate(scope) {
          const value = evaluate(scope)
          return Number.isSafeInteger(value) ? ~(value as number) : undefined
        },
      }
    default:
      throw new BadExpression(`holds the operator ${operator}`)
  }
}

const negated = (value: number | undefined) => (value === undefined ? undefined : -value)

function binary(node: jsep.BinaryExpression, refers: References): Compiled {
  const { operator } = node
  const left = compile(node.left, refers)
  const right = compile(node.right, refers)
  const isDecimal = left.isDecimal === true || right.isDecimal === true
  // An operand that has no value counts as false here, and nowhere else.
  if (operator === '||') {
    return { evaluate: (scope) => left.evaluate(scope) === true || right.evaluate(scope) === true }
  }
  if (operator === '&&') {
    return {
      evaluate(scope) {
        const first = left.evaluate(scope)
        return first === true ? asFlag(right.evaluate(scope)) : asFlag(first)
      },
    }
  }
  const combine = operator === '/' ? divider(isDecimal) : OPERATORS.get(operator)
  if (!combine) throw new BadExpression(`holds the operator ${operator}`)
  return {
    isDecimal,
    evaluate(scope) {
      const one = left.evaluate(scope)
      const other = right.evaluate(scope)
      return one === undefined || other === undefined ? undefined : combine(one, other)
    },
  }
}

function call(node: jsep.CallExpression, refers: References): Compiled {
  const name = node.callee.type === 'Identifier' ? (node.callee as jsep.Identifier).name : ''
  const builtIn = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined
  if (!builtIn) throw new BadExpression(`calls ${name || 'something'}, which is no function here`)
  const given = node.arguments
  if (given.length !== builtIn.takes) {
    throw new BadExpression(`calls ${name} with ${given.length} values; it takes ${builtIn.takes}`)
  }
  if (builtIn.names) return named(name, builtIn.names, given[0]!, refers)
  const values = given.map((one, i) => keyword(one, builtIn, i) ?? compile(one, refers))
  const { of, isDecimal } = builtIn
  return {
    evaluate: (scope) => bounded(of!(...values.map(({ evaluate }) => evaluate(scope)))),
    isDecimal: isDecimal?.(given[0]!['name'] ?? given[0]!['value']) ?? false,
  }
}

/** The first of `convert` is a word. */
function keyword(node: jsep.Expression, { hasKeyword }: BuiltIn, at: number): Compiled | undefined {
  if (!hasKeyword || at > 0 || node.type !== 'Identifier') return undefined
  const word = (node as jsep.Identifier).name
  if (!KEYWORDS.has(word)) throw new BadExpression(`converts to ${word}`)
  return { evaluate: () => word }
}

/** Functions that take a name in quotes, which must stand there as it is. */
function named(
  name: string,
  what: NonNullable<BuiltIn['names']>,
  given: jsep.Expression,
  refers: References,
): Compiled {
  const value = given.type === 'Literal' ? (given as jsep.Literal).value : undefined
  if (typeof value !== 'string') throw new BadExpression(`calls ${name} without a name in quotes`)
  if (what === 'timer') {
    refers.timers.add(value)
    return { evaluate: ({ timerName }) => timerName === value }
  }
  if (what === 'input') {
    refers.inputs.add(value)
    return { evaluate: ({ inputName }) => inputName === value }
  }
  if (value !== 'Message' && value !== 'Timer') {
    throw new BadExpression(`asks for the trigger ${value}, which is neither Message nor Timer`)
  }
  return {
    evaluate: ({ timerName }) => (timerName === undefined ? 'Message' : 'Timer') === value,
  }
}
