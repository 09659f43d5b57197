/** `release`: → `queued` without burning budget: shutdown, hand-back, snooze, or a worker that does not know the type. */
import type { Release } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import { cancelled, conclude } from '../ending.ts'
import type { Job } from '../job.ts'
import { needOf, withType } from '../needs.ts'
import type { Ruling } from '../ruling.ts'

/** Who is given a job although it does not know the type does not say what it serves, and would be given it again at once. */
const UNKNOWN_AGAIN_MS = 10_000

export function decideRelease(d: Draft, job: Job, command: Release): Ruling {
  const executionMs = command.executionMs ?? 0
  if (job.cancel !== undefined && job.phase === 'run') conclude(d, cancelled(job.cancel), executionMs)
  else
    change(
      d,
      'released',
      'queued',
      { runAt: Math.max(d.at, command.runAt ?? d.at), executionMs, ...unknownType(d, job, command) },
      { reason: command.reason },
    )
  return undefined
}

/** Whoever does not know a type hands the job to those who do: from then on it is for nobody else. */
function unknownType({ at }: Draft, { needs, spec }: Job, { reason, runAt }: Release) {
  if (reason !== 'unknown_type') return { needs: undefined }
  if (needOf(needs).type === undefined) return { needs: withType(needs, spec.kind.type) }
  return { needs: undefined, runAt: Math.max(at + UNKNOWN_AGAIN_MS, runAt ?? at) }
}
