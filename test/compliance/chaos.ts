import type { Event } from '../../src/core/event.ts'
import type { Job } from '../../src/core/job.ts'
import { eventually } from '../support/eventually.ts'
import { type Actor, fault } from './actor.ts'

export interface ChaosOptions {
  readonly jobs: number
  readonly workers: number
  readonly seed: number
}

export interface Survived {
  readonly histories: readonly { readonly job: Job; readonly events: readonly Event[] }[]
  /** Leases that expired and brought their job back. */
  readonly requeued: number
}

/**
 * Workers that finish, fail, fall silent with a job in their hands, hand it back, or speak up again when it is too
 * late; and somebody who cancels and dead-letters at will. Ends when every job has.
 */
export async function chaos(actor: Actor, { jobs, workers, seed }: ChaosOptions): Promise<Survived> {
  const random = mulberry(seed)
  await actor.pawl.enqueueMany(
    actor.spec,
    Array.from({ length: jobs }, (_, n) => n),
  )
  let isOver = false
  const worker = async (name: string) => {
    const zombies: Zombie[] = []
    while (!isOver) {
      const found = await eventually('a job, or the end', async () => isOver || actor.claim(name))
      if (found === true) return
      await attempt(actor, { id: found.job.id, fence: found.fence, lostAt: found.leaseExpiresAt }, random, zombies)
    }
  }
  let victims = 0
  const meddler = async () => {
    while (!isOver) {
      const { jobs: some } = await actor.pawl.find({ queues: [actor.queue], states: ['running', 'claimed'], limit: 20 })
      const victim = some[Math.floor(random() * some.length)]
      if (victim !== undefined && victims < jobs / 6 && random() < 0.1) {
        victims += 1
        const hard = random() < 0.5
        await actor.say(victim.id, { type: 'cancel', mode: hard ? 'hard' : 'soft' })
        if (hard) await actor.say(victim.id, { type: 'deadLetter', reason: 'policy_violation', stage: 'exec' })
      }
      await ended(actor, jobs).then((all) => {
        isOver = all
      })
    }
  }
  await Promise.all([meddler(), ...Array.from({ length: workers }, (_, n) => worker(`w${n}`))])
  const { jobs: all } = await actor.pawl.find({ queues: [actor.queue], limit: jobs })
  const histories = await Promise.all(all.map(async (job) => ({ job, events: await actor.events(job.id) })))
  const requeued = histories.flatMap(({ events }) => events).filter(({ type }) => type === 'requeued').length
  return { histories, requeued }
}

/** A job in somebody's hands, and until when. */
interface Zombie {
  readonly id: string
  readonly fence: string
  readonly lostAt: number
}

async function attempt(actor: Actor, mine: Zombie, random: () => number, zombies: Zombie[]): Promise<void> {
  const { id, fence } = mine
  const [zombie] = zombies
  if (zombie !== undefined && actor.pawl.engine.now() > zombie.lostAt) {
    zombies.shift()
    await actor.say(zombie.id, { type: 'heartbeat', fence: zombie.fence })
    await actor.say(zombie.id, { type: 'complete', fence: zombie.fence })
  }
  const dice = random()
  if (dice < 0.3) {
    if (dice < 0.15) await actor.say(id, { type: 'start', fence })
    zombies.push(mine)
    return
  }
  await actor.say(id, { type: 'start', fence })
  if (dice < 0.4) await actor.say(id, { type: 'release', fence, reason: 'handed_back' })
  else if (dice < 0.6) await actor.say(id, { type: 'fail', fence, fault: fault('network_error') })
  else if (dice < 0.65) await actor.say(id, { type: 'fail', fence, fault: fault('bad_request') })
  else {
    await actor.say(id, { type: 'heartbeat', fence })
    await actor.say(id, { type: 'complete', fence })
  }
}

async function ended(actor: Actor, jobs: number): Promise<boolean> {
  const states = ['succeeded', 'failed', 'cancelled', 'timed_out', 'dead_lettered'] as const
  return (await actor.pawl.find({ queues: [actor.queue], states, limit: jobs })).jobs.length === jobs
}

/** Small, seeded, good enough to throw dice. */
function mulberry(seed: number): () => number {
  let a = seed >>> 0
  return () => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
