/**
 * Document 001 in its own names: `DistributedJobQueue` with its eight operations, over jobs of one type that is bound to it.
 * What the document asks of every implementation is asked here: a `request_id`, `cas.expected_rev` compared exactly, an actor
 * who is the current owner. Who owns a job is, as everywhere, decided by the fence of its lease; a queue remembers those of
 * its own claims, and `lease.fence` of a claimed record is for whoever works on elsewhere.
 */
import type { ContractStatus } from '../core/contract/rules.ts'
import type { Marks } from '../core/dialects/chain.ts'
import { log } from '../core/dialects/history.ts'
import { view } from '../core/dialects/view.ts'
import { EVERY_PRIORITY, type Job } from '../core/job.ts'
import { refuse } from '../core/refuse.ts'
import { defineSpec, type SpecOptions } from './define-job.ts'
import { Refused } from './errors.ts'
import type { Pawl } from './pawl.ts'

export type JobStatus = ContractStatus

export interface JobOwner {
  readonly worker_id: string
}

export interface JobLease {
  readonly expires_at: string
  /** The proof of ownership; only in the answer to the claim. */
  readonly fence?: string
}

export interface JobError {
  readonly message: string
  readonly code?: string
}

export interface JobRecord {
  readonly job_id: string
  readonly contract_version: 1
  readonly dedupe_key?: string
  readonly status: JobStatus
  readonly attempt: number
  readonly rev: number
  readonly owner?: JobOwner
  readonly lease?: JobLease
  /** Present when succeeded: the result itself, or where it can be read, if it is large. */
  readonly result?: unknown
  /** Present when failed. */
  readonly error?: JobError
}

export interface JobEvent extends Marks {
  readonly job_id: string
  readonly type: string
  readonly from_status?: JobStatus
  readonly to_status: JobStatus
  readonly at: string
  readonly actor: string
  readonly request_id?: string
}

/** Compare and swap: the record must be as it is said to be. */
export interface Cas {
  readonly expected_rev: number
  readonly expected_status?: JobStatus
  readonly expected_owner?: string
}

export interface JobTransition {
  readonly job_id: string
  readonly request_id: string
  readonly cas: Cas
}

export interface OwnedTransition extends JobTransition {
  /** The worker that owns the job. */
  readonly actor: string
  /**
   * Of the claim's `lease`, where it was made by somebody else than this queue.
   * @default that of this queue's own claim
   */
  readonly fence?: string
}

export interface SystemTransition extends JobTransition {
  readonly actor?: string
}

export interface DistributedJobQueue {
  enqueue(asked: {
    readonly request_id: string
    readonly dedupe_key?: string
    readonly payload?: unknown
  }): Promise<JobRecord>
  /** The next job that is queued, or stalled and nobody's; undefined where there is none. */
  claimNext(asked: { readonly request_id: string; readonly worker_id: string }): Promise<JobRecord | undefined>
  start(asked: OwnedTransition): Promise<JobRecord>
  heartbeat(asked: OwnedTransition): Promise<JobRecord>
  complete(asked: OwnedTransition & { readonly result?: unknown }): Promise<JobRecord>
  fail(asked: OwnedTransition & { readonly error: JobError }): Promise<JobRecord>
  stall(asked: SystemTransition): Promise<JobRecord>
  requeueStalled(asked: SystemTransition): Promise<JobRecord>
}

/** What the document leaves to its first plan: looking at it. */
export interface JobReads {
  /** The record as it is now. */
  get(jobId: string): Promise<JobRecord | undefined>
  /** Its audit log. */
  events(jobId: string): Promise<readonly JobEvent[]>
}

export type QueueOptions = Omit<SpecOptions<string, unknown, unknown, unknown>, 'dialect' | 'tenant'>

export function distributedJobQueue(pawl: Pawl, options: QueueOptions): DistributedJobQueue & JobReads {
  return new BoundQueue(pawl, options)
}

interface Claim {
  readonly fence: string
  readonly workerId: string
}

/** Claims are forgotten with the word that ends them; those of jobs that others ended, when so many more have come. */
const CLAIMS_MOST = 10_000

class BoundQueue implements DistributedJobQueue, JobReads {
  readonly #pawl: Pawl
  readonly #spec: ReturnType<typeof defineSpec>
  readonly #claims = new Map<string, Claim>()

  constructor(pawl: Pawl, options: QueueOptions) {
    this.#pawl = pawl
    this.#spec = defineSpec({ ...options, dialect: '001' })
  }

