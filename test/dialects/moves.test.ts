/** What the events of a commit are to a document, and by which names documents are known. */
import { describe, expect, it } from 'vitest'
import { synchronous } from '../../src/core/dialects/bond.ts'
import { movesOf } from '../../src/core/dialects/moves.ts'
import { dialectNamed, readingNamed } from '../../src/core/dialects/registry.ts'
import type { Duration } from '../../src/core/duration.ts'
import { derive } from '../../src/core/evolve.ts'
import { given, kindOf } from '../core/given.ts'

describe('the moves of a commit', () => {
  it('are from nothing to the first status, then from status to status', () => {
    const { events } = given().starts().does({ type: 'complete', fence: 'mine' })
    expect(movesOf(events, undefined, '000A').filter((move) => move !== undefined)).toEqual([
      { from: 'none', to: 'queued' },
      { from: 'queued', to: 'assigned' },
      { from: 'assigned', to: 'running' },
      { from: 'running', to: 'succeeded' },
    ])
  })

  it('are none where a document has one status for both', () => {
    const { events } = given().starts()
    const claimed = derive(events.slice(0, 2))
    expect(movesOf(events.slice(2), claimed, '004')).toEqual([{ from: 'queued', to: 'running' }])
    expect(movesOf(events.slice(2), claimed, '003')).toEqual([undefined])
  })
})

describe('names of documents', () => {
  it('are understood in any case, 000 being its first part', () => {
    expect(dialectNamed('000')).toBe('000A')
    expect(dialectNamed('000b')).toBe('000B')
    expect(dialectNamed('005')).toBeUndefined()
  })

  it('of readings include the explicit one of 003', () => {
    expect(readingNamed('003-Explicit')).toBe('003-explicit')
    expect(readingNamed('000a')).toBe('000A')
    expect(readingNamed('nobody')).toBeUndefined()
  })
})

describe('a job whose submitter waits', () => {
  it('takes 300 s at most where it is bound to 004, and less where its type says so', () => {
    const policy = (deadline?: Duration) =>
      kindOf({ dialect: '004', ...(deadline === undefined ? {} : { deadline }) }).policy
    expect(synchronous(policy('10m')).deadlineMs).toBe(300_000)
    expect(synchronous(policy('1m')).deadlineMs).toBe(60_000)
    expect(synchronous({ ...policy(), deadlineMs: undefined }).deadlineMs).toBe(300_000)
  })

  it('takes as long as it takes where nothing is said', () => {
    const { policy } = kindOf()
    expect(synchronous(policy)).toBe(policy)
  })
})
