/**
 * Every state a record can be in, and the ways into it that differ for a store: ready or not, leased or expired, asked
 * to cancel, compensating, reopened. Histories are made by core in the past and committed, so that nobody waits for a
 * lease to run out.
 */
import type { Fault } from '../../core/command.ts'
import type { Job, State } from '../../core/job.ts'
import type { JobOptions, Saying, StoreFixture } from './store-fixture.ts'

export interface Specimen {
  readonly name: string
  readonly options?: JobOptions
  readonly steps: readonly Step[]
}

export interface Step {
  readonly afterMs: number
  readonly say: (job: Job) => Saying
}

const HOUR = 3_600_000
const then = (say: Step['say'], afterMs = 1_000): Step => ({ afterMs, say })

const fenceOf = (job: Job): string => job.lease?.fence ?? job.lastClaim?.fence ?? ''

const claim = then(() => ({ type: 'claim', workerId: 'w0', nonce: '00000000000000aa' }))
const start = then((job) => ({ type: 'start', fence: fenceOf(job) }))
const beat = then((job) => ({ type: 'heartbeat', fence: fenceOf(job) }))
const run = [claim, start]
const fail = (fault: Partial<Fault>) =>
  then((job) => ({ type: 'fail', fence: fenceOf(job), fault: { code: 'E_TEST', message: 'no', ...fault } }))
const wait = (timeoutMs?: number) => then((job) => ({ type: 'wait', fence: fenceOf(job), name: 'go', timeoutMs }))
const signal = then(() => ({ type: 'signal', name: 'go', body: { name: 'signal/1', size: 2, digest: undefined } }))
const softCancel = then(() => ({ type: 'cancel', mode: 'soft', reason: 'enough' }))
const hardCancel = then(() => ({ type: 'cancel', mode: 'hard' }))
const release = (runAt?: number) => then((job) => ({ type: 'release', fence: fenceOf(job), reason: 'shutdown', runAt }))
const unknown = then((job) => ({ type: 'release', fence: fenceOf(job), reason: 'unknown_type' }))
const stall = then(() => ({ type: 'stall' }), 5_000)
const requeue = then(() => ({ type: 'requeue' }))
const reopen = then(() => ({ type: 'reopen', reason: 'again' }))
const admit = then(() => ({ type: 'admit', rule: 'allow', policyHash: 'p1' }))
const deny = then(() => ({ type: 'deny', rule: 'forbid', policyHash: 'p1', reason: 'no' }))
const admitNarrowly = then(() => ({
  type: 'admit',
  rule: 'allow',
  policyHash: 'p1',
  terms: { attemptMs: 1_000, maxAttempts: 2 },
}))
const admitElsewhere = then(() => ({
  type: 'admit',
  rule: 'allow',
  policyHash: 'p1',
  recast: {
    redirect: { from: 'suite.job', to: 'cheap', queue: 'second', type: 'cheap.job', rule: 'allow' },
    labels: { risk: 'low' },
    throttles: undefined,
  },
}))
const ask = then(() => ({
  type: 'askApproval',
  rule: 'ask',
  policyHash: 'p1',
  expiresMs: 60_000,
  notBy: 'somebody',
  reason: 'why',
}))
const approve = then(({ approval }) => ({
  type: 'approve',
  policyHash: 'p1',
  jobHash: approval?.jobHash ?? '',
  reason: 'seen',
}))
const expire = then(() => ({ type: 'expire' }), 5_000)
const progress = then((job) => ({
  type: 'progress',
  fence: fenceOf(job),
  progress: { done: 1, total: 2, message: 'half', etaAt: undefined },
  counters: { documents: 3 },
}))
const checkpoint = then((job) => ({
  type: 'checkpoint',
  fence: fenceOf(job),
  body: { name: 'checkpoint', size: 3, digest: 'd' },
}))
const step = then((job) => ({
  type: 'record',
  fence: fenceOf(job),
  step: { name: 'pay', body: undefined, compensate: true },
  artifact: { name: 'bill', ptr: 's3://bill' },
  note: { kind: 'tool_invocation_started', name: 'till' },
}))
const replaced = then(() => ({
  type: 'replace',
  input: { name: 'replaced', size: 2, digest: 'd' },
  runAt: 4_000_000_000_000,
}))
const next = then(() => ({
  type: 'replace',
  input: { name: 'next', size: 2, digest: 'd' },
  debounce: { withinMs: HOUR, atMostMs: 2 * HOUR },
}))
const complete = then((job) => ({ type: 'complete', fence: fenceOf(job), stats: { documents: 2 }, executionMs: 12 }))

const SHORT: JobOptions = { policy: { leaseMs: 1_500 } }
const ADMISSION: JobOptions = { policy: { admission: true } }

