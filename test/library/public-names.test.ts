/** What each entry point is for, done with nothing but its own names. */
import { describe, expect, it } from 'vitest'
import * as contract from '../../src/contract.ts'
import * as engine from '../../src/engine.ts'
import * as pawl from '../../src/index.ts'

describe('the public names', () => {
  it('of pawl/contract judge a record and a log in a document’s words', () => {
    expect(contract.validateJob({ status: 'nowhere' })).not.toEqual([])
    const told = contract.derive('001', [{ type: 'enqueued' }, { type: 'succeeded' }])
    expect(told.dialect).toBe('001')
    expect(told.violations.map(({ rule }) => rule)).toContain('illegal_move')
    expect(contract.DIALECT_NAMES).toContain('001')
  })

  it('of pawl/engine fold a job’s log into its record', async () => {
    await using open = await pawl.open('memory:')
    const greet = pawl.defineJob({ type: 'greet', run: (name: string) => `Hello ${name}` })
    const handle = await open.enqueue(greet, 'Ann')
    expect(engine.fold(await handle.events())).toEqual(await handle.job())
    expect(engine.idText(engine.idNumber(handle.id) ?? 0)).toBe(handle.id)
  })

  it('are in no two places, but for what both speak of', () => {
    const shared = Object.keys(pawl).filter((name) => name in engine || name in contract)
    expect(shared).toEqual([])
  })
})
