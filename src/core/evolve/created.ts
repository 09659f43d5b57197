/** The record a job is born with. */
import type { Event, TransitionPayloads } from '../event.ts'
import type { Job, Receipt, State } from '../job.ts'

/** All keys in one literal, in the order in which a store reads them: every record of a process has the same shape. */
export function created(payload: TransitionPayloads['enqueued'], state: State, event: Event): Job {
  return {
    id: event.jobId,
    spec: payload.spec,
    priority: payload.priority,
    needs: payload.needs,
    terms: undefined,
    recast: undefined,
    approval: undefined,
    phase: 'run' as const,
    intended: undefined,
    generation: 0,
    attempt: 0,
    rev: event.rev,
    seq: 1,
    baseRev: event.rev,
    failures: payload.failures,
    stalls: payload.stalls,
    updatedAt: event.at,
    startedAt: undefined,
    deadlineAt: payload.deadlineAt,
    startBy: payload.startBy,
    cancel: undefined,
    newer: undefined,
    inbox: NO_SIGNALS,
    signals: 0,
    progress: undefined,
    counters: NOTHING,
    artifacts: NOTHING,
    checkpoint: undefined,
    steps: 0,
    observations: 0,
    strippedAt: undefined,
    bodySize: 0,
    compensations: NO_STEPS,
    lastFailure: undefined,
    lastClaim: undefined,
    executionMs: 0,
    recent: NO_RECEIPTS,
    readyAt: undefined,
    nextTickAt: undefined,
    runAt: payload.runAt,
    owner: undefined,
    lease: undefined,
    wait: undefined,
    result: undefined,
    error: undefined,
    deadLetter: undefined,
    verdict: undefined,
    endedAt: undefined,
    state: state === 'pending' ? ('pending' as const) : ('queued' as const),
  }
}

const NO_RECEIPTS: readonly Receipt[] = []
const NO_SIGNALS: Job['inbox'] = []
const NO_STEPS: readonly string[] = []
const NOTHING: Readonly<Record<string, never>> = {}
