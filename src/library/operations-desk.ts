/** Operations, as an application holds them: asked for, looked at, waited for, cancelled. */
import { DEFAULT_TENANT, type Job, type JobId, type TerminalState } from '../core/job.ts'
import { toJson } from '../core/json.ts'
import type { OperationReport, OperationStatus } from '../core/operation.ts'
import type { Violation } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { Engine } from '../engine/engine.ts'
import { type OperationPage, Operations } from '../engine/operations/operations.ts'
import { type OperationInput, operationFrom } from '../engine/operations/words.ts'
import type { Asked, ReadOptions } from './asked.ts'
import { bounded } from './call.ts'
import { ENDINGS, Invalid, Refused, WaitTimedOut } from './errors.ts'
import { OperationsRunner } from './operations-runner.ts'
import type { PawlParts } from './pawl-parts.ts'
import { mustFind } from './reads.ts'

export interface OperationOptions extends OperationInput, Asked {
  /**
   * Of a redrive: an input in place of each one's own. Each job found has a new job, whose parent it is.
   * @default none: jobs are reopened with the input they have
   */
  readonly input?: unknown
  /**
   * Of a redrive: a JSON merge patch (RFC 7396) of each one's input; `null` takes a member out. As with `input`, new jobs.
   * @default none
   */
  readonly patch?: unknown
}

export interface OperationListOptions extends ReadOptions {
  /**
   * How many, newest first.
   * @default 50
   */
  readonly limit?: number | undefined
  /**
   * Where an earlier page ended.
   * @default the newest
   */
  readonly cursor?: string | undefined
}

/** The record once the job has ended. */
type Ended = (job: Job, signal: AbortSignal | undefined) => Promise<Job>

const LIMIT = 50

export class OperationDesk {
  readonly #parts: PawlParts
  readonly #ended: Ended
  readonly #runner: OperationsRunner

  /** @internal */
  constructor(parts: PawlParts, ended: Ended) {
    this.#parts = parts
    this.#ended = ended
    this.#runner = new OperationsRunner(parts)
  }

  /**
   * Where the store is at hand, operations of this tenant are run here from now on; undefined: everybody's.
   * @internal
   */
  serve(tenant: string | undefined): void {
    this.#runner.serve(tenant)
  }

  /**
   * What is run here is handed back.
   * @internal
   */
  async close(): Promise<void> {
    await this.#runner[Symbol.asyncDispose]()
  }

  /** Asks for one, which this process and others with a worker or a gateway on the store run from now on. */
  async start(options: OperationOptions): Promise<OperationStatus> {
    const { actor = this.#actor, requestId = this.#parts.ids.requestId(), timeout, signal } = options
    const tenant = this.#tenant(options)
    const { input, patch, found } = this.#edit(options)
    const judged = operationFrom(options, { by: actor, queues: undefined, input, patch })
    if (!judged.ok || found.length > 0)
      throw new Invalid('operation', [...found, ...(judged.ok ? [] : judged.violations)])
    const { spec } = judged
    return bounded(this.#own, `${spec.action} of many`, { timeout, signal }, async (engine) => {
      const act = {
        act: 'operation.started',
        by: actor,
        about: `${spec.action} ${spec.query}`,
        reason: spec.reason,
      } as const
      if (!spec.dryRun) await this.#parts.audit?.append(tenant, act)
      const operations = new Operations(engine)
      const answer = await operations.start(tenant, spec, requestId)
      if (!answer.ok) throw new Refused(answer.refusal)
      this.serve(tenant)
      return (await operations.find(tenant, answer.job.id)) ?? missing(answer.job.id)
    })
  }

  /** Newest first. */
  list({ limit = LIMIT, cursor, ...options }: OperationListOptions = {}): Promise<OperationPage> {
    const tenant = this.#tenant(options)
    return bounded(this.#own, 'operations', options, (engine) => new Operations(engine).page(tenant, cursor, limit))
  }

  get(id: JobId, options: ReadOptions = {}): Promise<OperationStatus | undefined> {
    const tenant = this.#tenant(options)
    return bounded(this.#own, `operation ${id}`, options, (engine) => new Operations(engine).find(tenant, id))
  }

  /** Waits for its end. Throws as `result` of any job does: JobCancelled, or JobFailed with the code `CANARY_FAILED`. */
  result(id: JobId, options: ReadOptions = {}): Promise<OperationReport> {
    const tenant = this.#tenant(options)
    const late = (waitedMs: number) => new WaitTimedOut(id, waitedMs)
    const waited = async (engine: Engine, signal: AbortSignal | undefined) => {
      const operations = new Operations(engine)
      if ((await operations.find(tenant, id)) === undefined) missing(id)
      this.serve(tenant)
      const job = await this.#ended(await mustFind(engine, { id, tenant }), signal)
      const Bad = ENDINGS[job.state as TerminalState]
      if (Bad !== undefined) throw new Bad(job)
      return ((await operations.find(tenant, id)) ?? missing(id)).report
    }
    return bounded(this.#own, `result of ${id}`, options, waited, late)
  }

  /** It stops before the next page. What was done to jobs stays done. */
  cancel(id: JobId, options: Asked = {}): Promise<void> {
    const tenant = this.#tenant(options)
    const { actor = this.#actor, requestId = this.#parts.ids.requestId() } = options
    return bounded(this.#own, `cancel of ${id}`, options, async (engine) => {
      const operations = new Operations(engine)
      if ((await operations.find(tenant, id)) === undefined) missing(id)
      await this.#parts.audit?.append(tenant, { act: 'operation.cancelled', by: actor, about: id })
      const answer = await operations.cancel(tenant, id, actor, requestId)
      if (!answer.ok) throw new Refused(answer.refusal)
    })
  }

  #edit({ input, patch }: OperationOptions) {
    const found: Violation[] = []
    const text = (field: 'input' | 'patch', value: unknown): string | undefined => {
      const json = toJson(value, field)
      if (!json.ok) found.push(...json.violations)
      else if (json.text !== undefined && this.#parts.surroundings?.sealed === true)
        found.push({ field, rule: 'bodies are encrypted here and operations are not: enqueue it anew' })
      return json.ok ? json.text : undefined
    }
    return { input: text('input', input), patch: text('patch', patch), found }
  }

  /** An operation's own words are kept as they are: a gateway without keys runs them, too. */
  get #own() {
    const { engine, stored = engine, timers } = this.#parts
    return { engine: stored, timers }
  }

  get #actor(): string {
    return this.#parts.actor ?? 'operator'
  }

  #tenant({ tenant }: ReadOptions): string {
    return tenant ?? this.#parts.tenant ?? DEFAULT_TENANT
  }
}

function missing(id: JobId): never {
  throw new Refused(refuse('NOT_FOUND', { jobId: id, message: `There is no operation ${id}.` }))
}
