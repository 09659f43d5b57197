/** Histories that really happened: commands thrown at `decide`, of which the accepted ones remain. */
import fc from 'fast-check'
import type { Command } from '../../src/core/command.ts'
import { decide, decideTick } from '../../src/core/decide.ts'
import type { Event } from '../../src/core/event.ts'
import { evolve } from '../../src/core/evolve.ts'
import type { Job } from '../../src/core/job.ts'
import { DIALECT_NAMES } from '../../src/core/policy.ts'
import type { Refusal } from '../../src/core/refusal.ts'
import type { PolicyInput } from '../../src/core/resolve.ts'
import { movesFrom } from '../../src/core/transitions.ts'
import { COMMANDS, OWNER_COMMANDS } from '../../src/core/verb.ts'
import { kindOf, T0 } from '../core/given.ts'
import { WORDS } from '../core/sample.ts'

export interface Lived {
  readonly events: readonly Event[]
  /** The record after each event. */
  readonly jobs: readonly Job[]
  /** Ticks that came due and were refused. */
  readonly refusedTicks: readonly Refusal[]
}

const FREE: readonly PolicyInput[] = [
  { retry: { attempts: 4, base: 1, max: 1 }, startWithin: '50s', deadline: '2m' },
  { admission: true, onExhausted: 'failed', parkAfter: 0, retry: { attempts: 2 }, onStall: 'retry' },
  {
    onStall: 'timed_out',
    onTimeout: 'timed_out',
    timeout: '5s',
    onNotStarted: 'timed_out',
    onWaitTimeout: 'timed_out',
  },
  { admission: true, deadline: '1m', onWaitTimeout: 'timed_out', parkAfter: '10m' },
]
const POLICIES = [...FREE, ...FREE, ...DIALECT_NAMES.map((dialect): PolicyInput => ({ dialect }))]

/** Taken more often than the ways out, so that histories get long. */
const OFTEN: ReadonlySet<string> = new Set(['claim', 'start', 'wait', 'release', 'stall', 'reopen', 'admit', 'fail'])

/** Commands in further words. */
const EXTRA: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'to undo': { type: 'record', step: { name: 's', compensate: true } },
  'cut off': { type: 'cancel', mode: 'hard', reason: 'no longer wanted' },
}

/** What the machine has a move for from here. */
function possible(job: Job): readonly string[] {
  // An approval names what was asked about, which the sample's word does not: it would be refused each time.
  const types = COMMANDS.filter((type) => movesFrom(type, job.state) !== undefined && type !== 'approve')
  const often = types.filter((type) => OFTEN.has(type))
  return [
    ...types,
    ...often,
    ...often,
    ...often,
    'tick',
    ...(job.lease === undefined ? [] : ['to undo', 'to undo', 'wait', 'wait']),
    'cut off',
  ]
}

const ENQUEUE = {
  id: 'pj_7',
  priority: 3,
  topic: 'job.chat.simple',
  contextPtr: 's3://in',
  adapterId: 'a1',
  env: { tenant: 'x' },
  dedupeKey: 'k',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
}

const step = fc.record({
  choice: fc.nat(10_000),
  afterMs: fc.constantFrom(0, 0, 1, 1, 20, 5_000, 70_000),
  odd: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

export const livedUnder = (policies: readonly PolicyInput[]): fc.Arbitrary<Lived> =>
  fc
    .tuple(fc.constantFrom(...policies), fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }))
    .map(([policy, steps]) => live(policy, steps))

export const lived: fc.Arbitrary<Lived> = livedUnder(POLICIES)

function live(policy: PolicyInput, steps: readonly Step[]): Lived {
  const events: Event[] = []
  const jobs: Job[] = []
  let job: Job | undefined
  let now = T0
  const refusedTicks: Refusal[] = []
  const run = (decision: ReturnType<typeof decideTick>): void => {
    if (decision?.kind !== 'accepted') return
    for (const event of decision.events) {
      job = evolve(job, event)
      events.push(event)
      jobs.push(job)
    }
  }
  run(decide(undefined, { ...ENQUEUE, type: 'enqueue', kind: kindOf(policy), actor: 'p', requestId: 'e' }, now))
  for (const [i, { choice, afterMs, odd }] of steps.entries()) {
    if (job === undefined) throw new Error('not enqueued')
    const types = possible(job)
    const type = types[choice % types.length] as string
    now = Math.max(now + afterMs, type === 'claim' ? (job.readyAt ?? 0) : 0)
    if (type === 'stall') now = Math.max(now, job.lease?.expiresAt ?? 0)
    if (type === 'expire' || (type === 'tick' && odd)) now = Math.max(now, job.nextTickAt ?? 0)
    const asked = { actor: 'worker:w1', requestId: `r${i}` }
    if (type === 'tick') {
      const decision = decideTick(job, now, asked)
      if (decision?.kind === 'refused') refusedTicks.push(decision.refusal)
      run(decision)
      continue
    }
    const words = EXTRA[type] ?? (odd ? ODD[type] : undefined) ?? WORDS[type as keyof typeof WORDS]
    const owned = OWNER_COMMANDS.some((name) => name === words['type'])
    const fence = owned ? { fence: job.lease?.fence ?? 'none' } : {}
    run(decide(job, { ...words, ...asked, ...fence, expectedRev: job.rev } as Command, now))
  }
  return { events, jobs, refusedTicks }
}

/** The same command in other words. */
const ODD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  fail: {
    type: 'fail',
    fault: { code: 'E_ROBOTS', message: 'no', context: { domain: 'a.org', url: 'http://a.org/', secret: 's' } },
  },
  complete: {
    type: 'complete',
    result: { name: 'output', size: 3 },
    stats: { urls_total: 4, mine: 1 },
    executionMs: 20,
  },
  record: { type: 'record', note: { kind: 'tool_invocation_started', name: 'fetch' } },
  wait: { type: 'wait', name: 'ok', timeoutMs: 1_000 },
  signal: { type: 'signal', name: 'approved' },
  progress: { type: 'progress', counters: { urls_processed: 2, odd: 1 } },
}
