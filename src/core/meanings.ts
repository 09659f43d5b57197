/** What the closed words mean, in a few words: documentation and `pawl explain` say the same. */
import type { DeadLetterReason, State } from './job.ts'
import type { ErrorClass } from './policy.ts'

export const STATE_MEANS: Readonly<Record<State, string>> = {
  pending: 'accepted, not yet admitted',
  claimed: 'a worker holds a lease, its handler has not started',
  running: 'the owner has started and heartbeats',
  waiting: 'suspended until a signal or a timer; no owner, no lease',
  parked: 'a long wait: nothing looks at it until a signal or its own timeout',
  stalled: 'orphaned: the last lease is no longer trusted',
  retrying: 'a failure that may be repeated; due again at `runAt`',
  queued: 'claimable once `runAt` has come',
  succeeded: 'ended: it has a result',
  failed: 'ended: an error, and nobody is asked to look',
  cancelled: 'ended: somebody wanted it to',
  timed_out: 'ended: a time limit of the job has passed',
  denied: 'ended: admission refused it',
  dead_lettered: 'ended: an error, kept for somebody to look at',
}

export const CLASS_MEANS: Readonly<Record<ErrorClass, string>> = {
  transient: 'retried while the budget lasts',
  permanent: 'not retried: it would fail again',
  throttled: 'retried, on the slower curve: the other side asks to be left alone',
  validation: 'not retried: the input is not what the job type takes',
  lease: 'ours, never the job’s fault: the lease was lost; from a handler it is retried like any other',
}

/** Codes of our own, which no handler has to know in order to meet them. */
export const OWN_CODE_MEANS: Readonly<Record<string, string>> = {
  E_TIMEOUT: 'the attempt took longer than its time limit',
  E_CRASH: 'the process died that ran nothing but this job, or the lease was lost again where nothing else was to run',
  E_NONDETERMINISTIC: 'the handler did not do what it had done before: its steps and waits cannot be told apart',
  E_CHILD_REFUSED: 'a child that the handler spawned was refused: its input, its options or its id',
  not_json: 'what the handler answered, or wanted to keep, is nothing that JSON can keep',
  E_TWO_WAITS: 'the handler came to a second wait while the first had no answer, as if they could race',
  lease_expired: 'the worker died, was cut off, or did not turn its event loop for too long',
}

export const REASON_MEANS: Readonly<Record<DeadLetterReason, string>> = {
  parse_error: 'the stored input cannot be decoded',
  validation_failed: 'the input does not match the schema of its job type',
  dependency_unavailable: 'retries are spent, and the last error names something the job depends on',
  timeout: 'a time limit',
  exhausted_retries: 'retries are spent',
  policy_violation: 'a policy forbids it',
  infrastructure_failure: 'too many leases were lost: workers died, froze or were cut off',
  compensation_failed: 'what had been done could not be undone',
}
