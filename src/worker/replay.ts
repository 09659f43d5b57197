/**
 * A handler run once more against what its job has kept, without effects: each step, wait and note is answered with what was
 * written down, and none is done. What it comes to that the log does not have, what the log has that it never comes to, or
 * another end than the job had, is a difference; the first one is told. Code between steps runs as it is: what that does
 * besides, nobody keeps it from.
 */
import { isDeepStrictEqual } from 'node:util'
import { isEnded, type Job, type Time } from '../core/job.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../system/clock.ts'
import type { Log } from '../system/log.ts'
import type { JobDefinition } from './definition.ts'
import { faultOf } from './fault.ts'
import { HandlerContext } from './handler-context.ts'
import { isOrderly, Suspension } from './interrupts.ts'
import type { Run } from './run.ts'
import { checkedInput, checkedOutput } from './schema.ts'
import { Spoken } from './spoken.ts'

export interface Difference {
  /** The step, wait or note it is about, or `end`. */
  readonly at: string
  readonly logged: string
  readonly replayed: string
}

export interface Replayed {
  readonly jobId: string
  /** The steps, waits and words the handler came to, in order. */
  readonly came: readonly string[]
  /** Where the log of a job that has not ended stops; absent where the replay came to an end of its own. */
  readonly goesOnWith: string | undefined
  readonly difference: Difference | undefined
}

export interface ReplayParts {
  readonly engine: Engine
  readonly clock: Clock
  readonly log: Log
}

export async function replay(parts: ReplayParts, definition: JobDefinition, job: Job): Promise<Replayed> {
  const [found] = (await parts.engine.load([{ id: job.id, bodies: ['input', 'output', 'step/'] }])).items
  const texts = found?.bodies ?? {}
  const kept = Object.keys(texts).filter((name) => name.startsWith(STEP))
  const logged = new Set([
    ...kept.map((name) => name.slice(STEP.length)),
    ...(job.wait === undefined ? [] : [job.wait.memo]),
  ])
  const rerun = new Rerun(parts, job, logged, texts['input'])
  const end = await rerun.run(definition)
  const missed = [...logged].find((key) => !rerun.keys.includes(key))
  const difference =
    rerun.difference ??
    (missed === undefined || rerun.goesOnWith !== undefined ? undefined : neverCameTo(missed)) ??
    (isEnded(job) && end !== undefined ? otherEnd(job, end, texts['output']) : undefined)
  return { jobId: job.id, came: rerun.keys, goesOnWith: rerun.goesOnWith, difference }
}

const STEP = 'step/'

const neverCameTo = (key: string): Difference => ({ at: key, logged: 'done', replayed: 'never came to it' })

/** How a run of the handler ended by itself. Where it chose a wait or another word of its own there is no end to compare. */
type End =
  | { readonly kind: 'returned'; readonly text: string | undefined }
  | { readonly kind: 'threw'; readonly code: string }

function otherEnd(job: Job, end: End, output: string | undefined): Difference | undefined {
  const replayed = end.kind === 'threw' ? `failed with ${end.code}` : `returned ${end.text ?? 'nothing'}`
  const at = 'end'
  if (job.result !== undefined) {
    if (job.result.ptr !== undefined) return end.kind === 'returned' ? undefined : { at, logged: job.state, replayed }
    const logged = `returned ${output === undefined || output === '' ? 'nothing' : output}`
    return end.kind === 'returned' && same(end.text, output) ? undefined : { at, logged, replayed }
  }
  const code = job.error?.code
  if (code === undefined || (end.kind === 'threw' && end.code === code)) return undefined
  return { at, logged: `${job.state} with ${code}`, replayed }
}

const same = (a: string | undefined, b: string | undefined): boolean =>
  isDeepStrictEqual(
    a === undefined || a === '' ? undefined : JSON.parse(a),
    b === undefined || b === '' ? undefined : JSON.parse(b),
  )

/**
 * The run that a replayed handler believes in. It has let go from the first thing on that the log does not have.
 * Invariant: nothing is said to the store, and no step is worked on.
 */
class Rerun implements Run {
  readonly assignment: Run['assignment']
  readonly desk: Run['desk']
  readonly startedMs: number
  readonly signal = new AbortController().signal
  readonly tidings = { progress: () => {}, count: () => {} }
  readonly spoken = new Spoken()
  readonly keys: string[] = []
  difference: Difference | undefined
  goesOnWith: string | undefined
  #letGo = false
  #doomed: { readonly error: unknown } | undefined
  readonly #job: Job
  readonly #logged: ReadonlySet<string>

  constructor({ engine, clock, log }: ReplayParts, job: Job, logged: ReadonlySet<string>, input: string | undefined) {
    this.#job = job
    this.#logged = logged
    // The run after the last one, which has yet to succeed: what all before it have kept is its past.
    const next = { ...job, attempt: job.attempt + 1, phase: 'run' } as Job
    this.assignment = { job: next, fence: 'replay', leaseExpiresAt: FAR, input, inputLater: false }
    this.desk = { engine, clock, log, actor: 'replay', spawn: undefined }
    this.startedMs = clock.monotonicMs()
  }

  get chosen(): boolean {
    return this.#letGo
  }

  /** Runs the handler; undefined where it did not end by itself. */
  async run(definition: JobDefinition): Promise<End | undefined> {
    try {
      const input = await checkedInput(definition, this.assignment.input)
      if (!input.ok) throw input.error
      const answer = await definition.run(input.value, new HandlerContext(this))
      await this.spoken.heardOut((error) => this.doom(error))
      if (this.#doomed !== undefined) throw this.#doomed.error
      if (this.#letGo) return undefined
      const output = await checkedOutput(definition, answer)
      if (!output.ok) throw output.error
      return { kind: 'returned', text: output.value }
    } catch (error) {
      if (this.#letGo || isOrderly(error)) return undefined
      const { fault } = faultOf(error, { attempt: this.assignment.job.attempt, now: this.desk.engine.now() })
      return { kind: 'threw', code: fault.code }
    }
  }

  came(key: string): void {
    if (this.#letGo) throw new Suspension('The replay is over.')
    this.keys.push(key)
    if (this.#logged.has(key)) return
    if (isEnded(this.#job)) this.difference = { at: key, logged: 'nothing of it', replayed: 'came to it' }
    else this.goesOnWith = key
    this.#halt()
  }

  guard(): void {
    this.#halt()
  }

  /** Artifacts and checkpoints: they were written when they were said. */
  async say(): Promise<void> {}

  choose(): void {
    this.#letGo = true
  }

  doom(error: unknown): void {
    this.#doomed ??= { error }
  }

  /** The value that `ctx.complete` stored cannot be told from the job's result: the replay ends here. */
  complete(): Promise<never> {
    this.#halt()
  }

  #halt(): never {
    this.#letGo = true
    throw new Suspension('The replay ends here. Let this error pass.')
  }
}

const FAR: Time = Number.MAX_SAFE_INTEGER
