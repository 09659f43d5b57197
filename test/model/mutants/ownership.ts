/** Who may speak for a job, and which claim comes next. */
import { type Mutant, mutant } from './mutant.ts'

const OWNED = 'if (!isOwned(job) || job.lease.fence !== command.fence) {'

export const OWNERSHIP: readonly Mutant[] = [
  // Ownership.
  mutant('no-fence-check', 'budget', ['ownership.ts', OWNED, 'if (!isOwned(job)) {']),
  mutant('fence-without-its-secret', 'budget', [
    'ownership.ts',
    OWNED,
    'if (!isOwned(job) || !command.fence.startsWith(`${job.generation}.${job.attempt}.`)) {',
  ]),
  mutant('worker-name-is-enough', 'budget', [
    'ownership.ts',
    OWNED,
    "if (!isOwned(job) || job.owner.workerId !== 'w') {",
  ]),
  mutant('owner-outlives-its-lease', 'budget', [
    'ownership.ts',
    "command.type !== 'stall' && now >=",
    'false && now >=',
  ]),
  mutant('lease-ends-a-moment-late', 'budget', [
    'ownership.ts',
    'now >= job.lease.expiresAt',
    'now > job.lease.expiresAt',
  ]),
  mutant('heartbeat-revives-an-expired-lease', 'budget', [
    'ownership.ts',
    "command.type !== 'stall' && now",
    "command.type !== 'stall' && command.type !== 'heartbeat' && now",
  ]),
  mutant('late-words-leave-no-note', 'budget', ['ownership.ts', 'attempt > 0 ? {', 'attempt < 0 ? {']),
  mutant(
    'complete-from-queued',
    'budget',
    ['ownership.ts', OWNED, 'if (isOwned(job) && job.lease.fence !== command.fence) {'],
    ['ownership.ts', 'now >= job.lease.expiresAt', 'now >= (job.lease?.expiresAt ?? Infinity)'],
    ['transitions.ts', '  complete: {', "  complete: {\n    queued: [move('succeeded', 'always', 'succeeded')],"],
  ),
  // Needs.
  mutant('unknown-type-needs-nothing', 'unknown', [
    'decide/release.ts',
    'return { needs: withType(needs, spec.kind.type) }',
    'return { needs: undefined }',
  ]),
  mutant('needs-gone-with-the-next-release', 'unknown', [
    'evolve.ts',
    'event.payload.needs ?? job.needs',
    'event.payload.needs',
  ]),
  mutant('every-hand-back-needs-the-type', 'unknown', [
    'decide/release.ts',
    "if (reason !== 'unknown_type')",
    "if (reason === 'snoozed')",
  ]),
  mutant('unknown-again-at-once', 'unknown', ['decide/release.ts', 'at + UNKNOWN_AGAIN_MS', 'at']),
  // Claims, attempts, generations.
  mutant('no-attempt-increment', 'budget', [
    'decide/claim.ts',
    'const attempt = job.attempt + 1',
    'const attempt = Math.max(1, job.attempt)',
  ]),
  mutant('attempt-counts-double', 'budget', [
    'evolve.ts',
    'next.attempt = event.attempt',
    'next.attempt = event.attempt + 1',
  ]),
  mutant('attempt-reset-on-reopen', 'cancel', [
    'evolve.ts',
    'generation: event.generation,',
    'generation: event.generation,\n          attempt: 0,',
  ]),
  mutant('generation-kept-on-reopen', 'cancel', ['evolve.ts', 'generation: event.generation,', '']),
  mutant('claim-before-its-time', 'budget', ['timers.ts', ' && ready <= at', '']),
  mutant('claim-after-its-time', 'admission', ['timers.ts', ' && (tick === undefined || tick > at)', '']),
  mutant(
    'claim-what-is-owned',
    'budget',
    ['decide/claim.ts', '!isClaimable(job, d.at)', 'false'],
    [
      'transitions.ts',
      "claim: each(['queued', 'retrying', 'stalled']",
      "claim: each(['queued', 'retrying', 'stalled', 'running']",
    ],
  ),
]
