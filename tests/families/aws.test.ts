import { expect, test } from 'vitest'
import { arnOf, epochSecondsOf, readArn } from '../../resolvers/families/aws.ts'

test('an ARN is made and read', () => {
  const arn = arnOf({ service: 'backup', account: '111111111111', resource: 'backup-vault:a/b' })

  expect(arn).toBe('arn:aws:backup:us-east-1:111111111111:backup-vault:a/b')
  expect(readArn(arn)).toEqual({
    service: 'backup',
    region: 'us-east-1',
    account: '111111111111',
    resource: 'backup-vault:a/b',
  })
})

test('an ARN may be of another partition, and without region or account', () => {
  expect(readArn('arn:aws-us-gov:iam::123456789012:role/a')?.region).toBe('')
  expect(readArn('arn:aws:s3:::bucket')).toEqual({
    service: 's3',
    region: '',
    account: '',
    resource: 'bucket',
  })
})

test('what is no ARN is not read as one', () => {
  const others = [
    '',
    'arn:aws:sns',
    'arn:azure:sns:us-east-1:123456789012:a',
    'arn:aws:sns:us-east-1:1234:a',
    'arn:aws:sns:us-east-1:123456789012:',
    'arn:aws:sns:us-east-1:123456789012:a b',
    ' arn:aws:sns:us-east-1:123456789012:a',
  ]

  for (const other of others) expect(readArn(other)).toBeUndefined()
})

test('a time is seconds since 1970, with their fraction', () => {
  expect(epochSecondsOf('2030-01-01T00:00:00.250Z')).toBe(1893456000.25)
})
