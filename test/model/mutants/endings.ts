/** How a job ends, and how it is asked to. */
import { type Mutant, mutant, wide } from './mutant.ts'

const CANCEL_REQUESTED = "job.cancel !== undefined && job.phase === 'run'"

export const ENDINGS: readonly Mutant[] = [
  // Endings.
  mutant('terminal-overwritten', 'cancel', [
    'transitions.ts',
    "const unowned: readonly State[] = ['pending',",
    "const unowned: readonly State[] = ['succeeded', 'pending',",
  ]),
  mutant('deadline-survives-the-end', 'timers', [
    'evolve.ts',
    '{ deadlineAt: undefined, startBy: undefined, ...changes }',
    'changes',
  ]),
  mutant('dead-letter-without-reason', 'budget', [
    'ending.ts',
    '    reason,\n    stage: lastError.stage',
    '    stage: lastError.stage',
  ]),
  mutant('dead-letter-forgets-its-owner', 'budget', [
    'ending.ts',
    'lastOwner: last?.owner.workerId ?? null',
    'lastOwner: null',
  ]),
  mutant('error-forgotten', 'budget', [
    'evolve.ts',
    '{ state: event.type, error: event.payload.failure, endedAt: event.at }',
    '{ state: event.type, endedAt: event.at } as never',
  ]),
  // Cancels.
  mutant('cancel-lost-on-stall', 'cancel', [
    'evolve.ts',
    'countsStall(job) ? 1 : 0),',
    'countsStall(job) ? 1 : 0), cancel: undefined,',
  ]),
  mutant('cancel-ignored-after-stall', 'cancel', [
    'decide/requeue.ts',
    `if (${CANCEL_REQUESTED}) {`,
    'if (job.cancel !== undefined && job.rev < 0) {',
  ]),
  mutant('cancel-ignored-by-release', 'cancel', [
    'decide/release.ts',
    CANCEL_REQUESTED,
    `${CANCEL_REQUESTED} && job.rev < 0`,
  ]),
  mutant('cancel-ignored-by-failure', 'cancel', [
    'decide/fail.ts',
    CANCEL_REQUESTED,
    `${CANCEL_REQUESTED} && job.rev < 0`,
  ]),
  mutant('cancel-ignored-by-wait', 'wait', ['decide/wait.ts', CANCEL_REQUESTED, `${CANCEL_REQUESTED} && job.rev < 0`]),
  mutant('hard-cancel-keeps-the-lease', 'cancel', [
    'evolve.ts',
    "{ state: 'cancelled', endedAt: event.at }",
    "{ state: 'cancelled', endedAt: event.at, owner: job.owner, lease: job.lease } as never",
  ]),
  mutant('hard-cancel-only-asks', 'cancel', [
    'decide/cancel.ts',
    "if (mode === 'hard') {",
    "if (mode === 'hard' && !isOwned(job)) {",
  ]),
  mutant('soft-cancel-ends-at-once', 'cancel', [
    'decide/cancel.ts',
    'if (!isOwned(job) || command.fence !== undefined)',
    'if (job.rev > 0)',
  ]),
  mutant('cancel-never-hardens', 'cancel', [
    'timers.ts',
    "job.lease !== undefined && job.phase === 'run' && job.cancel !== undefined",
    "job.lease !== undefined && job.phase === 'run' && job.cancel !== undefined && job.rev < 0",
  ]),
  wide('cancel-survives-reopening', 'cancel', [
    'evolve.ts',
    '      cancel: undefined,\n      ...asAsked(job)',
    '      ...asAsked(job)',
  ]),
]
