/**
 * Plays producer, worker and operator of one job type, word by word, through the public contract. Each has a queue of
 * its own, so that nobody else's jobs are in the way.
 */
import { expect } from 'vitest'
import type { Command } from '../../src/core/command.ts'
import { log } from '../../src/core/dialects/history.ts'
import { view } from '../../src/core/dialects/view.ts'
import type { Event } from '../../src/core/event.ts'
import type { Job, JobId } from '../../src/core/job.ts'
import type { DialectName, Policy } from '../../src/core/policy.ts'
import type { RefusalCode } from '../../src/core/refusal.ts'
import type { PolicyInput } from '../../src/core/resolve.ts'
import type { Answer, Assignment, Word } from '../../src/engine/engine.ts'
import { defineSpec, type JobSpec } from '../../src/library/define-job.ts'
import type { EnqueueOptions } from '../../src/library/enqueue-options.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import type { Body } from '../../src/store/store.ts'
import { eventually } from '../support/eventually.ts'
import type { Stage } from './stage.ts'

type Without<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

/** A command without its envelope. */
export type Words = Without<Exclude<Command, { type: 'enqueue' | 'claim' }>, 'actor' | 'requestId'> & {
  readonly requestId?: string
}

/** A document's bounds are for people's policies; a test that waits for a lease to end cannot wait as long. */
export type Shortened = Partial<Policy>

let count = 0
/** Unlike anything before. */
export const fresh = (what: string): string => {
  count += 1
  return `${what}-${count}`
}

export class Actor {
  readonly spec: JobSpec
  readonly queue: string
  readonly pawl: Pawl

  constructor(stage: Stage, policy: PolicyInput, shortened: Shortened = {}) {
    this.pawl = stage.pawl
    this.queue = fresh('queue')
    const { dedupe: _, ...rest } = policy
    const spec = defineSpec({ ...rest, type: fresh('type'), queue: this.queue })
    this.spec = { ...spec, policy: { ...spec.policy, ...shortened } }
  }

  get dialect(): DialectName {
    const { dialect } = this.spec.policy
    if (dialect === undefined) throw new Error('this type is bound to no document')
    return dialect
  }

  async enqueue(options: EnqueueOptions = {}, input: unknown = { n: 1 }): Promise<Job> {
    const { id } = await this.pawl.enqueue(this.spec, input, options)
    return this.job(id)
  }

  claim(workerId = 'w1', requestId = fresh('claim'), pawl = this.pawl): Promise<Assignment | undefined> {
    return pawl.contract.claimNext({ workerId, lanes: this.lanes, requestId })
  }

  /** Where admission applies, a scheduler lets it in. */
  async scheduled(options?: EnqueueOptions): Promise<Job> {
    const job = await this.enqueue(options)
    if (job.state === 'pending') await this.pawl.admit(job.id, { rule: 'allow-all', policyHash: 'p1' })
    return this.job(job.id)
  }

  /** The next job, as soon as there is one. */
  async claimed(workerId?: string): Promise<Assignment> {
    return eventually(`a job in ${this.queue}`, () => this.claim(workerId))
  }

  /** A new job, claimed. */
  async assigned(options?: EnqueueOptions): Promise<Assignment> {
    await this.scheduled(options)
    return this.claimed()
  }

  /** A new job, claimed and started. */
  async running(options?: EnqueueOptions): Promise<Assignment> {
    const assignment = await this.assigned(options)
    return this.begin(assignment)
  }

  async begin(assignment: Assignment): Promise<Assignment> {
    await this.must(assignment, { type: 'start', fence: assignment.fence })
    return { ...assignment, job: await this.job(assignment.job.id) }
  }

  get lanes() {
    return [1, 3, 5, 7].map((priority) => ({ tenant: this.spec.tenant ?? 'default', queue: this.queue, priority }))
  }

  async say(of: JobId | Assignment, words: Words, bodies?: readonly Body[]): Promise<Answer> {
    const id = typeof of === 'string' ? of : of.job.id
    const command = { actor: 'tester', ...words, requestId: words.requestId ?? fresh('request') } as Word['command']
    const [answer] = await this.pawl.engine.settle([{ id, command, bodies }])
    if (answer === undefined) throw new Error('every word is answered')
    return answer
  }

  async must(of: JobId | Assignment, words: Words, bodies?: readonly Body[]): Promise<Extract<Answer, { ok: true }>> {
    const answer = await this.say(of, words, bodies)
    if (!answer.ok) throw new Error(`${answer.refusal.code}: ${answer.refusal.message}`)
    return answer
  }

  /** Refused for one of these reasons, and nothing has changed. */
  async refused(of: JobId | Assignment, words: Words, ...codes: readonly RefusalCode[]): Promise<void> {
    const id = typeof of === 'string' ? of : of.job.id
    const before = await this.job(id)
    const answer = await this.say(of, words)
    expect(answer.ok ? `${words.type} was accepted` : answer.refusal.code).toBeOneOf([...codes])
    expect(await this.job(id)).toEqual(before)
  }

  async job(id: JobId): Promise<Job> {
    const job = await this.pawl.get(id)
    if (job === undefined) throw new Error(`there is no job ${id}`)
    return job
  }

  async events(id: JobId): Promise<readonly Event[]> {
    return this.pawl.events(id)
  }

  /** In the words of the document this type is bound to. */
  async view(id: JobId): Promise<Readonly<Record<string, unknown>>> {
    const { items } = await this.pawl.engine.load([{ id, bodies: ['output'] }])
    return view(await this.job(id), this.dialect, items[0]?.bodies['output'])
  }

  /** The same of its history. Of a bound job it has no entry that nobody caused. */
  async log(id: JobId): Promise<readonly Readonly<Record<string, unknown>>[]> {
    const told = log(await this.events(id), this.dialect)
    expect(told.filter(({ implied }) => implied)).toEqual([])
    return told
  }

  async until(id: JobId, state: Job['state'], withinMs?: number): Promise<Job> {
    return eventually(
      `${id} to be ${state}`,
      async () => {
        const job = await this.job(id)
        if (job.state !== state && job.endedAt !== undefined) throw new Error(`it ended ${job.state}`)
        return job.state === state && job
      },
      withinMs === undefined ? {} : { withinMs },
    )
  }
}

export const fault = (code: string, more: object = {}) => ({ code, message: `it was ${code}`, ...more })
