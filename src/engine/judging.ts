/**
 * What one scheduler has under way: jobs that were handed out to it, are being judged, and are committed as their words come,
 * while those of others are still awaited. A tenant has no more than half of the places, so that one whose jobs take long, or are many, leaves
 * room for the others; and since `due` hands out what has waited longest, others get a turn whenever one tenant fills it.
 */
import { type Addressed, addressed, type Judged, sentenceOf, UNTOLD } from '../core/admission.ts'
import { assert } from '../core/assert.ts'
import { decide } from '../core/decide.ts'
import type { Job, JobId, Time } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import { isRetry } from '../core/successor.ts'
import { judgeAt } from '../core/timers.ts'
import { statesBefore } from '../core/transitions.ts'
import { HANDED_OUT_MS } from '../store/handed-out.ts'
import type { DueAnswer } from '../store/store.ts'
import type { Judge, WhoIsThere } from './admission.ts'
import type { ExecutorParts } from './execute.ts'
import { JobTypes } from './job-types.ts'
import { type Segment, segmentOf } from './segment.ts'
import { Turns } from './tenant-turns.ts'
import { rollCall } from './workers.ts'

export interface JudgingParts extends Pick<ExecutorParts, 'store' | 'clock' | 'timers' | 'log'> {
  handOut(limit: number): Promise<DueAnswer>
  /** Answers with how many have moved. */
  commit(segments: readonly Segment[]): Promise<number>
}

/** `underWay`: handed out, and without a word yet. */
export interface Round {
  readonly due: number
  readonly moved: number
  readonly underWay: number
}

const UNDER_WAY_MOST = 400
const OF_A_TENANT_MOST = UNDER_WAY_MOST / 2
/** What was judged waits no longer than that for those beside it. */
const PATIENCE_MS = 100
const FORGOTTEN_MS = 60_000
const FORGOTTEN_PAGE = 200
const JUDGED_FROM = statesBefore('admit')
const SCHEDULER = 'system:scheduler'

export class Judging {
  readonly #parts: JudgingParts
  /** What topics come to that jobs are sent to. */
  readonly #types: JobTypes
  readonly #turns: Turns
  /** Exactly the jobs that are being judged, by tenant. */
  readonly #underWay = new Map<string, Map<JobId, Promise<void>>>()
  #ready: Segment[] = []

  constructor(parts: JudgingParts) {
    this.#parts = parts
    const { store, clock } = parts
    this.#types = new JobTypes({ settings: (operations) => store.settings(operations), now: () => clock.now() })
    this.#turns = new Turns(store)
  }

