import { describe, expect, it } from 'vitest'
import { assert, unreachable } from '../../src/core/assert.ts'
import { draft } from '../../src/core/draft.ts'
import { finish } from '../../src/core/ending.ts'
import type { Event } from '../../src/core/event.ts'
import { derive, evolve } from '../../src/core/evolve.ts'
import { given, T0 } from './given.ts'

describe('programmer errors', () => {
  it('stop the program', () => {
    expect(() => assert(false, 'no')).toThrow('no')
    expect(() => unreachable('x' as never)).toThrow('x')
    const [first, second] = given().starts().events as [Event, Event, Event]
    expect(() => derive([])).toThrow()
    expect(() => evolve(undefined, second)).toThrow()
    expect(() => evolve(given().record, first)).toThrow()
    expect(() => evolve(derive([first, second]), second)).toThrow()
    expect(() => evolve(derive([first, second]), { ...second, rev: 3, type: 'explode' } as never)).toThrow(
      'unreachable',
    )
    expect(() => finish(draft(given().record, {} as never, T0), { state: 'exploded' } as never)).toThrow('unreachable')
  })
})
