/** What a tick means: the most urgent of a job's timers that have run out, as a command. */
import type { Command } from './command.ts'
import type { Job, Time } from './job.ts'
import { leaseEndsAt, livedUntil, type Step } from './steps.ts'
import { cancelHardensAt, deadlineOf, nextTickAt, tickBesidesLease } from './timers.ts'

type Asked = { readonly actor: string; readonly requestId: string }

export function tickCommand(job: Job, now: Time, asked: Asked, steps: readonly Step[]): Command | undefined {
  const tickAt = nextTickAt(job)
  if (tickAt === undefined || tickAt > now) return undefined
  const { actor, requestId } = asked
  const until = livedUntil(job, now, steps)
  // A deadline ends the job whoever owns it; before it an orphan is an orphan, whatever else has run out meanwhile.
  if (isPassed(deadlineOf(job), until)) return { actor, requestId, type: 'expire' }
  if (job.state === 'stalled') return { actor, requestId, type: 'requeue' }
  if (job.lease !== undefined && leaseEndsAt(job, steps) <= now)
    return { actor, requestId, type: 'stall', fence: job.lease.fence }
  const hardensAt = cancelHardensAt(job)
  if (hardensAt !== undefined && hardensAt <= until) {
    return { actor, requestId, type: 'cancel', mode: 'hard', reason: 'the grace of the soft cancel is over' }
  }
  return isPassed(tickBesidesLease(job), until) ? { actor, requestId, type: 'expire' } : undefined
}

/** Nothing has, where the clock was set forward over it. */
const isPassed = (time: Time | undefined, until: Time): boolean => time !== undefined && time <= until
