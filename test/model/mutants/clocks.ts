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
    'timers.ts',
    'const end = leaseEnd(at, ',
    'const end = leaseEnd(at + 1_000, ',
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
    'earliest(job.lease.expiresAt, deadlineOf(job)),\n',
    'deadlineOf(job),\n',
  ]),
  mutant('start-limit-forgotten', 'admission', [
    'timers.ts',
    'return earliest(deadlineOf(job), job.startBy)',
    'return deadlineOf(job)',
  ]),
  mutant(
    'orphan-stays-orphan',
    'cancel',
    ['timers.ts', 'return mustNotRunAgain(job) ? job.updatedAt : deadlineOf(job)', 'return deadlineOf(job)'],
    ['decide.ts', "first.job.state !== 'stalled') return first", 'first.job.rev > 0) return first'],
  ),
  mutant('wall-clock-while-waiting', '004', [
    'timers.ts',
    'bondOf(policy).deadlineFromStart ? undefined',
    'false ? undefined',
  ]),
  mutant('deadline-where-nothing-can-be-told', '004', ['timers.ts', 'canTell(job, late, late) ?', 'true ?']),
  mutant('too-late-where-nothing-can-be-told', '004', [
    'decide/requeue.ts',
    " && canTell(job, 'failed', 'failed')",
    '',
  ]),
  mutant('late-while-scheduled', '002', [
    'timers.ts',
    ' || bondOf(policy).startsAfterClaim ? undefined',
    ' ? undefined',
  ]),
  wide('deadline-not-renewed-on-reopen', 'admission', [
    'evolve.ts',
    '      deadlineAt,\n      startBy,',
    '      startBy,',
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
