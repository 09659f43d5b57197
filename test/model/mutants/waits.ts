/** Waiting, signals, and steps to undo. */
import { type Mutant, mutant, wide } from './mutant.ts'

export const WAITS: readonly Mutant[] = [
  // Waits and signals.
  mutant(
    'waiting-job-reaped',
    'wait',
    [
      'tick.ts',
      "if (job.state === 'stalled') return",
      "if (job.state === 'waiting') return { actor, requestId, type: 'stall' }\n  if (job.state === 'stalled') return",
    ],
    ['transitions.ts', "stall: each(['claimed', 'running']", "stall: each(['claimed', 'running', 'waiting']"],
    ['decide/stall.ts', "assert(isOwned(job), 'the table lets only owned jobs stall')", "assert(job.rev > 0, '')"],
    ['decide/stall.ts', 'leaseEndsAt(job, d.steps)', 'job.lease?.expiresAt ?? 0'],
    ['decide/stall.ts', 'leaseExpiresAt: job.lease.expiresAt', 'leaseExpiresAt: job.lease?.expiresAt ?? 0'],
  ),
  mutant(
    'parked-job-reaped',
    'wait',
    [
      'timers.ts',
      "    case 'parked':\n      return",
      "      return earliest(job.deadlineAt, job.wait.timeoutAt)\n    case 'parked':\n      return job.updatedAt ??",
    ],
    [
      'tick.ts',
      "if (job.state === 'stalled') return",
      "if (job.state === 'parked') return { actor, requestId, type: 'stall' }\n  if (job.state === 'stalled') return",
    ],
    ['transitions.ts', "stall: each(['claimed', 'running']", "stall: each(['claimed', 'running', 'parked']"],
    ['decide/stall.ts', "assert(isOwned(job), 'the table lets only owned jobs stall')", "assert(job.rev > 0, '')"],
    ['decide/stall.ts', 'leaseEndsAt(job, d.steps)', 'job.lease?.expiresAt ?? 0'],
    ['decide/stall.ts', 'leaseExpiresAt: job.lease.expiresAt', 'leaseExpiresAt: job.lease?.expiresAt ?? 0'],
  ),
  mutant('wait-keeps-the-lease', 'wait', [
    'evolve.ts',
    "{ state: 'waiting', wait: event.payload.wait }",
    "{ state: 'waiting', wait: event.payload.wait, owner: job.owner, lease: job.lease } as never",
  ]),
  mutant('early-signal-lost', 'wait', [
    'evolve/observed.ts',
    'inbox: [...job.inbox, event.payload.signal]',
    'inbox: job.inbox',
  ]),
  mutant('early-signal-overlooked', 'wait', [
    'decide/wait.ts',
    'job.inbox.find((signal) => answers(wait, signal))',
    'job.inbox.find((signal) => answers(wait, signal) && job.rev < 0)',
  ]),
  mutant('signal-given-twice', 'wait', [
    'evolve.ts',
    'inbox: job.inbox.filter(({ n }) => n !== signal.n)',
    'inbox: job.inbox',
  ]),
  mutant('any-signal-wakes', 'wait', [
    'decide/signal.ts',
    'signal.name === wait.name && signal.key === wait.key',
    'signal.name === wait.name',
  ]),
  mutant('memo-of-an-early-signal-not-written', 'wait', [
    'decide/wait.ts',
    'd.bodies = [...d.bodies, signalMemo(wait, early.n)]',
    '',
  ]),
  mutant('wait-timeout-forgotten', 'wait', [
    'timers.ts',
    'return earliest(deadlineOf(job), job.wait.timeoutAt)',
    'return deadlineOf(job)',
  ]),
  // Compensations.
  mutant('compensation-skipped', 'saga', [
    'ending.ts',
    "if (d.job.phase === 'run' && d.job.compensations.length > 0)",
    'if (d.job.rev < 0)',
  ]),
  mutant('compensation-repeats-for-ever', 'saga', [
    'ending.ts',
    "d.job.phase === 'run' && d.job.compensations.length > 0",
    'd.job.compensations.length > 0',
  ]),
  mutant('compensation-with-a-spent-budget', 'saga', [
    'evolve.ts',
    '    failures: 0,\n    stalls: 0,\n    deadlineAt: payload',
    '    deadlineAt: payload',
  ]),
  mutant('compensation-ends-elsewhere', 'saga', [
    'decide/compensated.ts',
    'finish(d, job.intended,',
    "finish(d, { ...job.intended, state: 'cancelled', cancel: job.cancel ?? { mode: 'soft' } } as never,",
  ]),
  mutant('success-while-compensating', 'saga', [
    'decide/complete.ts',
    "if (job.phase === 'compensate') {",
    "if (job.phase === 'compensate' && job.rev < 0) {",
  ]),
  mutant('undone-step-stays', 'saga', [
    'evolve/observed.ts',
    'registered.filter((name) => name !== undone)',
    'registered',
  ]),
  mutant('strict-wait-ends-a-compensation', 'saga', [
    'decide/expire.ts',
    "wait.onTimeout === 'timed_out' && d.job.phase === 'run'",
    "wait.onTimeout === 'timed_out'",
  ]),
  wide('phase-survives-reopening', 'saga', ['evolve.ts', "      phase: 'run',\n      intended: undefined,\n", '']),
]
