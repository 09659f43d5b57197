/**
 * The contract of document 001, operation by operation: for those who build a worker of their own, or hold another
 * queue against it. Every operation answers with the record, and with `replayed` where it had been made before; a
 * refusal is thrown.
 */

import { assert } from '../core/assert.ts'
import { bodyRef } from '../core/body.ts'
import type { Fault } from '../core/command.ts'
import type { Job, JobId, Kind } from '../core/job.ts'
import { toJson } from '../core/json.ts'
import type { Assignment, Engine, Word } from '../engine/engine.ts'
import type { Lane } from '../store/store.ts'
import type { CallOptions } from './call.ts'
import { DEFAULT_PRIORITY, PRODUCER } from './enqueue-options.ts'
import { Invalid, Refused } from './errors.ts'

export interface Operation extends CallOptions {
  /** Which job. */
  readonly jobId: JobId
  /** This call: repeated with it, the first answer comes back. */
  readonly requestId: string
  /**
   * Refused with `REV_CONFLICT` unless the job is still at this revision. Jobs bound to 001 demand it.
   * @default any revision
   */
  readonly expectedRev?: number | undefined
}

export interface OwnerOperation extends Operation {
  /** What the claim gave: the proof of ownership. */
  readonly fence: string
  /**
   * Who says so, for the log.
   * @default nobody by name: `worker`
   */
  readonly workerId?: string | undefined
}

export interface Outcome {
  readonly job: Job
  readonly replayed: boolean
}

export interface Contract {
  enqueue(
    asked: CallOptions & {
      readonly kind: Omit<Kind, 'tenant'>
      readonly input?: unknown
      readonly requestId: string
      readonly dedupeKey?: string | undefined
      readonly priority?: number | undefined
    },
  ): Promise<Outcome & { readonly deduped: boolean }>
  /** The next job of the lanes, or nothing. */
  claimNext(
    asked: CallOptions & {
      readonly workerId: string
      readonly lanes: readonly Lane[]
      readonly requestId: string
    },
  ): Promise<Assignment | undefined>
  start(asked: OwnerOperation): Promise<Outcome>
  heartbeat(asked: OwnerOperation): Promise<Outcome>
  complete(asked: OwnerOperation & { readonly result?: unknown }): Promise<Outcome>
  fail(asked: OwnerOperation & { readonly error: Fault }): Promise<Outcome>
  /** By anybody who sees that the lease has expired. */
  stall(asked: Operation & { readonly actor?: string | undefined }): Promise<Outcome>
  requeueStalled(asked: Operation & { readonly actor?: string | undefined }): Promise<Outcome>
}

/** How calls are made: bounded, where they are to be. */
type Calling = <T>(what: string, bounds: CallOptions, work: (engine: Engine) => Promise<T>) => Promise<T>

export function contract(call: Calling, tenant: string): Contract {
  const say = (asked: Operation, word: Omit<Word, 'id'>): Promise<Outcome> =>
    call(`${word.command.type} of ${asked.jobId}`, asked, async (engine) => {
      const [answer] = await engine.settle([{ ...word, id: asked.jobId }])
      assert(answer !== undefined, 'every word is answered')
      if (!answer.ok) throw new Refused(answer.refusal)
      const [found] = (await engine.load([{ id: answer.jobId }])).items
      assert(found !== undefined, `job ${answer.jobId} has just been there`)
      return { job: found.job, replayed: answer.replayed }
    })
  return {
    enqueue({ kind, input, requestId, dedupeKey, priority = DEFAULT_PRIORITY, ...bounds }) {
      return call(`enqueue of ${kind.type}`, bounds, async (engine) => {
        const text = textOf(input, 'input')
        const asked = { kind: { ...kind, tenant }, actor: PRODUCER, priority, input: text, requestId, dedupeKey }
        const [answer] = await engine.enqueue([asked])
        assert(answer !== undefined, 'every request is answered')
        if (!answer.ok) throw new Refused(answer.refusal)
        return answer
      })
    },
    claimNext({ workerId, lanes, requestId, ...bounds }) {
      return call('claimNext', bounds, async (engine) => {
        const [assignment] = await engine.claim({ requestId, workerId, lanes, limit: 1 })
        return assignment
      })
    },
    start: (asked) => say(asked, { command: { ...owned(asked), type: 'start' } }),
    heartbeat: (asked) => say(asked, { command: { ...owned(asked), type: 'heartbeat' } }),
    async complete({ result, ...asked }) {
      const text = textOf(result, 'result')
      const body = text === undefined ? undefined : bodyRef('output', text)
      const bodies = text === undefined ? [] : [{ name: 'output', text }]
      return say(asked, { command: { ...owned(asked), type: 'complete', result: body }, bodies })
    },
    fail: ({ error, ...asked }) => say(asked, { command: { ...owned(asked), type: 'fail', fault: error } }),
    stall: (asked) => say(asked, { command: { ...systems(asked), type: 'stall' } }),
    requeueStalled: (asked) => say(asked, { command: { ...systems(asked), type: 'requeue' } }),
  }
}

const owned = ({ requestId, expectedRev, fence, workerId }: OwnerOperation) => ({
  actor: workerId === undefined ? 'worker' : `worker:${workerId}`,
  requestId,
  expectedRev,
  fence,
})

const systems = ({
  requestId,
  expectedRev,
  actor = 'system',
}: Operation & { readonly actor?: string | undefined }) => ({ actor, requestId, expectedRev })

function textOf(value: unknown, name: string): string | undefined {
  const json = toJson(value, name)
  if (!json.ok) throw new Invalid(name, json.violations)
  return json.text
}
