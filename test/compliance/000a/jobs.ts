import { Actor, fault } from '../actor.ts'
import type { Stage } from '../stage.ts'

export const strict = { dialect: '000A' } as const
/** Strict leases last 30 s at least: these are the document's in everything but length. */
export const SHORT = { leaseMs: 300, heartbeatMs: 100 }
/** A worker hears of a cancel with a heartbeat at the latest. */
export const BEATS = { heartbeatMs: 1_000, missedHeartbeats: 20 }
export const SOON = { base: 1, max: 1 } as const

/** Jobs brought into each of the seven states, by the document's own moves. */
export const STATES = {
  async queued(actor: Actor) {
    return (await actor.enqueue()).id
  },
  async assigned(actor: Actor) {
    return (await actor.assigned()).job.id
  },
  async running(actor: Actor) {
    return (await actor.running()).job.id
  },
  async succeeded(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'record', fence, artifact: { name: 'report', ptr: 's3://b/report' } })
    await actor.must(job.id, { type: 'complete', fence })
    return job.id
  },
  async failed(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'fail', fence, fault: fault('invalid_url') })
    return job.id
  },
  async cancelled(actor: Actor) {
    const { job } = await actor.running()
    await actor.must(job.id, { type: 'cancel', mode: 'hard' })
    return job.id
  },
  async dead_lettered(actor: Actor) {
    const { id } = await actor.enqueue()
    await actor.must(id, { type: 'deadLetter', reason: 'policy_violation', stage: 'input' })
    return id
  },
} as const

export const ENDED = ['succeeded', 'failed', 'cancelled', 'dead_lettered'] as const

/** New types on this store, bound to the document. */
export const bound =
  (stage: () => Stage) =>
  (policy: object = {}, shortened: object = {}): Actor =>
    new Actor(stage(), { ...strict, ...policy }, shortened)
