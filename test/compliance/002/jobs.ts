import { Actor, fault } from '../actor.ts'
import type { Stage } from '../stage.ts'

export const strict = { dialect: '002' } as const
export const SHORT = { leaseMs: 300, heartbeatMs: 100 }
export const SOON = { base: 1, max: 1 } as const
export const PASS = { rule: 'allow-all', policyHash: 'p1' } as const

export const ENDED = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'DENIED', 'TIMEOUT'] as const

const NOBODY = '0.1.0000000000000000'

export function jobsOn(stage: () => Stage) {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  /** Jobs brought into each state, by whoever performs the transition in the document. */
  const STATES: Readonly<Record<string, () => Promise<{ actor: Actor; id: string; fence: string }>>> = {
    async PENDING() {
      const each = actor()
      return { actor: each, id: (await each.enqueue()).id, fence: NOBODY }
    },
    async SCHEDULED() {
      const each = actor()
      const { id } = await each.scheduled()
      return { actor: each, id, fence: NOBODY }
    },
    async DISPATCHED() {
      const each = actor()
      const { job, fence } = await each.assigned()
      return { actor: each, id: job.id, fence }
    },
    async RUNNING() {
      const each = actor()
      const { job, fence } = await each.running()
      return { actor: each, id: job.id, fence }
    },
    async SUCCEEDED() {
      const run = await at('RUNNING')
      await run.actor.must(run.id, { type: 'complete', fence: run.fence, resultPtr: 'mem://out/1', executionMs: 12 })
      return run
    },
    async FAILED() {
      const run = await at('RUNNING')
      await run.actor.must(run.id, { type: 'fail', fence: run.fence, fault: fault('bad_request'), executionMs: 5 })
      return run
    },
    async CANCELLED() {
      const run = await at('RUNNING')
      await run.actor.must(run.id, { type: 'cancel', mode: 'hard' })
      return run
    },
    async DENIED() {
      const run = await at('PENDING')
      await run.actor.must(run.id, { type: 'deny', rule: 'no-exfiltration', policyHash: 'p1', reason: 'unsafe' })
      return run
    },
    async TIMEOUT() {
      const each = actor({}, SHORT)
      const { job, fence } = await each.assigned()
      await each.until(job.id, 'timed_out')
      return { actor: each, id: job.id, fence }
    },
  }
  const at = async (state: string) => {
    const make = STATES[state]
    if (make === undefined) throw new Error(state)
    return make()
  }
  const stateOf = async (run: { actor: Actor; id: string }) => (await run.actor.view(run.id))['state']

  return { actor, at, stateOf }
}
