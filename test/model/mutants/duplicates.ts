/** What duplicates bring, and when it comes. */
import { type Mutant, mutant } from './mutant.ts'

export const DUPLICATES: readonly Mutant[] = [
  mutant('input-replaced-under-its-owner', 'duplicates', [
    'newer.ts',
    'isUntouched(job) &&',
    "job.state !== 'stalled' &&",
  ]),
  mutant('next-forgotten-at-the-end', 'duplicates', [
    'decide.ts',
    'ruling?.successor ?? nextOf(d, job)',
    'ruling?.successor',
  ]),
  mutant('next-again-after-reopening', 'duplicates', [
    'evolve.ts',
    'newer: withoutNext(job.newer)',
    'newer: job.newer',
  ]),
  mutant('next-before-the-end', 'duplicates', ['newer.ts', 'endedAt === undefined || isEnded(job)', 'isEnded(job)']),
  mutant('next-dropped-by-any-cancel', 'duplicates', [
    'newer.ts',
    'cancel?.dropsNext !== true',
    'cancel === undefined',
  ]),
  mutant('drop-ignored', 'duplicates', ['newer.ts', ' && cancel?.dropsNext !== true', '']),
  mutant('drop-forgotten-by-the-owner', 'duplicates', [
    'decide/cancel.ts',
    "observe(d, 'cancel_requested', { cancel })",
    "observe(d, 'cancel_requested', { cancel: asked })",
  ]),
  mutant('next-takes-the-input-along', 'duplicates', [
    'decide/replace.ts',
    '{ newer: { ...(newer ?? NOTHING), next }, runAt: undefined }',
    '{ newer: { ...(newer ?? NOTHING), input: command.input, next }, runAt: undefined }',
  ]),
  mutant('input-replaced-after-admission', 'judged duplicates', [
    'newer.ts',
    '!(input !== undefined && isJudged(job)) &&',
    '',
  ]),
  mutant('approved-whatever-it-says-now', 'judged duplicates', [
    'decide/approve.ts',
    'if (!isAsAsked(job))',
    'if (false)',
  ]),
  mutant('hash-of-the-first-input', 'judged duplicates', ['job-hash.ts', ', spec, ...brought(newer)]', ', spec]']),
]
