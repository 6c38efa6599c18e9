// Inputs: the sorts of messages that come in, each with the attributes that models may read.
// Of the graph alone; their messages are in messages.ts.
import { accountOf, arnOf } from '../families/aws.ts'
import type { Context } from '../kernel/context.ts'
import { operation, reply } from '../kernel/operation.ts'
import { connect, paging } from '../kernel/paging.ts'
import { kind, type Records } from '../kernel/store.ts'
import { LimitExceeded, ResourceAlreadyExists, ResourceInUse, ResourceNotFound } from './errors.ts'
import { description, inputDefinition, inputName } from './shapes.ts'

const INPUTS_MAX = 1_000

export interface Input {
  readonly account: string
  readonly inputName: string
  readonly inputDescription?: string | undefined
  readonly inputDefinition: InputDefinition
  readonly creationTime: string
  readonly lastUpdateTime: string
  /** The models that take its messages, so that one read tells where a message goes. */
  readonly takers: readonly Taker[]
}

export interface InputDefinition {
  readonly attributes: readonly { readonly jsonPath: string }[]
}

export interface Taker {
  readonly type: 'detector' | 'alarm'
  readonly modelName: string
  /** Of the model as it is now: a change of a model is told to its inputs in the same transaction. */
  readonly revision: string
  /** The attributes that the model reads. */
  readonly reads: readonly string[]
}

export const inputs = kind<Input>('detector_input', {
  key: ({ account, inputName }) => inputKey(account, inputName),
})
export const kinds = [inputs]

const described = { inputDescription: description, inputDefinition }

export const operations = [
  operation({
    name: 'createDetectorInput',
    input: { inputName, ...described },
    needs: 'iotevents:CreateInput',
    refuses: {
      409: 'The account has an input of this name.',
      410: 'The account has as many inputs as it may.',
    },
    run: createInput,
  }),
  operation({
    name: 'updateDetectorInput',
    input: { inputName, ...described },
    needs: 'iotevents:UpdateInput',
    refuses: { 404: 'There is no such input.', 409: 'A model reads what would be gone.' },
    run: updateInput,
  }),
  operation({
    name: 'deleteDetectorInput',
    input: { inputName },
    needs: 'iotevents:DeleteInput',
    refuses: { 404: 'There is no such input.', 409: 'A model reads it.' },
    run: deleteInput,
  }),
  operation({
    name: 'detectorInput',
    input: { inputName },
    needs: 'iotevents:DescribeInput',
    async run({ inputName }, ctx) {
      const input = await ctx.store.get(inputs, inputKey(accountOf(ctx), inputName))
      if (input) return input
      throw missing(inputName)
    },
  }),
  operation({
    name: 'detectorInputs',
    input: paging,
    needs: 'iotevents:ListInputs',
    run: ({ first, after }, ctx) =>
      connect(ctx, inputs, { first, after, prefix: inputKey(accountOf(ctx), '') }),
  }),
]

export const fields = {
  DetectorInput: {
    inputArn: ({ account, inputName }: Input) =>
      arnOf({ service: 'iotevents', account, resource: `input/${inputName}` }),
    detectorModelNames: ({ takers }: Input) => modelNames(takers, 'detector'),
    alarmModelNames: ({ takers }: Input) => modelNames(takers, 'alarm'),
  },
}

const modelNames = (takers: readonly Taker[], wanted: Taker['type']): string[] =>
  takers.filter(({ type }) => type === wanted).map(({ modelName }) => modelName)

interface SentInput {
  readonly inputName: string
  readonly inputDescription?: string | undefined
  readonly inputDefinition: InputDefinition
}

export async function createInput(sent: SentInput, ctx: Context): Promise<Input> {
  const account = accountOf(ctx)
  return ctx.store.transaction((tx) => insertInput(tx, { ...sent, account }, ctx))
}

/** Makes an input that nothing takes yet. */
export async function insertInput(
  tx: Records,
  sent: SentInput & { readonly account: string },
  ctx: Context,
): Promise<Input> {
  const now = ctx.clock.now().toISOString()
  const input: Input = { ...sent, creationTime: now, lastUpdateTime: now, takers: [] }
  if (!(await tx.insert(inputs, input))) {
    throw ResourceAlreadyExists(`There is an input named ${sent.inputName} already.`)
  }
  if ((await tx.count(inputs, { prefix: inputKey(sent.account, '') })) > INPUTS_MAX) {
    throw LimitExceeded(`An account has at most ${INPUTS_MAX} inputs.`)
  }
  await announce(tx, input, 'created', ctx)
  return input
}

async function updateInput(sent: SentInput, ctx: Context): Promise<Input> {
  const key = inputKey(accountOf(ctx), sent.inputName)
  const lastUpdateTime = ctx.clock.now().toISOString()
  return ctx.store.transaction(async (tx) => {
    const before = await tx.get(inputs, key)
    if (!before) throw missing(sent.inputName)
    const input: Input = { ...before, ...sent, lastUpdateTime }
    for (const { modelName, reads } of input.takers) {
      const undeclared = firstUndeclared(input, reads)
      if (undeclared === undefined) continue
      throw ResourceInUse(`The model ${modelName} reads the attribute ${undeclared}. Keep it.`)
    }
    await tx.save(inputs, input)
    await announce(tx, input, 'changed', ctx)
    return input
  })
}

async function deleteInput({ inputName }: { inputName: string }, ctx: Context) {
  const key = inputKey(accountOf(ctx), inputName)
  await ctx.store.transaction(async (tx) => {
    const input = await tx.get(inputs, key)
    if (!input) throw missing(inputName)
    const [taker] = input.takers
    if (taker) {
      throw ResourceInUse(`The model ${taker.modelName} reads ${inputName}. Delete it first.`)
    }
    await tx.remove(inputs, key)
    await announce(tx, input, 'deleted', ctx)
  })
  return reply(200)
}

const announce = (tx: Records, { account, inputName }: Input, happened: string, ctx: Context) =>
  ctx.events.announce(tx, {
    type: `event-detection.input.${happened}`,
    subject: inputName,
    body: { account },
  })

export const inputKey = (account: string, name: string): string => `${account}/${name}`

export const missing = (name: string) => ResourceNotFound(`There is no input named ${name}.`)

/** The first of the paths that the input does not declare; declaring one declares all below it. */
export function firstUndeclared(
  { inputDefinition }: Pick<Input, 'inputDefinition'>,
  paths: readonly string[],
): string | undefined {
  const covers = (declared: string, path: string) =>
    path.startsWith(declared) && ['', '.', '['].includes(path.charAt(declared.length))
  return paths.find(
    (path) => !inputDefinition.attributes.some(({ jsonPath }) => covers(jsonPath, path)),
  )
}
