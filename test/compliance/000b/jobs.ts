import { Actor, fault } from '../actor.ts'
import type { Stage } from '../stage.ts'

export const strict = { dialect: '000B' } as const
/** Strict leases last 30 s at least: these are the document's in everything but length. */
export const SHORT = { leaseMs: 300, heartbeatMs: 100 }
export const SOON = { base: 1, max: 1 } as const

export const LIVE = {
  async queued(actor: Actor) {
    return (await actor.enqueue()).id
  },
  async assigned(actor: Actor) {
    return (await actor.assigned()).job.id
  },
  async running(actor: Actor) {
    return (await actor.running()).job.id
  },
} as const

export const ENDED = {
  async succeeded(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'complete', fence })
    return job.id
  },
  async failed(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'fail', fence, fault: fault('bad_request') })
    return job.id
  },
  async cancelled(actor: Actor) {
    const { id } = await actor.enqueue()
    await actor.must(id, { type: 'cancel', mode: 'hard' })
    return id
  },
} as const

export const STATES = { ...LIVE, ...ENDED }

/** New types on this store, bound to the document. */
export const bound =
  (stage: () => Stage) =>
  (policy: object = {}, shortened: object = {}): Actor =>
    new Actor(stage(), { ...strict, ...policy }, shortened)
