/** Jobs bound to document 003, each state held against the fold of its own log. */
import { expect } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { Actor } from '../actor.ts'
import type { Stage } from '../stage.ts'

export const strict = { dialect: '003' } as const
export const SHORT = { leaseMs: 300, heartbeatMs: 100 }
export const SOON = { base: 1, max: 1 } as const

export const WORDS = [
  ...['job_created', 'job_queued', 'job_requeued', 'job_leased', 'job_running'],
  ...['job_waiting', 'wait_completed', 'job_completed', 'job_failed', 'job_cancelled'],
] as const

/** The document's own names for its states. */
export const CONSTANTS: Readonly<Record<string, string>> = {
  Queued: 'StatusPending',
  Running: 'StatusRunning',
  Waiting: 'StatusWaiting',
  Completed: 'StatusCompleted',
  Failed: 'StatusFailed',
  Cancelled: 'StatusCancelled',
}

export function jobsOn(stage: () => Stage) {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  /** The record's state, held against the fold of its own log in the document's words. */
  const stateOf = async (each: Actor, id: string): Promise<unknown> => {
    const shown = await each.view(id)
    const fold = deriveDialect('003', await each.log(id))
    expect(fold.status).toBe(shown['State'])
    expect(fold.constant).toBe(shown['JobStatus'])
    expect(shown['JobStatus']).toBe(CONSTANTS[String(shown['State'])])
    expect(fold.violations).toEqual([])
    return shown['State']
  }
  const words = async (each: Actor, id: string) => (await each.log(id)).map((entry) => entry['Event'])

  const waiting = async (each: Actor, more: object = { timeoutMs: 50_000 }) => {
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'wait', fence, name: 'approved', ...more })
    return { id: job.id, fence, leaseExpiresAt: job.lease?.expiresAt ?? 0 }
  }

  return { actor, stateOf, words, waiting }
}
