import { describe, expect, it } from 'vitest'
import { errorBody, mayWrite, stepBody } from '../../src/core/body.ts'
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
