import { expect, test } from 'vitest'
import { NOBODY, type Caller, type Context } from '../../resolvers/kernel/context.ts'
import { isPermitted } from '../../resolvers/kernel/context.ts'
import { operation, perform } from '../../resolvers/kernel/operation.ts'
import { flag, oneOf, optional, tags, text, whole } from '../../resolvers/kernel/shape.ts'
import { people } from '../people.ts'

const contextOf = (caller: Caller) => ({ caller }) as Context
const asAlice = contextOf(people.alice)

const echo = operation({
  name: 'echo',
  input: {
    name: text,
    size: optional(whole),
    isRed: optional(flag),
    colour: optional(oneOf(['red', 'blue'])),
    tags: optional(tags),
  },
  run: async (input) => input,
})

test('a query string and a GraphQL argument are read alike', async () => {
  const read = await perform(echo, { name: 'a', size: '12', isRed: 'false' }, asAlice)

  expect(read).toEqual({ name: 'a', size: 12, isRed: false })
  expect(await perform(echo, { name: 'a', size: 12, isRed: false }, asAlice)).toEqual(read)
})

test('null is the same as left out', async () => {
  expect(await perform(echo, { name: 'a', size: null, tags: null }, asAlice)).toEqual({ name: 'a' })
})

test('a field that nobody asked for does not reach the rules', async () => {
  expect(await perform(echo, { name: 'a', isAdmin: true }, asAlice)).toEqual({ name: 'a' })
})

test.each([
  [{}, 'name is required.'],
  [{ name: 1 }, 'name invalid input: expected string, received number.'],
  [{ name: 'a\0b' }, 'name must not contain the null character.'],
  [{ name: 'a', size: '1.5' }, 'size invalid input: expected number, received string.'],
  [
    { name: 'a', size: '9007199254740993' },
    'size invalid input: expected number, received string.',
  ],
  [{ name: 'a', colour: 'green' }, 'colour invalid option: expected one of "red"|"blue".'],
  [{ name: 'a', tags: { x: 1 } }, 'tags.x invalid input: expected string, received number.'],
])('%j is refused with a message that names the field', async (sent, message) => {
  await expect(perform(echo, sent, asAlice)).rejects.toMatchObject({
    code: 'Invalid',
    status: 400,
    message,
  })
})

test('all that is wrong is named at once', async () => {
  const refused = perform(echo, { size: 'x', isRed: 'x' }, asAlice)

  await expect(refused).rejects.toMatchObject({
    details: { fields: [{ name: 'name' }, { name: 'size' }, { name: 'isRed' }] },
  })
})

test('nobody may ask what is not open to anyone', async () => {
  const refused = perform(echo, { name: 'a' }, contextOf(NOBODY))

  await expect(refused).rejects.toMatchObject({ code: 'Unauthenticated', status: 401 })
})

test('who may ask is checked before what was sent', async () => {
  const guarded = operation({ ...echo, needs: 'things:Read' })
  const refused = perform(
    guarded,
    {},
    contextOf({ ...people.alice, permissions: ['things:Write'] }),
  )

  await expect(refused).rejects.toMatchObject({
    code: 'Forbidden',
    message: 'The credential does not permit things:Read.',
  })
})

test('services alone, and administrators alone, may ask what is for them', async () => {
  const forServices = operation({ name: 'a', access: 'services', input: {}, run: async () => 1 })
  const forAdmins = operation({
    name: 'b',
    access: 'administrators',
    input: {},
    run: async () => 2,
  })

  await expect(perform(forServices, {}, asAlice)).rejects.toMatchObject({ code: 'Forbidden' })
  await expect(perform(forAdmins, {}, asAlice)).rejects.toMatchObject({ code: 'Forbidden' })
  expect(await perform(forServices, {}, contextOf({ ...people.alice, kind: 'service' }))).toBe(1)
  expect(await perform(forAdmins, {}, contextOf({ ...people.alice, isAdmin: true }))).toBe(2)
})

test.each([
  ['*', 'sms-voice:SendVoiceMessage', true],
  ['sms-voice:*', 'sms-voice:SendVoiceMessage', true],
  ['sms-voice:Send*Message', 'sms-voice:SendVoiceMessage', true],
  ['sms-voice:SendVoiceMessage', 'sms-voice:SendVoiceMessage', true],
  ['sms-voice:Get*', 'sms-voice:SendVoiceMessage', false],
  ['sms-voice', 'sms-voice:SendVoiceMessage', false],
  ['*:List*', 'backup:ListVaults', true],
  ['a*a', 'a', false],
  ['*b*b*', 'ab', false],
  ['', 'x', false],
])('the permission %s covers %s: %s', (granted, asked, expected) => {
  expect(isPermitted({ ...people.alice, permissions: [granted] }, asked)).toBe(expected)
})
