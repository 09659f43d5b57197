/** What a tick means: the most urgent of a job's timers that have run out, as a command. */
import type { Command } from './command.ts'
import type { Job, Time } from './job.ts'
import { cancelHardensAt, nextTickAt } from './timers.ts'

type Asked = { readonly actor: string; readonly requestId: string }

export function tickCommand(job: Job, now: Time, asked: Asked): Command | undefined {
  const tickAt = nextTickAt(job)
  if (tickAt === undefined || tickAt > now) return undefined
  const { actor, requestId } = asked
  // A deadline ends the job whoever owns it; before it an orphan is an orphan, whatever else has run out meanwhile.
  if (job.deadlineAt !== undefined && job.deadlineAt <= now) return { actor, requestId, type: 'expire' }
  if (job.state === 'stalled') return { actor, requestId, type: 'requeue' }
  if (job.lease !== undefined && job.lease.expiresAt <= now)
    return { actor, requestId, type: 'stall', fence: job.lease.fence }
  const hardensAt = cancelHardensAt(job)
  if (hardensAt !== undefined && hardensAt <= now) {
    return { actor, requestId, type: 'cancel', mode: 'hard', reason: 'the grace of the soft cancel is over' }
  }
  return { actor, requestId, type: 'expire' }
}