/** A state without a specimen does not compile. */
export const SPECIMENS: Readonly<Record<State, readonly Specimen[]>> = {
  pending: [
    { name: 'new', options: ADMISSION, steps: [] },
    { name: 'reopened', options: ADMISSION, steps: [admit, ...run, fail({ class: 'permanent' }), reopen] },
    { name: 'to be approved', options: ADMISSION, steps: [ask] },
    { name: 'approved', options: ADMISSION, steps: [ask, approve] },
  ],
  queued: [
    { name: 'new', steps: [] },
    { name: 'with input', options: { input: '{"n":1}' }, steps: [] },
    { name: 'delayed', options: { runAt: 4_000_000_000_000 }, steps: [] },
    { name: 'admitted', options: ADMISSION, steps: [admit] },
    { name: 'admitted under terms', options: ADMISSION, steps: [admitNarrowly] },
    { name: 'admitted as something else', options: ADMISSION, steps: [admitElsewhere] },
    { name: 'released', steps: [claim, release()] },
    { name: 'handed back by who does not know its type', steps: [claim, unknown] },
    { name: 'snoozed', steps: [...run, release(4_000_000_000_000)] },
    { name: 'signalled', steps: [...run, wait(), signal] },
    { name: 'signalled early', steps: [signal, ...run, wait()] },
    { name: 'with a signal in the inbox', steps: [signal] },
    { name: 'after a wait that timed out', steps: [...run, wait(1_000), expire] },
    { name: 'requeued after a lost lease', options: SHORT, steps: [...run, stall, requeue] },
    { name: 'compensating', steps: [...run, step, fail({ class: 'permanent' })] },
    { name: 'compensating after a soft cancel', steps: [...run, step, softCancel, release()] },
    { name: 'reopened', steps: [...run, fail({ class: 'permanent' }), reopen] },
    { name: 'reopened after a cancel', steps: [hardCancel, reopen] },
    { name: 'with a newer input', options: { input: '{"n":1}' }, steps: [replaced] },
    { name: 'rescheduled', steps: [then(() => ({ type: 'reschedule', priority: 1 }))] },
  ],
  retrying: [
    { name: 'due', steps: [...run, fail({})] },
    { name: 'due, throttled', steps: [...run, fail({ class: 'throttled', context: { url: 'x' } })] },
    { name: 'not due', steps: [...run, fail({ retryAfterMs: 1_000 * HOUR })] },
  ],
  claimed: [
    { name: 'live', steps: [claim] },
    { name: 'expired', options: SHORT, steps: [claim] },
    { name: 'asked to cancel', steps: [claim, softCancel] },
    { name: 'on its second attempt', steps: [...run, fail({}), then(claim.say, HOUR / 4)] },
  ],
  running: [
    { name: 'live', steps: run },
    { name: 'live elsewhere', options: ADMISSION, steps: [admitElsewhere, ...run] },
    { name: 'expired', options: SHORT, steps: run },
    { name: 'with work recorded', steps: [...run, beat, progress, beat, checkpoint, step, beat] },
    { name: 'with a next', steps: [...run, next, next] },
    { name: 'asked to cancel', steps: [...run, softCancel] },
    { name: 'told to cancel', steps: [...run, softCancel, beat] },
    { name: 'compensating', steps: [...run, step, fail({ class: 'permanent' }), ...run] },
  ],
  waiting: [{ name: 'for a while', steps: [...run, wait(HOUR - 60_000)] }],
  parked: [{ name: 'until somebody calls', steps: [...run, wait()] }],
  stalled: [
    { name: 'with budget left', options: SHORT, steps: [...run, stall] },
    { name: 'with its budget spent', options: { policy: { leaseMs: 1_500, maxStalls: 0 } }, steps: [...run, stall] },
    { name: 'asked to cancel', options: SHORT, steps: [claim, then(softCancel.say, 500), stall] },
    { name: 'bound to be retried', options: { policy: { leaseMs: 1_000, onStall: 'retry' } }, steps: [claim, stall] },
  ],
  succeeded: [
    { name: 'after a start', steps: [...run, complete] },
    { name: 'from claimed', steps: [claim, complete] },
  ],
  failed: [{ name: 'for good', steps: [...run, fail({ class: 'permanent' })] }],
  cancelled: [
    { name: 'before it ran', steps: [softCancel] },
    { name: 'while it ran', steps: [...run, hardCancel] },
  ],
  timed_out: [{ name: 'by its deadline', options: { policy: { deadlineMs: 2_000 } }, steps: [expire] }],
  denied: [{ name: 'by a rule', options: ADMISSION, steps: [deny] }],
  dead_lettered: [
    { name: 'its budget spent', options: { policy: { maxAttempts: 1 } }, steps: [...run, fail({})] },
    {
      name: 'by an operator',
      steps: [then(() => ({ type: 'deadLetter', reason: 'policy_violation', stage: 'exec' }))],
    },
  ],
}

/** How long ago the specimens were enqueued. */
const AGO = HOUR

/** All specimens of all states, side by side. */
export const growAll = (fixture: StoreFixture, options: JobOptions = {}): Promise<readonly Job[]> =>
  Promise.all(
    Object.values(SPECIMENS)
      .flat()
      .map((specimen) => grow(fixture, specimen, options)),
  )

/** The specimen's history, committed step by step. Nothing in it is later than now. */
export async function grow(fixture: StoreFixture, specimen: Specimen, options: JobOptions = {}): Promise<Job> {
  let at = fixture.begin - AGO
  let job = await fixture.insertOne({ ...specimen.options, ...options, at })
  for (const { afterMs, say } of specimen.steps) {
    at += afterMs
    job = await fixture.say(job, say(job), at)
  }
  return job
}
