/**
 * One job of a world: its record and the model's books about it, moved in time so that "now" is always the same
 * instant. What lies in the past and can no longer matter is forgotten, so that histories which differ only in it are
 * one state: revisions count from a constant, times long gone are one time, signals are numbered anew.
 */
import type { CancelRequest, Ending, Failure, Job } from '../../src/core/job.ts'
import type { Ghost } from './ghost.ts'

export interface Unit {
  readonly job: Job
  readonly ghost: Ghost
}

/** "Now" of every unit. */
export const NOW = 1_000_000_000
/** Any time that does not matter any more. */
const LONG_AGO = 1
const REV = 100

/** The unit as it stands at `now`, told as if that were `NOW`. */
export function rebase({ job, ghost }: Unit, now: number, lagMs: number): Unit {
  const floor = NOW - lagMs
  const at = (time: number, since = 0): number => Math.max(time - now + NOW, floor - since)
  const maybe = (time: number | undefined): number | undefined => (time === undefined ? undefined : at(time))
  const { policy } = job.spec.kind
  const { lease, wait, cancel, intended, deadLetter, approval } = job
  const hardens = lease !== undefined && job.phase === 'run'
  const record = {
    ...job,
    rev: REV,
    seq: REV / 2,
    baseRev: REV - Math.min(2, job.rev - job.baseRev),
    updatedAt: at(job.updatedAt),
    startedAt: started(job, at),
    deadlineAt: maybe(job.deadlineAt),
    startBy: maybe(job.startBy),
    runAt: maybe(job.runAt),
    readyAt: maybe(job.readyAt),
    nextTickAt: maybe(job.nextTickAt),
    endedAt: job.endedAt === undefined ? undefined : LONG_AGO,
    lease: lease && { ...lease, grantedAt: LONG_AGO, expiresAt: at(lease.expiresAt), beats: 0 },
    wait: wait && { ...wait, since: LONG_AGO, timeoutAt: maybe(wait.timeoutAt) },
    approval: approval && {
      ...approval,
      expiresAt: at(approval.expiresAt),
      given: approval.given && { ...approval.given, at: LONG_AGO },
    },
    cancel: cancel && requested(cancel, hardens ? at(cancel.requestedAt, policy.cancelGraceMs) : LONG_AGO),
    intended: intended && forgotten(intended),
    lastClaim: job.lastClaim && { ...job.lastClaim, leaseExpiresAt: LONG_AGO },
    lastFailure: job.lastFailure && dated(job.lastFailure),
    error: job.error && dated(job.error),
    deadLetter: deadLetter && { ...deadLetter, lastError: dated(deadLetter.lastError), lastLeaseExpiresAt: null },
    inbox: job.inbox.map((signal, i) => ({ ...signal, n: i + 1, at: LONG_AGO })),
    signals: job.inbox.length,
    recent: job.recent.map((receipt) => ({ ...receipt, rev: 0, at: LONG_AGO })),
    progress: undefined,
    counters: {},
    artifacts: {},
    checkpoint: undefined,
    newer: job.newer && { ...job.newer, next: job.newer.next && { ...job.newer.next, since: LONG_AGO } },
    bodySize: 0,
    observations: 0,
    executionMs: 0,
  } as Job
  const books = {
    ...ghost,
    leaseEnd: ghost.fence === undefined ? LONG_AGO : at(ghost.leaseEnd),
    deadline: maybe(ghost.deadline),
    startBy: maybe(ghost.startBy),
  }
  return { job: record, ghost: books }
}

/** When it began matters while it runs; that it did, to documents that have no way back. */
function started({ state, startedAt, spec }: Job, at: (time: number, since: number) => number): number | undefined {
  const { attemptMs, dialect } = spec.kind.policy
  if (startedAt === undefined) return undefined
  return state === 'running' ? at(startedAt, attemptMs) : dialect === undefined ? undefined : LONG_AGO
}

const dated = (failure: Failure): Failure => ({ ...failure, at: LONG_AGO })
const requested = (cancel: CancelRequest, requestedAt: number): CancelRequest => ({
  ...cancel,
  requestedAt,
  deliveredAt: cancel.deliveredAt && LONG_AGO,
  acknowledgedAt: cancel.acknowledgedAt && LONG_AGO,
})
const forgotten = (ending: Ending): Ending => ({
  ...ending,
  error: ending.error && dated(ending.error),
  cancel: ending.cancel && requested(ending.cancel, LONG_AGO),
})

/** Everything about a rebased unit that can make a difference, as short text. */
export function packed({ job, ghost }: Unit): string {
  const t = (time: number | undefined): string => (time === undefined ? '' : (time - NOW).toString(36))
  const f = (failure: Failure | undefined): string =>
    failure === undefined ? '' : `${failure.code}:${failure.class}:${failure.attempt}:${failure.stage}`
  const c = (cancel: CancelRequest | undefined): string =>
    cancel === undefined
      ? ''
      : `${cancel.mode}${t(cancel.requestedAt)}${cancel.deliveredAt}${cancel.acknowledgedAt}${cancel.by}`
  const { lease, wait, intended } = job
  return [
    `${job.state} ${job.phase} ${job.generation}.${job.attempt} ${job.failures} ${job.stalls} ${job.baseRev} ${job.needs}`,
    `${t(job.updatedAt)} ${job.startedAt === LONG_AGO ? 'ran' : t(job.startedAt)} ${t(job.deadlineAt)} ${t(job.startBy)} ${t(job.runAt)} ${t(job.readyAt)} ${t(job.nextTickAt)}`,
    lease && `${lease.fence} ${t(lease.expiresAt)} ${lease.lastBeatId}`,
    wait && `${wait.name} ${wait.key} ${t(wait.timeoutAt)} ${wait.onTimeout}`,
    job.approval && `${t(job.approval.expiresAt)} ${job.approval.given?.by}`,
    c(job.cancel),
    intended && `${intended.state} ${f(intended.error)} ${intended.deadLetter} ${c(intended.cancel)}`,
    `${job.inbox.map((s) => `${s.name}:${s.key}:${s.requestId}`)} ${job.steps} ${job.compensations} ${job.lastClaim?.fence} ${job.lastClaim?.silences} ${job.lastClaim?.ran}`,
    `${f(job.lastFailure)} ${f(job.error)} ${job.deadLetter?.reason} ${job.deadLetter?.lastOwner}`,
    job.recent.map(({ requestId, command, digest, state }) => `${requestId}:${command}:${digest}:${state}`).join(),
    `${ghost.fence} ${t(ghost.leaseEnd)} ${ghost.failures} ${ghost.stalls} ${ghost.silences} ${ghost.needs} ${ghost.cancel} ${ghost.owed} ${ghost.undo}`,
    `${ghost.intended} ${t(ghost.deadline)} ${t(ghost.startBy)} ${ghost.next} ${ghost.drops} ${ghost.asked}`,
    `${job.newer?.input?.name} ${job.newer?.next?.input?.name} ${job.cancel?.dropsNext}`,
  ].join('|')
}