  async enqueue({ request_id, dedupe_key, payload }: Parameters<DistributedJobQueue['enqueue']>[0]) {
    const { type, queue, policy } = this.#spec
    const { job } = await this.#pawl.contract.enqueue({
      kind: { type, queue, policy },
      requestId: request_id,
      dedupeKey: dedupe_key,
      input: payload,
    })
    return this.#record(job)
  }

  async claimNext({ request_id, worker_id }: Parameters<DistributedJobQueue['claimNext']>[0]) {
    const { tenant } = this.#pawl
    const lanes = EVERY_PRIORITY.map((priority) => ({ tenant, queue: this.#spec.queue, priority }))
    const claimed = await this.#pawl.contract.claimNext({ requestId: request_id, workerId: worker_id, lanes })
    if (claimed === undefined) return undefined
    const { job, fence } = claimed
    if (this.#claims.size >= CLAIMS_MOST) this.#claims.delete(this.#claims.keys().next().value as string)
    this.#claims.set(job.id, { fence, workerId: worker_id })
    const record = await this.#record(job)
    return record.lease === undefined ? record : { ...record, lease: { ...record.lease, fence } }
  }

  async start(asked: OwnedTransition) {
    return this.#record((await this.#pawl.contract.start(await this.#owned('start', asked))).job)
  }

  async heartbeat(asked: OwnedTransition) {
    return this.#record((await this.#pawl.contract.heartbeat(await this.#owned('heartbeat', asked))).job)
  }

  async complete({ result, ...asked }: OwnedTransition & { readonly result?: unknown }) {
    const { job } = await this.#pawl.contract.complete({ ...(await this.#owned('complete', asked)), result })
    return this.#record(job)
  }

  async fail({ error, ...asked }: OwnedTransition & { readonly error: JobError }) {
    const fault = { code: 'unspecified', ...error }
    const { job } = await this.#pawl.contract.fail({ ...(await this.#owned('fail', asked)), error: fault })
    return this.#record(job)
  }

  async stall(asked: SystemTransition) {
    return this.#record((await this.#pawl.contract.stall(await this.#systems('stall', asked))).job)
  }

  async requeueStalled(asked: SystemTransition) {
    return this.#record((await this.#pawl.contract.requeueStalled(await this.#systems('requeue', asked))).job)
  }

  async get(jobId: string) {
    const job = await this.#pawl.get(jobId)
    return job && this.#record(job)
  }

  async events(jobId: string) {
    return log(await this.#pawl.events(jobId), '001').map((entry) => as001<JobEvent>(entry))
  }

  /** What a record says is the document's; what it says it with is ours to load. */
  async #record(job: Job): Promise<JobRecord> {
    const isKept = job.result?.body !== undefined && job.result.body.size > 0
    const [loaded] = isKept ? (await this.#pawl.engine.load([{ id: job.id, bodies: ['output'] }])).items : []
    return as001<JobRecord>(view(job, '001', loaded?.bodies['output']))
  }

  async #owned(command: 'start' | 'heartbeat' | 'complete' | 'fail', asked: OwnedTransition) {
    const { job_id, request_id, cas, actor, fence } = asked
    const claim = this.#claims.get(job_id)
    await this.#compare(command, asked)
    // Somebody else's word is about a fence that is not theirs: refused like any other that is not the current one.
    const proof = fence ?? (claim?.workerId === actor ? claim.fence : NOBODYS)
    return { jobId: job_id, requestId: request_id, expectedRev: cas?.expected_rev, fence: proof, workerId: actor }
  }

  async #systems(command: 'stall' | 'requeue', asked: SystemTransition) {
    const { job_id, request_id, cas, actor = 'system' } = asked
    await this.#compare(command, asked)
    return { jobId: job_id, requestId: request_id, expectedRev: cas?.expected_rev, actor }
  }

  /** The revision is compared where it is written; status and owner are those of that very revision. */
  async #compare(command: 'start' | 'heartbeat' | 'complete' | 'fail' | 'stall' | 'requeue', asked: JobTransition) {
    // Whoever leaves it out, in JavaScript, is told by core that it is demanded.
    const { expected_rev, expected_status, expected_owner }: Partial<Cas> = asked.cas ?? {}
    if (expected_status === undefined && expected_owner === undefined) return
    const job = await this.#pawl.get(asked.job_id)
    if (job === undefined || job.rev !== expected_rev) return
    const record = as001<JobRecord>(view(job, '001'))
    const differs =
      (expected_status !== undefined && record.status !== expected_status) ||
      (expected_owner !== undefined && record.owner?.worker_id !== expected_owner)
    if (!differs) return
    const owner = record.owner === undefined ? 'nobody' : record.owner.worker_id
    const message = `Job ${job.id} is ${record.status} at rev ${job.rev}, and its owner is ${owner}.`
    throw new Refused(refuse('REV_CONFLICT', { command, job, message }))
  }
}

/** What the view of 001 tells has the document's own fields: `validateJob` is held against it. */
const as001 = <T>(fields: object): T => fields as T

const NOBODYS = '0.0.0000000000000000'
