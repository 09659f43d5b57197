/** How often a job may go wrong, and when it is tried again. */
import { type Mutant, mutant, wide } from './mutant.ts'

export const BUDGETS: readonly Mutant[] = [
  // Budgets.
  mutant('release-counts-as-failure', 'budget', [
    'evolve.ts',
    '        needs: event.payload.needs ?? job.needs,',
    '        needs: event.payload.needs ?? job.needs,\n        failures: job.failures + 1,',
  ]),
  mutant('stall-not-counted', 'budget', ['evolve.ts', 'stalls: job.stalls + (countsStall(job) ? 1 : 0),', '']),
  mutant('stall-counts-as-failure', 'budget', [
    'evolve.ts',
    'stalls: job.stalls + (countsStall(job) ? 1 : 0),',
    'failures: job.failures + 1,',
  ]),
  mutant('failure-not-counted', 'budget', [
    'evolve.ts',
    "failures: job.state === 'stalled' ? job.failures : job.failures + 1,",
    '',
  ]),
  mutant('retry-beyond-budget', 'budget', ['decide/fail.ts', '!spentByFailure(job)', 'true']),
  mutant('one-stall-too-many', 'budget', [
    'budget.ts',
    'job.stalls > policy.maxStalls',
    'job.stalls > policy.maxStalls + 1',
  ]),
  mutant('stalls-never-spent', 'budget', ['budget.ts', ' || job.stalls > policy.maxStalls', '']),
  mutant('shared-budget-counted-apart', '000B', ['budget.ts', "policy.budget === 'shared'", 'false']),
  mutant('successor-with-a-fresh-budget', '002', ['successor.ts', 'failures: d.job.failures,', 'failures: 0,']),
  mutant('lost-claim-counts-without-an-end', '001', ['evolve.ts', 'countsStall(job) ? 1 : 0', '1']),
  mutant('claim-counts-that-never-started', '004', ['budget.ts', "state === 'running' ? 'ran' : 'first'", "'ran'"]),
  // Suspicion.
  mutant('cleared-by-being-handed-back', 'budget', [
    'suspicion.ts',
    "!== 'snoozed') return before",
    "!== 'snoozed') return 0",
  ]),
  mutant('suspect-for-ever', 'budget', ['suspicion.ts', '!isCrash(event)) return 0', '!isCrash(event)) return before']),
  mutant('blamed-the-first-time', 'budget', [
    'suspicion.ts',
    '(lastClaim?.silences ?? 0) > 1',
    '(lastClaim?.silences ?? 0) > 0',
  ]),
  mutant('never-blamed', 'budget', ['suspicion.ts', 'before === 0 ? 1 : 2', 'before === 0 ? 1 : 1']),
  wide('budget-not-fresh-after-reopen', 'cancel', [
    'evolve.ts',
    '      failures: 0,\n      stalls: 0,\n      cancel',
    '      cancel',
  ]),
  mutant('retry-at-once', 'budget', ['retry.ts', 'return at + retryDelayMs', 'return at + 0 * retryDelayMs']),
  mutant('asked-for-only-a-lower-bound', 'timers', [
    'retry.ts',
    'return Math.min(at + askedDelayMs(retryAfterMs, seed),',
    'return Math.min(at + Math.max(job.spec.kind.policy.retry.baseMs, askedDelayMs(retryAfterMs, seed)),',
  ]),
  mutant('asked-for-beyond-the-deadline', 'timers', [
    'retry.ts',
    'deadlineAt ?? Number.POSITIVE_INFINITY)',
    'Number.POSITIVE_INFINITY)',
  ]),
  mutant('throttled-like-any-other', 'timers', [
    'retry.ts',
    "failure.class === 'throttled' ?",
    'policy === undefined ?',
  ]),
]
