/** Schedules, as an application holds them: defined in code, looked at, paused, run, and compared with what code still has. */
import type { Duration } from '../core/duration.ts'
import { DEFAULT_TENANT, type JobFlow, type Priority, type PriorityName } from '../core/job.ts'
import type { Violation } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { CatchUp, Schedule } from '../core/schedule.ts'
import { unknownWords, wordsOf } from '../core/unknown-words.ts'
import type { ActName } from '../engine/audit.ts'
import type { JobTypes } from '../engine/job-types.ts'
import { definitionFrom } from '../engine/schedule-words.ts'
import { nextSlots, Schedules } from '../engine/schedules.ts'
import { announcementOf } from './announcement.ts'
import type { Asked } from './asked.ts'
import { bounded, type CallOptions, together } from './call.ts'
import type { JobSpec } from './define-job.ts'
import { priorityFrom } from './enqueue-options.ts'
import { Invalid, Refused } from './errors.ts'
import { inputText } from './input-text.ts'
import type { PawlParts } from './pawl-parts.ts'
import { schemaOf } from './producer.ts'

export interface ScheduleOptions extends CallOptions {
  /**
   * When: five fields (minute, hour, day, month, weekday), six with seconds first, or `@daily`. An hour that begins with `*` is
   * elapsed time; any other is a time of day, which is once a day also where clocks are changed.
   * @default none: `every` is given instead
   */
  readonly cron?: string | undefined
  /**
   * So often, in elapsed time, at the same instants for everybody: `'6h'` is at 0, 6, 12 and 18 o'clock UTC.
   * @default none: `cron` is given instead
   */
  readonly every?: Duration | undefined
  /**
   * On whose clock `cron` is, such as `Europe/Berlin`.
   * @default 'UTC'
   */
  readonly timeZone?: string | undefined
  /**
   * What becomes of times over a minute ago that nobody was there for: none is made up for, the newest is, or all are.
   * @default 'skip'
   */
  readonly catchUp?: CatchUp | undefined
  /**
   * With `catchUp: 'all'`, how many of the newest.
   * @default 100
   */
  readonly cap?: number | undefined
  /**
   * Each job runs up to this much later, the same for whoever computes it: many schedules of one hour do not begin at once.
   * @default 0
   */
  readonly jitter?: Duration | undefined
  /**
   * As for `enqueue`.
   * @default 'normal'
   */
  readonly priority?: PriorityName | Priority | undefined
  /**
   * Another queue than its type's.
   * @default the type's
   */
  readonly queue?: string | undefined
  /**
   * What lets its jobs in, where they are named by their type: their limit keys, in the order in which the type declares them, and on
   * whose account they take turns.
   * @default what the type's `limit` and `fair` make of the input, else nothing
   */
  readonly flow?: { readonly keys?: readonly string[]; readonly fair?: string | undefined } | undefined
  /**
   * Given: paused or not, whatever it was. Times that pass meanwhile are missed.
   * @default as it was; not paused where it is new
   */
  readonly paused?: boolean | undefined
}

const SCHEDULE_WORDS = wordsOf<Omit<ScheduleOptions, keyof CallOptions>>({
  cron: true,
  every: true,
  timeZone: true,
  catchUp: true,
  cap: true,
  jitter: true,
  priority: true,
  queue: true,
  flow: true,
  paused: true,
})

export interface ReconcileOptions extends Asked {
  /**
   * Remove them, instead of only naming them.
   * @default false
   */
  readonly remove?: boolean | undefined
}

export class ScheduleDesk {
  readonly #parts: PawlParts
  readonly #types: JobTypes
  /** What this process has defined: what is in code, as far as it knows. */
  readonly #defined = new Set<string>()

  /** @internal */
  constructor(parts: PawlParts, types: JobTypes) {
    this.#parts = parts
    this.#types = types
  }

  /** @internal */
  async define(
    name: string,
    { timeout, signal, ...options }: ScheduleOptions,
    job: JobSpec | string,
    input: unknown,
    source: 'code' | 'hand',
  ): Promise<Schedule> {
    const found: Violation[] = [...unknownWords(options, SCHEDULE_WORDS)]
    const priority = priorityFrom(options.priority, found)
    const type = typeof job === 'string' ? job : job.type
    const text = await inputText(type, schemaOf(job), input)
    if (text !== undefined && this.#parts.surroundings?.sealed === true)
      found.push({
        field: 'input',
        rule: 'bodies are encrypted here and schedules are not: let the handler look it up',
      })
    const flow = flowOf(options, job, input)
    const judged = definitionFrom({ ...options, name, type, priority, input: text, flow, source })
    if (!judged.ok) throw new Invalid(`schedule ${name}`, [...found, ...judged.violations])
    if (found.length > 0) throw new Invalid(`schedule ${name}`, found)
    const tenant = (typeof job === 'string' ? undefined : job.tenant) ?? this.#tenant()
    return bounded(this.#parts, `schedule ${name}`, { timeout, signal }, async (engine) => {
      const schedules = new Schedules(engine)
      const before = await schedules.find(tenant, name)
      if (source === 'code' && before?.source === 'hand')
        throw new Invalid(`schedule ${name}`, [
          { field: 'name', rule: `was made by hand: pawl schedules rm ${name}, or take another` },
        ])
      if (typeof job !== 'string') await this.#types.announce([announcementOf(job, tenant)])
      if (source === 'hand') await this.#write(tenant, { act: 'schedule.defined', by: this.#actor, about: name })
      this.#defined.add(name)
      return schedules.define(tenant, judged.definition)
    })
  }

