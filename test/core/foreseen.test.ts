/** What is foreseen of an operation is what comes of its word. */
import { describe, expect, it } from 'vitest'
import { foreseen } from '../../src/core/foreseen.ts'
import { kindOf } from './given.ts'
import { HISTORIES } from './sample.ts'

const NOW = 10_000_000
const cancel = { action: 'cancel', mode: 'soft', by: 'ann' } as const
const redrive = { action: 'redrive', mode: 'soft', by: 'ann' } as const

describe('what would come of an operation', () => {
  it('is that a job which waits ends at once, and the handler of one that runs is told, unless it is cut short', () => {
    expect(foreseen(cancel, HISTORIES.queued().record, NOW)).toBe('ends')
    expect(foreseen(cancel, HISTORIES.running().record, NOW)).toBe('told')
    expect(foreseen({ ...cancel, mode: 'hard' }, HISTORIES.running().record, NOW)).toBe('ends')
  })

  it('is that a job with steps to undo undoes them first', () => {
    const { record } = HISTORIES.waiting()
    const job = { ...record, compensations: ['hotel'] }
    expect(foreseen(cancel, job, NOW)).toBe('undoes')
  })

  it('is that a letter is reopened, or replaced where its document’s endings are final', () => {
    const { record } = HISTORIES.dead_lettered()
    expect(foreseen(redrive, record, NOW)).toBe('reopened')
    const bound = { ...record, spec: { ...record.spec, kind: kindOf({ dialect: '004' }) } }
    expect(foreseen(redrive, bound, NOW)).toBe('replaced')
  })

  it('is the code of the refusal, nothing more than was asked before, or that a job is gone', () => {
    expect(foreseen(cancel, HISTORIES.succeeded().record, NOW)).toBe('ENDED')
    expect(foreseen({ ...redrive, action: 'purge' }, HISTORIES.succeeded().record, NOW)).toBe('removed')
    expect(foreseen(cancel, HISTORIES.cancelled().record, NOW)).toBe('told')
  })
})
