/** What is written down, and what is said to those who ask twice. */
import { type Mutant, mutant } from './mutant.ts'

export const LOG: readonly Mutant[] = [
  // The log.
  mutant('skip-an-event', 'budget', [
    'decide.ts',
    'events: d.events, job: d.job',
    'events: d.events.slice(-1), job: d.job',
  ]),
  mutant('rev-gap', 'budget', ['draft.ts', 'rev: job.rev + 1,', 'rev: job.rev + 2,']),
  mutant('rev-stands-still', 'budget', [
    'evolve/observed.ts',
    'return { ...job, rev: event.rev, updatedAt: event.at, lease, cancel, recent } as Job',
    'return { ...job, updatedAt: event.at, lease, cancel, recent } as Job',
  ]),
  mutant('seq-gap', 'budget', ['draft.ts', 'const seq = d.job.seq + 1', 'const seq = d.job.seq + 2']),
  mutant('seq-on-an-observation', 'budget', [
    'draft.ts',
    'event(d, type, undefined, undefined,',
    'event(d, type, d.job.seq + 1, undefined,',
  ]),
  mutant('time-runs-backwards', 'lagging', ['draft.ts', 'at: Math.max(now, job.updatedAt),', 'at: now,']),
  mutant('record-changed-in-place', 'budget', [
    'decide/heartbeat.ts',
    "observe(d, 'heartbeat', {",
    "Object.assign(job.lease ?? {}, { beats: 1 })\n  observe(d, 'heartbeat', {",
  ]),
  // Repetition.
  mutant('repetition-decided-again', 'wait', [
    'decide.ts',
    "if (before?.kind === 'replay') return",
    "if (before?.kind === 'reuse' && job.rev < 0) return",
  ]),
  mutant('repetition-answered-with-another-rev', 'budget', [
    'receipt.ts',
    'digest: last.digest, rev, state, at }',
    'digest: last.digest, rev: rev + 1, state, at }',
  ]),
  mutant('request-id-used-twice', 'timers', [
    'decide.ts',
    "if (before?.kind === 'reuse') {",
    "if (before?.kind === 'reuse' && job.rev < 0) {",
  ]),
  mutant('any-enqueue-is-the-same', 'budget', [
    'decide.ts',
    'if (sameEnqueue({ id: job.id, spec: askedOf(job) }, command)) {',
    'if (sameEnqueue({ id: job.id, spec: askedOf(job) }, command) || job.rev > 0) {',
  ]),
  mutant('expected-revision-ignored', 'budget', [
    'decide.ts',
    'expectedRev < base || expectedRev > job.rev',
    'expectedRev > job.rev',
  ]),
  mutant('heartbeats-make-conflicts', 'budget', [
    'decide.ts',
    'expectedRev < base || expectedRev > job.rev',
    'expectedRev !== job.rev',
  ]),
  mutant('tick-without-a-revision', '001', ['decide.ts', '{ ...command, expectedRev: job.rev }', 'command']),
]
