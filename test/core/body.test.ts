import { describe, expect, it } from 'vitest'
import { bodyRef, bodyRefWithoutDigest, errorBody, mayWrite, stepBody } from '../../src/core/body.ts'
import { MACHINE } from '../../src/core/transitions.ts'
import type { CommandType } from '../../src/core/verb.ts'

const NAMES = [
  'input',
  'output',
  'checkpoint',
  stepBody('pay'),
  errorBody(1),
  'signal',
  'signal/1',
  'step/',
  'error/',
  '',
]

describe('bodies', () => {
  it('are known by name, length and what they say', () => {
    expect(bodyRef('output', '{"a":1}')).toEqual({ name: 'output', size: 7, digest: bodyRef('x', '{"a":1}').digest })
    expect(bodyRef('output', '{"a":1}').digest).not.toBe(bodyRef('output', '{"a":2}').digest)
    expect(bodyRefWithoutDigest('input', 'äö')).toEqual({ name: 'input', size: 2, digest: undefined })
  })
})

describe('a command writes', () => {
  it.each(Object.keys(MACHINE) as CommandType[])('%s: the bodies that are its own', (command) => {
    const own: Readonly<Partial<Record<CommandType, readonly string[]>>> = {
      complete: ['output'],
      checkpoint: ['checkpoint'],
      record: ['step/pay'],
      fail: ['error/1'],
      signal: ['signal', 'signal/1'],
    }
    expect(NAMES.filter((name) => mayWrite(command, name))).toEqual(own[command] ?? [])
  })
})
