import { expect, test } from 'vitest'
import { ARN, openPumps, refusalOf } from './pumps.ts'

const UPDATE = `mutation ($paths: [DetectorInputAttributeInput!]!) {
  updateDetectorInput(inputName: "reading", inputDescription: "new", inputDefinition: { attributes: $paths }) {
    inputDescription inputDefinition { attributes { jsonPath } } creationTime lastUpdateTime } }`
const paths = (...all: string[]) => ({ paths: all.map((jsonPath) => ({ jsonPath })) })

test('an input is created, read and listed', async () => {
  const { service, createInput } = await openPumps()

  const created = await createInput('reading', ['pump', 'sensor.values[0]'])
  await createInput('other')
  const { data } = await service.graphql(
    `{ detectorInput(inputName: "reading") { inputDefinition { attributes { jsonPath } } detectorModelNames }
       detectorInputs { nodes { inputName } } }`,
  )

  expect(created.data.it).toEqual({ inputName: 'reading', inputArn: `${ARN}:input/reading` })
  expect(data).toEqual({
    detectorInput: {
      inputDefinition: { attributes: [{ jsonPath: 'pump' }, { jsonPath: 'sensor.values[0]' }] },
      detectorModelNames: [],
    },
    detectorInputs: { nodes: [{ inputName: 'other' }, { inputName: 'reading' }] },
  })
})

test.each([
  ['a name that begins with a digit', '1st', ['pump']],
  ['a name with a hyphen', 'a-b', ['pump']],
  ['no attributes', 'reading', []],
  ['a bad path', 'reading', ['a..b']],
  ['a path with a hyphen', 'reading', ['a-b']],
])('an input with %s is refused', async (_, name, attributes) => {
  const { createInput } = await openPumps()

  expect(refusalOf(await createInput(name, attributes))?.code).toBe('Invalid')
})

test('a second input of a name is refused', async () => {
  const { createInput } = await openPumps()
  await createInput()

  expect(refusalOf(await createInput())).toEqual({
    code: 'ResourceAlreadyExistsException',
    message: 'There is an input named reading already.',
  })
})

test('an input can be changed as long as it declares what models read', async () => {
  const { service, createInput, createModel, send, detector } = await openPumps()
  await createInput()
  await createModel()
  await service.advance(1_000)

  const changed = await service.graphql(UPDATE, paths('pump', 'pressure', 'more'))
  const broken = await service.graphql(UPDATE, paths('pump'))
  const keyless = await service.graphql(UPDATE, paths('pressure'))
  await send({ pump: 'a', pressure: 1 })

  expect(changed.data.updateDetectorInput).toEqual({
    inputDescription: 'new',
    inputDefinition: {
      attributes: [{ jsonPath: 'pump' }, { jsonPath: 'pressure' }, { jsonPath: 'more' }],
    },
    creationTime: '2030-01-01T00:00:00.000Z',
    lastUpdateTime: '2030-01-01T00:00:01.000Z',
  })
  expect(refusalOf(broken)).toEqual({
    code: 'ResourceInUseException',
    message: 'The model pumps reads the attribute pressure. Keep it.',
  })
  expect(refusalOf(keyless)?.message).toBe('The model pumps reads the attribute pump. Keep it.')
  expect((await detector('a')).variables).toEqual({ count: 1 })
})

test('an input that a model reads is not deleted', async () => {
  const { service, createInput, createModel } = await openPumps()
  await createInput()
  await createModel()
  const remove = () => service.graphql('mutation { deleteDetectorInput(inputName: "reading") }')

  const used = await remove()
  await service.graphql('mutation { deleteDetectorModel(detectorModelName: "pumps") }')
  const unused = await remove()
  const gone = await remove()

  expect(refusalOf(used)).toEqual({
    code: 'ResourceInUseException',
    message: 'The model pumps reads reading. Delete it first.',
  })
  expect(unused.data.deleteDetectorInput).toBe(true)
  expect(refusalOf(gone)?.code).toBe('ResourceNotFoundException')
  const read = await service.graphql('{ detectorInput(inputName: "reading") { inputName } }')
  expect(refusalOf(read)?.code).toBe('ResourceNotFoundException')
  expect(refusalOf(await service.graphql(UPDATE, paths('a')))?.code).toBe(
    'ResourceNotFoundException',
  )
})

test('an input is read by at most 50 models', async () => {
  const { createInput, createModel } = await openPumps()
  await createInput()
  for (let i = 0; i < 50; i += 1) await createModel(undefined, { name: `m${i}` })

  expect(refusalOf(await createModel(undefined, { name: 'one-more' }))).toEqual({
    code: 'LimitExceededException',
    message: 'An input is read by at most 50 models.',
  })
})
