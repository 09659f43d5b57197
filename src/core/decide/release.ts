/** `release`: → `queued` without burning budget: shutdown, hand-back, snooze. */
import type { Release } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import { cancelled, conclude } from '../ending.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideRelease(d: Draft, job: Job, command: Release): Ruling {
  const executionMs = command.executionMs ?? 0
  if (job.cancel !== undefined && job.phase === 'run') conclude(d, cancelled(job.cancel), executionMs)
  else
    change(
      d,
      'released',
      'queued',
      { runAt: Math.max(d.at, command.runAt ?? d.at), executionMs },
      { reason: command.reason },
    )
  return undefined
}
