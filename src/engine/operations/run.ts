/** Runs an operation, from wherever an earlier attempt has come to. */
import { foreseen } from '../../core/foreseen.ts'
import type { Job } from '../../core/job.ts'
import { type OperationReport, type OperationSpec, songOf } from '../../core/operation.ts'
import { PermanentError } from '../../core/thrown.ts'
import type { Engine } from '../engine.ts'
import { type ActParts, act } from './act.ts'
import { acted, BEGINNING, type Course, intending, looked, type Outcome, withCanaries } from './course.ts'
import { type Walk, walkOf } from './walk.ts'

export interface RunParts extends ActParts {
  readonly engine: Pick<Engine, 'find' | 'load' | 'events' | 'settings' | 'settle' | 'enqueue' | 'now' | 'whatHolds'>
}

/** What it needs of the context that a handler has. */
export interface OperationContext {
  readonly job: Job
  readonly signal: AbortSignal
  checkpoint<T = unknown>(): Promise<T | undefined>
  checkpoint(value: unknown): Promise<void>
  progress(progress: { readonly done: number; readonly total?: number | undefined; readonly message?: string }): void
  snooze(delay: number): never
}

/** Jobs looked at in one go, and acted on between two checkpoints. */
const LOOKED_AT = 500
const ACTED_ON = 100
/** Pauses between two looks at the canaries: a quarter of the time that they have had, between these. */
const PAUSE_LEAST_MS = 1_000
const PAUSE_MOST_MS = 30_000

export async function runOperation(
  parts: RunParts,
  spec: OperationSpec,
  ctx: OperationContext,
): Promise<OperationReport> {
  return new Running(parts, spec, ctx).run()
}

/** One attempt. `#course` is what the last checkpoint has, but for a step under way. */
class Running {
  readonly #parts: RunParts
  readonly #spec: OperationSpec
  readonly #ctx: OperationContext
  #course: Course = BEGINNING

  constructor(parts: RunParts, spec: OperationSpec, ctx: OperationContext) {
    this.#parts = parts
    this.#spec = spec
    this.#ctx = ctx
  }

  async run(): Promise<OperationReport> {
    const { job } = this.#ctx
    this.#course = (await this.#ctx.checkpoint<Course>()) ?? BEGINNING
    const walk = await walkOf(this.#parts.engine, job.spec.kind.tenant, this.#spec, job.spec.createdAt)
    const outcomeOf = (each: Job) => foreseen(this.#spec, each, this.#parts.engine.now())
    while (this.#course.phase === 'looking')
      await this.#keep(looked(this.#course, await this.#page(walk, LOOKED_AT), outcomeOf))
    if (this.#spec.dryRun) return this.#course.report
    const { canary } = this.#spec
    if (canary !== undefined) await this.#sendAhead(walk, canary.first)
    if (canary !== undefined) await this.#listen(canary.withinMs)
    while (this.#hasMore) await this.#act(walk, ACTED_ON)
    return this.#course.report
  }

  get #hasMore(): boolean {
    return !this.#course.isThrough || this.#course.intent.length > 0
  }

  /** The first so many that could be redriven. */
  async #sendAhead(walk: Walk, first: number): Promise<void> {
    if (this.#course.canariesSince !== undefined) return
    while (this.#course.canaries.length < first && this.#hasMore) {
      const wanted = Math.min(ACTED_ON, first - this.#course.canaries.length)
      await this.#act(walk, wanted, (course, outcomes) => withCanaries(course, outcomes))
    }
    await this.#keep({ ...this.#course, canariesSince: this.#parts.engine.now() })
  }

  /** Returns when all canaries have succeeded. Until then the operation lets go of its worker. */
  async #listen(withinMs: number): Promise<void> {
    const { canaries, canariesSince = 0, report } = this.#course
    const { items } = await this.#parts.engine.load(canaries.map((id) => ({ id })))
    const song = songOf(
      canaries,
      items.map((item) => item?.job),
    )
    const waitedMs = this.#parts.engine.now() - canariesSince
    const rest = `${report.matched - report.done - report.refused} others stay as they are`
    if (song.sung && song.silent.length > 0)
      throw new PermanentError(
        `${song.silent.length} of ${canaries.length} canaries did not succeed, ${song.silent[0]} first; ${rest}.`,
        { code: 'CANARY_FAILED' },
      )
    if (song.sung) return
    if (waitedMs >= withinMs)
      throw new PermanentError(`The canaries have not ended within ${withinMs} ms; ${rest}.`, { code: 'CANARY_LATE' })
    this.#tell('waits for its canaries')
    this.#ctx.snooze(Math.min(PAUSE_MOST_MS, Math.max(PAUSE_LEAST_MS, Math.ceil(waitedMs / 4)), withinMs - waitedMs))
  }

  /** One page: what is intended is written down, done, and written down as done. */
  async #act(
    walk: Walk,
    most: number,
    noted: (course: Course, outcomes: readonly Outcome[]) => Course = (course) => course,
  ): Promise<void> {
    if (this.#course.intent.length === 0) await this.#keep(intending(this.#course, await this.#page(walk, most)))
    const { intent } = this.#course
    if (intent.length === 0) return
    const outcomes = await act(this.#parts, this.#spec, intent, `operation/${this.#ctx.job.id}`)
    await this.#keep(noted(acted(this.#course, outcomes), outcomes))
  }

  async #page(walk: Walk, most: number) {
    this.#ctx.signal.throwIfAborted()
    return walk.page(this.#course.cursor, most)
  }

  async #keep(course: Course): Promise<void> {
    await this.#ctx.checkpoint(course)
    this.#course = course
    this.#tell(course.phase)
  }

  #tell(message: string): void {
    const { report, phase } = this.#course
    const done = report.done + report.refused
    this.#ctx.progress(phase === 'looking' ? { done: 0, message } : { done, total: report.matched, message })
  }
}
