/**
 * The contract of document 001, operation by operation: for those who build a worker of their own, or hold another
 * queue against it. Every operation answers with the record, and with `replayed` where it had been made before; a
 * refusal is thrown.
 */
import { assert } from './core/assert.ts'
import { bodyRef } from './core/body.ts'
import type { Fault } from './core/command.ts'
import type { Job, JobId, Kind } from './core/job.ts'
import { toJson } from './core/json.ts'
import type { Assignment, Engine, Word } from './engine/engine.ts'
import { DEFAULT_PRIORITY } from './enqueue-options.ts'
import { Invalid, Refused } from './errors.ts'
import type { Lane } from './store/store.ts'

export interface Operation {
  readonly jobId: JobId
  readonly requestId: string
  readonly expectedRev?: number | undefined
}

export interface OwnerOperation extends Operation {
  readonly fence: string
}

export interface Outcome {
  readonly job: Job
  readonly replayed: boolean
}

export interface Contract {
  enqueue(asked: {
    readonly kind: Kind
    readonly input?: unknown
    readonly requestId: string
    readonly dedupeKey?: string | undefined
    readonly priority?: number | undefined
  }): Promise<Outcome & { readonly deduped: boolean }>
  /** The next job of the lanes, or nothing. */
  claimNext(asked: {
    readonly workerId: string
    readonly lanes: readonly Lane[]
    readonly requestId: string
  }): Promise<Assignment | undefined>
  start(asked: OwnerOperation): Promise<Outcome>
  heartbeat(asked: OwnerOperation): Promise<Outcome>
  complete(asked: OwnerOperation & { readonly result?: unknown }): Promise<Outcome>
  fail(asked: OwnerOperation & { readonly error: Fault }): Promise<Outcome>
  /** By anybody who sees that the lease has expired. */
  stall(asked: Operation & { readonly actor?: string | undefined }): Promise<Outcome>
  requeueStalled(asked: Operation & { readonly actor?: string | undefined }): Promise<Outcome>
}

const SYSTEM = 'system'

export function contract(engine: Engine, tenant: string): Contract {
  const say = async (id: JobId, word: Omit<Word, 'id'>): Promise<Outcome> => {
    const [answer] = await engine.settle([{ ...word, id }])
    assert(answer !== undefined, 'every word is answered')
    if (!answer.ok) throw new Refused(answer.refusal)
    const [found] = (await engine.load([{ id: answer.jobId }])).items
    assert(found !== undefined, `job ${answer.jobId} has just been there`)
    return { job: found.job, replayed: answer.replayed }
  }
  return {
    async enqueue({ kind, input, requestId, dedupeKey, priority = DEFAULT_PRIORITY }) {
      const text = textOf(input, 'input')
      const asked = { kind: { ...kind, tenant }, actor: 'producer', priority, input: text, requestId, dedupeKey }
      const [answer] = await engine.enqueue([asked])
      assert(answer !== undefined, 'every request is answered')
      if (!answer.ok) throw new Refused(answer.refusal)
      return answer
    },
    async claimNext({ workerId, lanes, requestId }) {
      const [assignment] = await engine.claim({ requestId, workerId, lanes, limit: 1 })
      return assignment
    },
    start: ({ jobId, ...asked }) => say(jobId, { command: { ...owned(asked), type: 'start' } }),
    heartbeat: ({ jobId, ...asked }) => say(jobId, { command: { ...owned(asked), type: 'heartbeat' } }),
    complete({ jobId, result, ...asked }) {
      const text = textOf(result, 'result')
      const body = text === undefined ? undefined : bodyRef('output', text)
      const bodies = text === undefined ? [] : [{ name: 'output', text }]
      return say(jobId, { command: { ...owned(asked), type: 'complete', result: body }, bodies })
    },
    fail: ({ jobId, error, ...asked }) => say(jobId, { command: { ...owned(asked), type: 'fail', fault: error } }),
    stall: ({ jobId, actor = SYSTEM, ...asked }) => say(jobId, { command: { ...asked, actor, type: 'stall' } }),
    requeueStalled: ({ jobId, actor = SYSTEM, ...asked }) =>
      say(jobId, { command: { ...asked, actor, type: 'requeue' } }),
  }
}

const owned = (asked: Omit<OwnerOperation, 'jobId'>) => ({ ...asked, actor: 'worker' })

function textOf(value: unknown, name: string): string | undefined {
  const json = toJson(value, name)
  if (!json.ok) throw new Invalid(name, json.violations)
  return json.text
}
