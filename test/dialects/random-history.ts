/** Histories that really happened: commands thrown at `decide`, of which the accepted ones remain. */
import fc from 'fast-check'
import type { Command } from '../../src/core/command.ts'
import { decide, decideTick } from '../../src/core/decide.ts'
import type { Event } from '../../src/core/event.ts'
import { evolve } from '../../src/core/evolve.ts'
import type { Job } from '../../src/core/job.ts'
import { DIALECT_NAMES } from '../../src/core/policy.ts'
import type { PolicyInput } from '../../src/core/resolve.ts'
import { COMMANDS, OWNER_COMMANDS } from '../../src/core/verb.ts'
import { kindOf, T0 } from '../core/given.ts'
import { WORDS } from '../core/sample.ts'

export interface Lived {
  readonly events: readonly Event[]
  /** The record after each event. */
  readonly jobs: readonly Job[]
}

const POLICIES: readonly PolicyInput[] = [
  { retry: { attempts: 4, base: 1, max: 1 }, startWithin: '50s', deadline: '2m' },
  { admission: true, onExhausted: 'failed', parkAfter: 0, retry: { attempts: 2 }, onStall: 'retry' },
  { onStall: 'timed_out', onTimeout: 'timed_out', timeout: '5s', onNotStarted: 'timed_out', onWaitTimeout: 'timed_out' },
  ...DIALECT_NAMES.map((dialect): PolicyInput => ({ dialect })),
]

/** The way forward is taken more often than the ways out, so that histories get long. */
const TYPES = [
  ...COMMANDS.filter((type) => type !== 'enqueue'),
  ...['claim', 'claim', 'claim', 'claim', 'start', 'start', 'start', 'heartbeat', 'admit', 'reopen', 'reopen', 'tick', 'tick'],
  ...['release', 'fail', 'fail', 'wait', 'signal', 'stall', 'compensable', 'cut off'],
] as const

const EXTRA: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  compensable: { type: 'record', step: { name: 's', compensate: true } },
  'cut off': { type: 'cancel', mode: 'hard', reason: 'no longer wanted' },
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

export const lived: fc.Arbitrary<Lived> = fc
  .tuple(
    fc.constantFrom(...POLICIES),
    fc.array(fc.tuple(fc.constantFrom(...TYPES), fc.constantFrom(0, 1, 5_000, 70_000), fc.boolean()), {
      minLength: 5,
      maxLength: 60,
    }),
  )
  .map(([policy, steps]) => live(policy, steps))

function live(policy: PolicyInput, steps: readonly (readonly [string, number, boolean])[]): Lived {
  const events: Event[] = []
  const jobs: Job[] = []
  let job: Job | undefined
  let now = T0
  const run = (decision: ReturnType<typeof decideTick>) => {
    if (decision?.kind !== 'accepted') return
    for (const event of decision.events) {
      job = evolve(job, event)
      events.push(event)
      jobs.push(job)
    }
  }
  run(decide(undefined, { ...ENQUEUE, type: 'enqueue', kind: kindOf(policy), actor: 'p', requestId: 'e' }, now))
  steps.forEach(([type, afterMs, odd], i) => {
    if (job === undefined) throw new Error('not enqueued')
    now += afterMs
    const asked = { actor: 'worker:w1', requestId: `r${i}` }
    if (type === 'tick') return run(decideTick(job, now, asked))
    const words = EXTRA[type] ?? (odd ? ODD[type] : undefined) ?? WORDS[type as keyof typeof WORDS]
    const fence = OWNER_COMMANDS.some((owned) => owned === words['type']) ? { fence: job.lease?.fence ?? 'none' } : {}
    run(decide(job, { ...words, ...asked, ...fence, expectedRev: job.rev } as Command, now))
  })
  return { events, jobs }
}

/** The same command in other words. */
const ODD: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  fail: {
    type: 'fail',
    fault: { code: 'E_ROBOTS', message: 'no', context: { domain: 'a.org', url: 'http://a.org/', secret: 's' } },
  },
  complete: { type: 'complete', result: { name: 'output', size: 3 }, stats: { urls_total: 4, mine: 1 }, executionMs: 20 },
  wait: { type: 'wait', name: 'ok', timeoutMs: 1_000 },
  progress: { type: 'progress', counters: { urls_processed: 2, odd: 1 } },
}