  /** Begins with up to so many, and commits what has its word once all have, or after a moment. */
  async round(judge: Judge, limit: number): Promise<Round> {
    const { clock } = this.#parts
    const room = Math.min(limit, UNDER_WAY_MOST - this.#size)
    if (room > 0) {
      const { now, jobs } = await this.#parts.handOut(room)
      const whoIsThere = rollCall(this.#parts)
      for (const job of jobs) if (this.#hasRoomFor(job)) this.#begin(judge, job, now, whoIsThere)
      // Others may stand behind all that one tenant has.
      const others = jobs.length < room ? [] : await this.#turns.after(jobs, now)
      for (const job of others) if (this.#hasRoomFor(job)) this.#begin(judge, job, clock.now(), whoIsThere)
      return { due: jobs.length, ...(await this.#settled()) }
    }
    return { due: 0, ...(await this.#settled()) }
  }

  /** One page of what nobody hands out, though it has waited for its word for long. */
  async forgotten(judge: Judge, cursor: string | undefined): Promise<{ readonly cursor: string | undefined }> {
    const page = await this.#parts.store.find({ states: JUDGED_FROM, order: 'oldest', limit: FORGOTTEN_PAGE, cursor })
    const { now } = page
    const whoIsThere = rollCall(this.#parts)
    const isForgotten = (job: Job) => (judgeAt(job) ?? now) <= now - FORGOTTEN_MS && !this.#has(job)
    // Nobody else is handed them, so they take what time they need.
    const begun = page.jobs.filter(isForgotten).map((job) => this.#begin(judge, job, now, whoIsThere, UNHURRIED))
    await Promise.all(begun)
    await this.#commit()
    return { cursor: page.cursor }
  }

  get #size(): number {
    let size = 0
    for (const jobs of this.#underWay.values()) size += jobs.size
    return size
  }

  #has({ id, spec }: Job): boolean {
    return this.#underWay.get(spec.kind.tenant)?.has(id) === true
  }

  /** What has none is handed out again. */
  #hasRoomFor(job: Job): boolean {
    const size = this.#underWay.get(job.spec.kind.tenant)?.size ?? 0
    return size < OF_A_TENANT_MOST && !this.#has(job)
  }

  #begin(judge: Judge, job: Job, from: Time, whoIsThere: WhoIsThere, forMs = HANDED_OUT_MS): Promise<void> {
    const { tenant } = job.spec.kind
    const mine = this.#underWay.get(tenant) ?? new Map<JobId, Promise<void>>()
    this.#underWay.set(tenant, mine)
    const leftMs = () => from + forMs - this.#parts.clock.now()
    const judged = this.#judged(judge, job, from, whoIsThere, leftMs).then((segment) => {
      if (segment !== undefined) this.#ready.push(segment)
      mine.delete(job.id)
      if (mine.size === 0) this.#underWay.delete(tenant)
    })
    mine.set(job.id, judged)
    return judged
  }

  async #settled(): Promise<Pick<Round, 'moved' | 'underWay'>> {
    const all = Promise.all([...this.#underWay.values()].flatMap((jobs) => [...jobs.values()]))
    const enough = new AbortController()
    await Promise.race([all, this.#parts.timers.sleep(PATIENCE_MS, enough.signal)])
    enough.abort()
    const moved = await this.#commit()
    return { moved, underWay: this.#size }
  }

  async #commit(): Promise<number> {
    const ready = this.#ready
    this.#ready = []
    return this.#parts.commit(ready)
  }

  /** Undefined: it waits, and comes again. */
  async #judged(
    judge: Judge,
    job: Job,
    now: Time,
    whoIsThere: WhoIsThere,
    leftMs: () => number,
  ): Promise<Segment | undefined> {
    try {
      const said = await judge.judge(job, whoIsThere, leftMs)
      if (said === undefined) {
        this.#turns.skip(job.spec.kind.tenant, this.#parts.clock.now())
        return undefined
      }
      const word = await this.#addressed(job, said)
      const enqueuedBy = word.approval?.fourEyes === true ? await this.#enqueuedBy(job) : undefined
      const asked = { actor: SCHEDULER, requestId: `judge/${job.rev}`, expectedRev: job.rev }
      return segmentOf(job, decide(job, { ...sentenceOf(job, word, now, enqueuedBy), ...asked }, now))
    } catch (error) {
      this.#parts.log.error('a job could not be judged', { job_id: job.id, reason: reasonOf(error) })
      return undefined
    }
  }

  async #addressed(job: Job, judged: Judged): Promise<Addressed> {
    const to = judged.redirect?.to
    const announced = to === undefined ? undefined : await this.#types.kind(job.spec.kind.tenant, to)
    return addressed(judged, job, announced)
  }

  /**
   * Whose word the first of its events is; of a retry that is a new job, whose the first of them was, however often it was tried. Where nobody
   * can say, the job waits: anybody might approve what they asked for.
   */
  async #enqueuedBy(job: Job): Promise<string> {
    const { store } = this.#parts
    for (let asked: Job | undefined = job; asked !== undefined; ) {
      const { events } = await store.events({ by: 'job', id: asked.id, afterRev: 0, limit: 1 })
      const [first] = events
      assert(first?.rev === 1, 'who enqueued a job is known')
      if (!isRetry(first)) return first.actor
      const id: JobId | undefined = asked.spec.parentId
      asked = id === undefined ? undefined : (await store.load([{ id }])).items[0]?.job
    }
    // The job that it retries was removed meanwhile.
    return UNTOLD
  }
}

const UNHURRIED = Number.POSITIVE_INFINITY