  /** Made by hand: a deploy leaves it alone. By name, or by its definition. */
  add(name: string, options: ScheduleOptions, job: JobSpec | string, input?: unknown): Promise<Schedule> {
    return this.define(name, options, job, input, 'hand')
  }

  list(options: Asked = {}): Promise<readonly Schedule[]> {
    return bounded(this.#parts, 'schedules', options, (engine) => new Schedules(engine).all(this.#tenant(options)))
  }

  get(name: string, options: Asked = {}): Promise<Schedule | undefined> {
    return bounded(this.#parts, `schedule ${name}`, options, (engine) =>
      new Schedules(engine).find(this.#tenant(options), name),
    )
  }

  /** Its next times, whatever becomes of them. */
  async next(name: string, most = 5, options: Asked = {}): Promise<readonly Date[]> {
    const schedule = await this.#must(name, options)
    return nextSlots(schedule, this.#parts.engine.now(), most).map((at) => new Date(at))
  }

  pause(name: string, options: Asked = {}): Promise<Schedule> {
    return this.#setPaused(name, true, options)
  }

  /** It goes on with the next time after now. */
  resume(name: string, options: Asked = {}): Promise<Schedule> {
    return this.#setPaused(name, false, options)
  }

  /** No job is made from now on, but for one under way. Those that were made stay. */
  remove(name: string, options: Asked = {}): Promise<void> {
    return this.#act('schedule.removed', name, options, async (schedules, tenant) => {
      await schedules.remove(tenant, name)
    })
  }

  /** Its job, now and besides. The id of the job. */
  async run(name: string, options: Asked = {}): Promise<string> {
    const { actor = this.#actor, requestId = this.#parts.ids.requestId() } = options
    const answer = await this.#act('schedule.run', name, options, (schedules, tenant, schedule) =>
      schedules.runNow(tenant, schedule, { actor, requestId }),
    )
    if (!answer.ok) throw new Refused(answer.refusal)
    return answer.job.id
  }

  /** Names those that were defined in code, and that this process has not defined: say so when everything is defined. */
  reconcile({ remove = false, ...options }: ReconcileOptions = {}): Promise<{
    readonly stale: readonly string[]
    readonly removed: boolean
  }> {
    return together(this.#parts, 'reconcile of schedules', options, async (within) => {
      const all = await this.list(within)
      const stale = all
        .filter(({ name, source }) => source === 'code' && !this.#defined.has(name))
        .map(({ name }) => name)
      if (remove) for (const name of stale) await this.remove(name, within)
      return { stale, removed: remove }
    })
  }

  async #setPaused(name: string, paused: boolean, options: Asked): Promise<Schedule> {
    const act = paused ? 'schedule.paused' : 'schedule.resumed'
    const schedule = await this.#act(act, name, options, (schedules, tenant) =>
      schedules.setPaused(tenant, name, paused),
    )
    return schedule ?? missing(name)
  }

  /** Of one that there is; else it is not even written down. */
  #act<T>(
    act: ActName,
    name: string,
    options: Asked,
    work: (schedules: Schedules, tenant: string, schedule: Schedule) => Promise<T>,
  ): Promise<T> {
    const tenant = this.#tenant(options)
    return bounded(this.#parts, `${act} ${name}`, options, async (engine) => {
      const schedules = new Schedules(engine)
      const schedule = (await schedules.find(tenant, name)) ?? missing(name)
      await this.#write(tenant, { act, by: options.actor ?? this.#actor, about: name })
      return work(schedules, tenant, schedule)
    })
  }

  async #must(name: string, options: Asked): Promise<Schedule> {
    return (await this.get(name, options)) ?? missing(name)
  }

  /** Into the audit log, before it is done. */
  async #write(tenant: string, entry: { readonly act: ActName; readonly by: string; readonly about: string }) {
    await this.#parts.audit?.append(tenant, entry)
  }

  get #actor(): string {
    return this.#parts.actor ?? 'operator'
  }

  #tenant({ tenant }: Asked = {}): string {
    return tenant ?? this.#parts.tenant ?? DEFAULT_TENANT
  }
}

const flowOf = ({ flow }: ScheduleOptions, job: JobSpec | string, input: unknown): JobFlow | undefined =>
  flow === undefined
    ? typeof job === 'string'
      ? undefined
      : job.flow?.(input)
    : { keys: flow.keys ?? [], fair: flow.fair }

function missing(name: string): never {
  throw new Refused(refuse('NOT_FOUND', { message: `There is no schedule ${name}.` }))
}
