// Queries that differ in the values written into them alone are one operation with variables.
//
// A client that writes `podcast(id: "a")` and then `podcast(id: "b")` would have each parsed, checked and
// planned anew. The values are lifted out of the text, and what is left is prepared once for all.
import {
  getNamedType,
  isScalarType,
  Kind,
  Lexer,
  parse,
  parseType,
  Source,
  TokenKind,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
  type DocumentNode,
  type GraphQLSchema,
  type NamedTypeNode,
  type NonNullTypeNode,
  type Token,
  type VariableDefinitionNode,
} from 'graphql'
import { LRUCache } from 'lru-cache'
import { PAGE_ARGUMENTS, TOKENS_MAX } from '../cost-measured.ts'

/** The kind of a value is part of the name: a query with another kind may be wrong where this is right. */
const LETTERS: Readonly<Partial<Record<TokenKind, string>>> = {
  [TokenKind.INT]: 'I',
  [TokenKind.FLOAT]: 'F',
  [TokenKind.STRING]: 'S',
}
const PREFIX = '_literal'
const KEPT_MAX = 2_000
/** What these make of a value they make of a variable too. */
const SCALARS = new Set(['Int', 'Float', 'String', 'ID'])

export interface Lifted {
  /** The text with variables in place of values, which it does not declare yet. */
  readonly template: string
  readonly values: Readonly<Record<string, unknown>>
}

export interface Lifting {
  /** Undefined for a query that has nothing to lift, or is not the same without. */
  of(query: string): Lifted | undefined
  /** The operation of what was lifted. */
  documentOf(lifted: Lifted): DocumentNode | undefined
}

/** Keeps what was lifted, since clients send the same texts again and again. */
export function openLifting(schema: GraphQLSchema): Lifting {
  const texts = new LRUCache<string, Lifted | false>({ max: KEPT_MAX })
  const documents = new LRUCache<string, DocumentNode | false>({ max: KEPT_MAX })
  return {
    of(query) {
      let lifted = texts.get(query)
      if (lifted === undefined) texts.set(query, (lifted = lift(query) ?? false))
      return lifted && documents.get(lifted.template) !== false ? lifted : undefined
    },
    documentOf({ template }) {
      let document = documents.get(template)
      if (document === undefined) {
        documents.set(template, (document = declared(template, schema) ?? false))
      }
      return document || undefined
    },
  }
}

/** Undefined for a text without values of arguments, or one that is no query. */
function lift(query: string): Lifted | undefined {
  if (query.includes(PREFIX)) return undefined
  const values: Record<string, unknown> = {}
  let template = ''
  let end = 0
  try {
    for (const { kind, from, to, text } of valuesIn(query)) {
      const value = kind === TokenKind.STRING ? text : Number(text)
      if (kind === TokenKind.INT && !Number.isSafeInteger(value)) continue
      const name = `${PREFIX}${LETTERS[kind]}${Object.keys(values).length}`
      values[name] = value
      template += `${query.slice(end, from)}$${name}`
      end = to
    }
  } catch {
    // Whoever parses it says what is wrong.
    return undefined
  }
  return end === 0 ? undefined : { template: template + query.slice(end), values }
}

/** Values that are whole arguments of fields: not those of directives, nor within lists or objects. */
function* valuesIn(query: string) {
  const lexer = new Lexer(new Source(query))
  let tokens = 0
  let selections = 0
  let within = 0
  let isOfField = false
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    const { kind } = token
    if ((tokens += 1) > TOKENS_MAX) throw new Error('longer than is answered')
    if (kind === TokenKind.BRACE_L && within === 0) selections += 1
    else if (kind === TokenKind.BRACE_R && within === 0) selections -= 1
    else if (kind === TokenKind.PAREN_L) {
      within += 1
      isOfField = selections > 0 && token.prev?.prev?.kind !== TokenKind.AT
    } else if (OPENING.has(kind)) within += 1
    else if (CLOSING.has(kind)) within -= 1
    else if (LETTERS[kind] && within === 1 && isOfField && isLiftable(token)) {
      yield { kind, from: token.start, to: token.end, text: token.value }
    }
  }
}

/** The size of a page stays where it is: what a query costs is then the same each time. */
const isLiftable = ({ prev }: Token): boolean =>
  prev?.kind === TokenKind.COLON && !PAGE_ARGUMENTS.has(prev.prev?.value ?? '')

const OPENING = new Set<TokenKind>([TokenKind.BRACE_L, TokenKind.BRACKET_L])
const CLOSING = new Set<TokenKind>([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** The operation of a template, its variables declared. Undefined if it is not the same with variables. */
function declared(template: string, schema: GraphQLSchema): DocumentNode | undefined {
  const parsed = parse(template, { noLocation: true })
  const types = new Map<string, string>()
  const info = new TypeInfo(schema)
  let isSame = true
  visit(
    parsed,
    visitWithTypeInfo(info, {
      Variable({ name: { value } }) {
        if (!value.startsWith(PREFIX)) return
        const type = info.getInputType()
        const named = type && getNamedType(type)
        isSame &&= isScalarType(named) && SCALARS.has(named.name)
        types.set(value, String(type))
      },
    }),
  )
  if (!isSame) return undefined
  const added = [...types].map(([name, type]): VariableDefinitionNode => ({
    kind: Kind.VARIABLE_DEFINITION,
    variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } },
    type: parseType(type, { noLocation: true }) as NamedTypeNode | NonNullTypeNode,
  }))
  const definitions = parsed.definitions.map((node) =>
    node.kind === Kind.OPERATION_DEFINITION
      ? { ...node, variableDefinitions: [...(node.variableDefinitions ?? []), ...added] }
      : node,
  )
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions }
  // Two fields of one name have the same value, but not the same variable; then it is not the same.
  return validate(schema, document).length === 0 ? document : undefined
}
