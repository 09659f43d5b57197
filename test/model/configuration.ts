/**
 * What is explored: small worlds, each about one part of the lifecycle, each under a policy whose clocks are a few
 * units long. A world is complete within its bounds; the bounds grow from `gate` to `full` to `deep`.
 */

import type { Policy } from '../../src/core/policy.ts'
import { type PolicyInput, resolvePolicy } from '../../src/core/resolve.ts'
import type { EnvironmentWord, OwnerWord } from './word.ts'

export interface Bounds {
  /** Job slots. Jobs of one world are interchangeable. */
  readonly jobs: number
  /** Processes that can believe in a fence at the same time. Interchangeable, and all with the same worker id. */
  readonly workers: number
  /** Messages on their way at the same time, repetitions included. */
  readonly messages: number
  /** Claims per job. */
  readonly attempts: number
  /** Reopenings per job. */
  readonly generations: number
  /** Signals in the inbox. */
  readonly signals: number
  /** Steps recorded per job. */
  readonly steps: number
}

export interface Configuration {
  readonly name: string
  readonly about: string
  readonly policy: Policy
  /** One abstract instant. Every clock of the policy is a multiple of it. */
  readonly unitMs: number
  /** All jobs have the same dedupe key. */
  readonly keyed: boolean
  /** Whoever decides may be this far behind the store's clock. */
  readonly lagMs: number
  readonly owner: readonly OwnerWord[]
  readonly environment: readonly EnvironmentWord[]
  readonly bounds: Readonly<Record<Scale, Bounds>>
}

export const SCALES = ['gate', 'full', 'deep'] as const
export type Scale = (typeof SCALES)[number]

const SMALL: Bounds = { jobs: 1, workers: 1, messages: 1, attempts: 3, generations: 0, signals: 1, steps: 1 }

function configuration(
  name: string,
  about: string,
  input: PolicyInput,
  words: { readonly owner: readonly OwnerWord[]; readonly environment: readonly EnvironmentWord[] },
  sizes: { readonly gate?: Partial<Bounds>; readonly full?: Partial<Bounds>; readonly deep?: Partial<Bounds> },
  more: { readonly unitMs?: number; readonly keyed?: boolean; readonly lagMs?: number } = {},
): Configuration {
  const resolved = resolvePolicy(input)
  if (!resolved.ok) throw new Error(`${name}: ${resolved.violations.map(({ field, rule }) => `${field} ${rule}`)}`)
  const gate = { ...SMALL, ...sizes.gate }
  const full = { ...gate, ...sizes.full }
  const deep = { ...full, ...sizes.deep }
  const { unitMs = 1_000, keyed = false, lagMs = 0 } = more
  return { name, about, policy: resolved.policy, unitMs, keyed, lagMs, ...words, bounds: { gate, full, deep } }
}

/** A lease of two units, retries after one, no jitter: whatever happens, it happens on a whole unit. */
const QUICK = {
  lease: 2_000,
  heartbeat: 1_000,
  missedHeartbeats: 1,
  timeout: 4_000,
  cancelGrace: 1_000,
  compensateWithin: 8_000,
  parkAfter: 1_000,
  retry: {
    attempts: 2,
    stalls: 1,
    base: 1_000,
    factor: 1,
    max: 1_000,
    jitter: 'none',
    throttled: { base: 2_000, max: 2_000, factor: 1, jitter: 'none' },
  },
} as const satisfies PolicyInput

/** The same, ten times slower, for documents that demand long leases. */
const SLOW = {
  ...QUICK,
  lease: 30_000,
  heartbeat: 10_000,
  missedHeartbeats: 2,
  timeout: 40_000,
  cancelGrace: 10_000,
  compensateWithin: 80_000,
  parkAfter: 10_000,
  retry: {
    ...QUICK.retry,
    base: 10_000,
    max: 10_000,
    throttled: { base: 20_000, max: 20_000, factor: 1, jitter: 'none' },
  },
} as const satisfies PolicyInput

