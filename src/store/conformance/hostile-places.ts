/** Where in a job's life words of others go, and how a test puts its own there. */
import type { Event } from '../../core/event.ts'
import type { Job, Spec } from '../../core/job.ts'
import type { NewJob } from '../store.ts'
import type { Saying } from './store-fixture.ts'

/** Everywhere a producer's words go. */
export const IN_A_NEW_JOB: Readonly<Record<string, (draft: NewJob, text: string) => NewJob>> = {
  tenant: (draft, text) => kindOf(draft, { tenant: text }),
  queue: (draft, text) => kindOf(draft, { queue: text }),
  type: (draft, text) => kindOf(draft, { type: text }),
  'error code of the policy': (draft, text) => {
    const { policy } = draft.job.spec.kind
    return kindOf(draft, { policy: { ...policy, errors: entry(text, 'permanent') } })
  },
  alias: (draft, text) => specOf(draft, { alias: text }),
  contextPtr: (draft, text) => specOf(draft, { contextPtr: text }),
  topic: (draft, text) => specOf(draft, { topic: text }),
  adapterId: (draft, text) => specOf(draft, { adapterId: text }),
  'name in env': (draft, text) => specOf(draft, { env: entry(text, 'x') }),
  'value in env': (draft, text) => specOf(draft, { env: entry('x', text) }),
  'name of a label': (draft, text) => specOf(draft, { labels: entry(text, 'x') }),
  'value of a label': (draft, text) => specOf(draft, { labels: entry('x', text) }),
  workflowId: (draft, text) => specOf(draft, { workflowId: text }),
  dedupeKey: (draft, text) => specOf(draft, { dedupeKey: text }),
  correlationId: (draft, text) => eventOf(specOf(draft, { correlationId: text }), { correlationId: text }),
  traceparent: (draft, text) => specOf(draft, { traceparent: text }),
  'digest of the input': (draft, text) => specOf(draft, { input: { name: 'input', size: 1, digest: text } }),
  actor: (draft, text) => eventOf(draft, { actor: text }),
  requestId: (draft, text) => eventOf(draft, { requestId: text }),
  cause: (draft, text) => eventOf(draft, { cause: text }),
  'dedupe key': (draft, text) => ({ ...draft, keys: [{ purpose: 'dedupe', key: text, until: undefined }] }),
  'idempotency key': (draft, text) => ({ ...draft, keys: [{ purpose: 'idempotency', key: text, until: undefined }] }),
}

/** Everywhere a worker's, an operator's and a passer-by's words go. Core refuses some; a store must bear the rest. */
export const IN_A_CHANGE: Readonly<Record<string, (job: Job, text: string) => Saying>> = {
  'name of a signal': (_, name) => ({ type: 'signal', name }),
  'key of a signal': (_, key) => ({ type: 'signal', name: 's', key }),
  'digest of a body': (_, digest) => ({ type: 'signal', name: 's', body: { name: 'signal/1', size: 1, digest } }),
  actor: (_, actor) => ({ type: 'signal', name: 's', actor }),
  requestId: (_, requestId) => ({ type: 'signal', name: 's', requestId }),
  cause: (_, cause) => ({ type: 'signal', name: 's', cause }),
  correlationId: (_, correlationId) => ({ type: 'signal', name: 's', correlationId }),
  traceparent: (_, traceparent) => ({ type: 'signal', name: 's', traceparent }),
  'reason of a cancel': (_, reason) => ({ type: 'cancel', mode: 'soft', reason }),
  'progress message': (job, message) => ({
    type: 'progress',
    fence: fenceOf(job),
    progress: { done: 1, total: undefined, message, etaAt: undefined },
  }),
  'name of a counter': (job, name) => ({ type: 'progress', fence: fenceOf(job), counters: entry(name, 1) }),
  'name of an artifact': (job, name) => ({ type: 'record', fence: fenceOf(job), artifact: { name, ptr: 'p' } }),
  'pointer of an artifact': (job, ptr) => ({ type: 'record', fence: fenceOf(job), artifact: { name: 'a', ptr } }),
  'name of a step': (job, name) => ({
    type: 'record',
    fence: fenceOf(job),
    step: { name, body: undefined, compensate: true },
  }),
  'code of an error': (job, code) => ({ type: 'fail', fence: fenceOf(job), fault: { code, message: 'm' } }),
  'message of an error': (job, message) => ({ type: 'fail', fence: fenceOf(job), fault: { code: 'E', message } }),
  'context of an error': (job, text) => ({
    type: 'fail',
    fence: fenceOf(job),
    fault: { code: 'E', message: 'm', context: entry(text, text) },
  }),
  'message of a dead letter': (_, message) => ({
    type: 'deadLetter',
    reason: 'policy_violation',
    stage: 'exec',
    message,
  }),
  'name of a wait': (job, name) => ({ type: 'wait', fence: fenceOf(job), name }),
  'key of a wait': (job, key) => ({ type: 'wait', fence: fenceOf(job), name: 'w', key }),
  'memo of a wait': (job, memo) => ({ type: 'wait', fence: fenceOf(job), name: 'w', memo }),
  'pointer of a result': (job, resultPtr) => ({ type: 'complete', fence: fenceOf(job), resultPtr }),
}

const fenceOf = (job: Job): string => job.lease?.fence ?? ''

/** Survives a key called `__proto__`. */
export const entry = <T>(name: string, value: T): Readonly<Record<string, T>> => Object.fromEntries([[name, value]])

function specOf(draft: NewJob, changes: Partial<Spec>): NewJob {
  const spec = { ...draft.job.spec, ...changes }
  const payload = { ...draft.event.payload, spec }
  return { ...draft, job: { ...draft.job, spec }, event: { ...draft.event, payload } as Event }
}

export const kindOf = (draft: NewJob, changes: Partial<Spec['kind']>): NewJob =>
  specOf(draft, { kind: { ...draft.job.spec.kind, ...changes } })

const eventOf = (draft: NewJob, changes: Partial<Event>): NewJob => ({
  ...draft,
  event: { ...draft.event, ...changes } as Event,
})
