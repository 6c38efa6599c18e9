import { expect, test } from 'vitest'
import * as faults from '../../resolvers/kernel/fault.ts'
import { aws } from '../../subgraphs/server/dialects/aws.ts'

const dialect = aws({ Invalid: 'BadRequestException', Internal: 'InternalServerErrorException' })

test('a refusal has its name in the header and in the body, and its text twice', () => {
  const refusal = dialect.refuse(faults.fault('LimitExceededException', 412)('Too many.'))

  expect(refusal).toEqual({
    status: 412,
    headers: { 'x-amzn-errortype': 'LimitExceededException' },
    body: { __type: 'LimitExceededException', message: 'Too many.', Message: 'Too many.' },
  })
})

test('members beside name and text are kept', () => {
  const AlreadyExists = faults.fault('AlreadyExistsException', 400)
  const refusal = dialect.refuse(AlreadyExists('Taken.', { details: { Arn: 'arn:1' } }))

  expect(refusal.body).toEqual({
    __type: 'AlreadyExistsException',
    message: 'Taken.',
    Message: 'Taken.',
    Arn: 'arn:1',
  })
})

const named: [kernel: (message: string) => faults.Fault, status: number, name: string][] = [
  [faults.Invalid, 400, 'BadRequestException'],
  [faults.Unauthenticated, 403, 'MissingAuthenticationTokenException'],
  [faults.Forbidden, 403, 'AccessDeniedException'],
  [faults.NotFound, 404, 'UnknownOperationException'],
  [faults.MethodNotAllowed, 405, 'MethodNotAllowedException'],
  [faults.Conflict, 409, 'ConflictException'],
  [faults.PreconditionFailed, 412, 'PreconditionFailedException'],
  [faults.TooLarge, 413, 'RequestEntityTooLargeException'],
  [faults.WrongMediaType, 415, 'UnsupportedMediaTypeException'],
  [faults.TooMany, 429, 'ThrottlingException'],
  [faults.Internal, 500, 'InternalServerErrorException'],
  [faults.Unavailable, 503, 'ServiceUnavailableException'],
]
for (const [kernel, status, name] of named) {
  test(`${kernel('').code} of the kernel is ${name}, by the service's own names first`, () => {
    const refusal = dialect.refuse(kernel('No.'))

    expect(refusal.status).toBe(status)
    expect(refusal.headers['x-amzn-errortype']).toBe(name)
  })
}

test('fields are spelled with a capital unless the service says otherwise', () => {
  expect(dialect.spelling).toBe('pascal')
  expect(aws({}, { spelling: 'camel' }).spelling).toBe('camel')
})