/** The one that takes longest comes first, so that the two processors end together. */
export const CONFIGURATIONS: readonly Configuration[] = [
  configuration(
    'lagging',
    'processes whose clock is behind the store’s: the lease end is checked where the clock is',
    { ...QUICK, deadline: 6_000 },
    {
      owner: ['start', 'heartbeat', 'checkpoint', 'complete', 'transient', 'release', 'waitShort'],
      environment: ['cancelSoft', 'signal'],
    },
    { gate: { attempts: 1, signals: 0 }, full: { attempts: 2, signals: 1 }, deep: { workers: 2 } },
    { lagMs: 1_000 },
  ),
  configuration(
    'budget',
    'failures and lost leases against their budgets, zombies, releases, repetitions',
    QUICK,
    {
      owner: ['start', 'heartbeat', 'complete', 'again', 'transient', 'permanent', 'release'],
      environment: ['stall', 'requeue'],
    },
    { gate: { workers: 2 }, full: { attempts: 4 }, deep: { messages: 2 } },
  ),
  configuration(
    'cancel',
    'soft and hard cancels, by users and owners, their grace, reopening',
    QUICK,
    {
      owner: ['start', 'heartbeat', 'complete', 'transient', 'release', 'giveUp'],
      environment: ['cancelSoft', 'cancelHard', 'reopen'],
    },
    { gate: { generations: 1, attempts: 2 }, full: { attempts: 3 }, deep: { workers: 2, messages: 2 } },
  ),
  configuration(
    'wait',
    'waiting, parking, signals early, late, repeated and unwanted, wait timeouts',
    { ...QUICK, retry: { ...QUICK.retry, attempts: 1, stalls: 0 } },
    {
      owner: ['start', 'complete', 'transient', 'waitShort', 'waitLong', 'waitForever', 'waitStrict'],
      environment: ['signal', 'noise', 'cancelSoft', 'expire'],
    },
    { gate: { attempts: 2, signals: 2 }, full: { workers: 2, attempts: 3 }, deep: { messages: 2 } },
  ),
  configuration(
    'saga',
    'steps with compensations, every way to end before they are undone, reopening afterwards',
    { ...QUICK, deadline: 6_000, onWaitTimeout: 'timed_out', retry: { ...QUICK.retry, attempts: 1, stalls: 0 } },
    {
      owner: [
        'start',
        'step',
        'undo',
        'compensated',
        'complete',
        'transient',
        'permanent',
        'waitShort',
        'release',
        'reject',
      ],
      environment: ['cancelSoft', 'cancelHard', 'bury', 'reopen'],
    },
    { gate: { attempts: 2 }, full: { generations: 1 }, deep: { steps: 2, attempts: 3 } },
  ),
  configuration(
    'admission',
    'admission and denial, deadlines, jobs not started in time, rescheduling',
    { ...QUICK, admission: true, startWithin: 2_000, deadline: 5_000, onNotStarted: 'stalled' },
    {
      owner: ['start', 'heartbeat', 'complete', 'transient', 'release', 'snooze'],
      environment: [
        'admit',
        'deny',
        'ask',
        'approve',
        'postpone',
        'hurry',
        'signal',
        'stall',
        'expire',
        'reopen',
        'bury',
      ],
    },
    { gate: { attempts: 2 }, full: { generations: 1 }, deep: { workers: 2, attempts: 3 } },
  ),
  configuration(
    'duplicates',
    'two jobs with one dedupe key, and duplicates that bring a newer input: to what waits, and to what somebody has begun with',
    { ...QUICK, dedupe: { onDuplicate: 'replace' }, retry: { ...QUICK.retry, attempts: 2, stalls: 0 } },
    {
      owner: ['start', 'complete', 'transient', 'step', 'compensated', 'release'],
      environment: ['duplicate', 'bareDuplicate', 'cancelDropping', 'cancelHard', 'reopen'],
    },
    { gate: { attempts: 1, generations: 1 }, full: { jobs: 2, generations: 0, steps: 0 }, deep: { steps: 1 } },
    { keyed: true },
  ),
  configuration(
    'judged duplicates',
    'duplicates of a job that somebody must approve: before, between and after the question, the answer and the admission',
    {
      ...QUICK,
      admission: true,
      dedupe: { onDuplicate: 'replace' },
      retry: { ...QUICK.retry, attempts: 1, stalls: 0 },
    },
    {
      owner: ['start', 'complete'],
      environment: [
        ...(['admit', 'ask', 'approve', 'duplicate', 'bareDuplicate'] as const),
        ...(['misplacedDuplicate', 'cancelHard', 'reopen'] as const),
      ],
    },
    { gate: { attempts: 1, generations: 1 }, full: { attempts: 2 }, deep: { workers: 2 } },
    { keyed: true },
  ),
  configuration(
    'keyed',
    'two jobs with one dedupe key: enqueue, end, reopen',
    { ...QUICK, retry: { ...QUICK.retry, attempts: 1, stalls: 0 } },
    { owner: ['start', 'complete', 'transient'], environment: ['cancelHard', 'cancelSoft', 'reopen'] },
    { gate: { jobs: 2, attempts: 1, generations: 1 }, full: { attempts: 2 }, deep: { workers: 2, generations: 2 } },
    { keyed: true },
  ),
  configuration(
    'pair',
    'two independent jobs and the workers that take them for each other',
    { ...QUICK, retry: { ...QUICK.retry, stalls: 0 } },
    { owner: ['start', 'complete', 'transient', 'release'], environment: [] },
    { gate: { jobs: 2, attempts: 1 }, full: { workers: 2, attempts: 2 }, deep: { messages: 2 } },
  ),
  configuration(
    'unknown',
    'workers that do not know the type, and what they hand back',
    QUICK,
    { owner: ['start', 'complete', 'transient', 'release', 'unknown'], environment: ['cancelSoft', 'reopen', 'hurry'] },
    { gate: { attempts: 2 }, full: { attempts: 3, generations: 1 }, deep: { workers: 2 } },
  ),
  configuration(
    'timers',
    'attempt limits, throttled and invalid input, retries when asked for, deadlines that end everything, strict waits',
    {
      ...QUICK,
      timeout: 2_000,
      deadline: 7_000,
      startWithin: 3_000,
      onTimeout: 'timed_out',
      onNotStarted: 'timed_out',
    },
    {
      owner: [
        ...(['start', 'heartbeat', 'progress', 'throttled', 'askedAtOnce', 'askedLate'] as const),
        ...(['invalid', 'overdue', 'waitStrict', 'complete'] as const),
      ],
      environment: ['expire', 'signal'],
    },
    { gate: { attempts: 2 }, full: { workers: 2 }, deep: { attempts: 3, messages: 2 } },
  ),
  configuration(
    'everything',
    'admission, deadline, steps, long waits, cancels, dead letters and reopenings all at once',
    { ...QUICK, admission: true, deadline: 3_000, onExhausted: 'failed', retry: { ...QUICK.retry, stalls: 0 } },
    {
      owner: ['start', 'step', 'transient', 'permanent', 'waitForever', 'waitLong', 'giveUp', 'compensated'],
      environment: ['admit', 'cancelSoft', 'cancelHard', 'bury', 'signal', 'stall', 'reopen'],
    },
    { gate: { attempts: 1 }, full: { attempts: 2, generations: 1, signals: 0 }, deep: { workers: 2, signals: 1 } },
  ),
  configuration(
    '000B',
    'strict 000: a lost lease is an attempt, the end is `failed`',
    { ...SLOW, dialect: '000B', retry: { ...SLOW.retry, attempts: 3 } },
    { owner: ['start', 'heartbeat', 'complete', 'transient', 'release'], environment: ['stall', 'requeue'] },
    { gate: {}, full: { workers: 2 }, deep: { messages: 2 } },
    { unitMs: 10_000 },
  ),
  configuration(
    '001',
    'strict 001: every command carries a revision, a failure is final, a lost lease never is',
    { ...QUICK, dialect: '001', retry: { ...QUICK.retry, stalls: undefined } },
    { owner: ['start', 'heartbeat', 'progress', 'complete', 'transient'], environment: ['stall', 'requeue'] },
    { gate: {}, full: { workers: 2, attempts: 4, messages: 2 }, deep: { workers: 3 } },
  ),
  configuration(
    '002',
    'strict 002: a retry is a new job, a lost lease is a timeout',
    { ...QUICK, dialect: '002', startWithin: 3_000, onWaitTimeout: 'timed_out' },
    { owner: ['start', 'complete', 'transient', 'permanent'], environment: ['admit', 'deny', 'cancelSoft'] },
    { gate: { jobs: 2, attempts: 1 }, full: { workers: 2, messages: 2 }, deep: { attempts: 2 } },
  ),
  configuration(
    '004',
    'strict 004: a missed heartbeat is a soft timeout and is retried',
    { ...QUICK, dialect: '004', deadline: 12_000, retry: { ...QUICK.retry, attempts: 3 } },
    { owner: ['start', 'heartbeat', 'complete', 'transient', 'throttled', 'permanent'], environment: [] },
    { gate: {}, full: { workers: 2 }, deep: { messages: 2 } },
  ),
]
