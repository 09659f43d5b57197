/** Timers, admission and keys. */
import { type Mutant, mutant, wide } from './mutant.ts'

export const CLOCKS: readonly Mutant[] = [
  // Timers.
  mutant('reaped-before-the-lease-ends', 'budget', [
    'decide/stall.ts',
    'if (d.at < endsAt)',
    'if (d.at < endsAt - 1_000)',
  ]),
  mutant('heartbeat-does-not-renew', 'budget', [
    'evolve/observed.ts',
    'expiresAt: event.payload.leaseExpiresAt,',
    'expiresAt: job.lease.expiresAt,',
  ]),
  mutant('heartbeat-renews-twice-over', 'budget', [
    'decide/heartbeat.ts',
    'leaseEnd(d.at, ',
    'leaseEnd(d.at + 1_000, ',
  ]),
  mutant('attempt-limit-forgotten', 'timers', [
    'timers.ts',
    'earliest(attemptEndsAt(job), cancelHardensAt(job))',
    'cancelHardensAt(job)',
  ]),
  mutant('time-limit-retried-by-its-worker', 'timers', [
    'decide/fail.ts',
    "policy.onAttemptTimeout === 'timed_out' && job.phase === 'run'",
    "policy.onAttemptTimeout === 'timed_out' && job.state === 'stalled'",
  ]),
  mutant('lost-lease-not-looked-for', 'budget', [
    'timers.ts',
    'earliest(earliest(job.lease.expiresAt, job.deadlineAt), earliest(attemptEndsAt',
    'earliest(job.deadlineAt, earliest(attemptEndsAt',
  ]),
  mutant('start-limit-forgotten', 'admission', [
    'timers.ts',
    'return earliest(job.deadlineAt, job.startBy)',
    'return job.deadlineAt',
  ]),
  mutant(
    'orphan-stays-orphan',
    'cancel',
    ['timers.ts', 'return mustNotRunAgain(job) ? job.updatedAt : job.deadlineAt', 'return job.deadlineAt'],
    ['decide.ts', "first.job.state !== 'stalled') return first", 'first.job.rev > 0) return first'],
  ),
  wide('deadline-not-renewed-on-reopen', 'admission', [
    'evolve.ts',
    '          deadlineAt: event.payload.deadlineAt,\n          startBy: event.payload.startBy,',
    '          startBy: event.payload.startBy,',
  ]),
  // Admission and keys.
  mutant('denied-after-a-claim', 'admission', [
    'decide/deny.ts',
    "job.attempt > 0 && job.state === 'queued'",
    'job.rev < 0',
  ]),
  mutant('admission-skipped', 'admission', [
    'decide/enqueue.ts',
    "(admission ? 'pending' : 'queued')",
    "(admission ? 'queued' : 'queued')",
  ]),
  wide('admission-skipped-on-reopen', 'admission', [
    'decide/reopen.ts',
    "policy.admission ? 'pending' : 'queued'",
    "'queued'",
  ]),
  mutant('key-ignored-on-reopen', 'keyed', ['keys.ts', '{ give: [], take: [key] }', 'NONE']),
  mutant('key-kept-after-the-end', 'keyed', ['keys.ts', '? { give: [key], take: [] }', '? NONE']),
]
