import type { Annotation, Event } from '../../../src/core/event.ts'
import { derive, evolve } from '../../../src/core/evolve.ts'
import { recordBreaches, stepBreaches } from '../../../src/core/invariants.ts'
import type { Job } from '../../../src/core/job.ts'
import { holds, same } from '../../../src/store/conformance/holds.ts'
import type { Body } from '../../../src/store/store.ts'
import type { Words } from './words.ts'

/** What the model knows of one job: core's record, and everything a store should have beside it. */
export class Slot {
  readonly queue: string
  job: Job | undefined
  /** The record before the last change: what a late-comer still believes in. */
  previous: Job | undefined
  events: Event[] = []
  bodies = new Map<string, string>()
  annotations = new Map<string, Annotation>()
  /** Commands that were accepted, with the revision they led to. */
  accepted: { readonly words: Words; readonly rev: number }[] = []
  fences: string[] = []

  constructor(queue: string) {
    this.queue = queue
  }

  /** A decision of core's has been written. */
  learn(job: Job, events: readonly Event[], bodies: readonly Body[]): void {
    let before = this.job
    for (const event of events) {
      const after = evolve(before, event)
      const breaches = [...stepBreaches(before, event, after), ...recordBreaches(after)]
      same(breaches, [], `no invariant is broken by ${event.type}`)
      before = after
    }
    same(before, job, 'a decision’s record is the fold of its events')
    this.previous = this.job
    this.job = job
    this.events.push(...events)
    for (const { name, text } of bodies) this.bodies.set(name, text)
    if (events.some(({ type }) => type === 'stripped')) this.bodies.clear()
    if (job.lease !== undefined && this.fences.at(-1) !== job.lease.fence) this.fences.push(job.lease.fence)
  }

  note(annotation: Annotation): void {
    const key = `${annotation.generation} ${annotation.attempt} ${annotation.command}`
    if (!this.annotations.has(key)) this.annotations.set(key, annotation)
  }

  compacted(event: Event, replaces: readonly number[]): void {
    this.events = [...this.events.filter(({ rev }) => !replaces.includes(rev)), event].sort((a, b) => a.rev - b.rev)
    // A request whose events are gone is not remembered any more.
    this.accepted = this.accepted.filter(({ words }) =>
      this.events.some(({ requestId }) => requestId === words.command.requestId),
    )
    same(derive(this.events), this.job, 'a compacted log folds to the same record')
  }

  /** As if it had never been. */
  forget(): void {
    this.job = undefined
    this.previous = undefined
    this.events = []
    this.bodies = new Map()
    this.annotations = new Map()
    this.accepted = []
    this.fences = []
  }

  /** The store's log against ours. Heartbeats may be kept as one. */
  expectLog(log: readonly Event[]): void {
    holds(this.job !== undefined, 'there is a job')
    same(derive(log), this.job, 'the fold of the stored events is the record')
    same(log.filter(notBeat), this.events.filter(notBeat), 'the stored events are those that happened')
    same(
      log.filter(({ seq }) => seq !== undefined).map(({ seq }) => seq),
      numbers(this.job.seq),
      'seq has no gaps',
    )
    const beats = log.reduce((sum, event) => sum + (event.type === 'heartbeat' ? event.payload.count : 0), 0)
    same(beats, this.events.filter(({ type }) => type === 'heartbeat').length, 'every heartbeat is accounted for')
  }
}

const notBeat = ({ type }: Event): boolean => type !== 'heartbeat'

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i + 1)
