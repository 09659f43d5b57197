/**
 * `wait`: `running` → `waiting`; owner and lease go. In the same commit on to `queued` where the signal is already in
 * the inbox, or on to `parked` where the wait is long.
 */
import type { Wait as WaitCommand } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import { cancelled, conclude } from '../ending.ts'
import type { Job, Wait } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { answers, signalMemo } from './signal.ts'

export function decideWait(d: Draft, job: Job, command: WaitCommand): Ruling {
  const executionMs = command.executionMs ?? 0
  if (job.cancel !== undefined && job.phase === 'run') {
    conclude(d, cancelled(job.cancel), executionMs)
    return undefined
  }
  const { policy } = job.spec.kind
  const wait: Wait = {
    name: command.name,
    key: command.key,
    since: d.at,
    timeoutAt: command.timeoutMs === undefined ? undefined : d.at + command.timeoutMs,
    onTimeout: command.onTimeout ?? policy.onWaitTimeout,
    memo: command.memo ?? command.name,
  }
  change(d, 'waiting', 'waiting', { wait, executionMs })
  const early = job.inbox.find((signal) => answers(wait, signal))
  if (early !== undefined) {
    change(d, 'signalled', 'queued', { signal: early, stored: true, memo: wait.memo })
    d.bodies = [...d.bodies, signalMemo(wait, early.n)]
  } else if (command.timeoutMs === undefined || command.timeoutMs > policy.parkAfterMs) {
    change(d, 'parked', 'parked', {})
  }
  return undefined
}
