import { defineJob } from '../../../src/library/define-job.ts'
import { Actor, fault } from '../actor.ts'
import type { Stage } from '../stage.ts'

export const strict = { dialect: '004' } as const
export const SHORT = { leaseMs: 300, heartbeatMs: 30 }
export const SOON = { base: 1, max: 1 } as const
export const BEATS = { heartbeatMs: 1_000 }

export const COUNTERS = {
  urls_total: 10,
  urls_enqueued: 9,
  urls_processed: 8,
  documents_emitted: 7,
  chunks_indexed: 6,
  tokens_estimated: 5,
}

export function jobsOn(stage: () => Stage) {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  const failedWith = async (each: Actor, code: string, more: object = {}) => {
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault(code, more) })
    return job.id
  }

  const STATES: Readonly<Record<string, (each: Actor) => Promise<string>>> = {
    queued: async (each) => (await each.enqueue()).id,
    running: async (each) => (await each.running()).job.id,
    retry_pending: (each) => failedWith(each, 'network_error'),
    async succeeded(each) {
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'complete', fence, stats: COUNTERS, executionMs: 1_500 })
      return job.id
    },
    failed: (each) => failedWith(each, 'invalid_url'),
    async canceled(each) {
      const { job } = await each.running()
      await each.must(job.id, { type: 'cancel', mode: 'hard' })
      return job.id
    },
  }
  const at = (state: string, each: Actor) => STATES[state]?.(each) ?? Promise.reject(new Error(state))

  return { actor, failedWith, at }
}

/** A type whose handler never comes back, for virtual time. */
export const stuck = (policy: object = {}, ran: number[] = []) =>
  defineJob({
    ...strict,
    ...policy,
    type: 'stuck',
    run: (_, ctx) => {
      ran.push(ctx.attempt)
      return new Promise<void>(() => {})
    },
  })
