/**
 * Jobs that are claimed and not started, draw by draw. What is started next is decided by core: the more urgent before what was
 * claimed earlier, equally urgent lanes in turns by their weights, and the jobs of a lane in the order in which they were claimed.
 */
import { byPrecedence, type Draw, type Precedence, passAfter } from '../core/lanes.ts'
import { leaseWindowMs } from '../core/timers.ts'
import type { Execution } from './execution.ts'

export class Prefetched {
  /** Batches that have jobs, in the order in which their next jobs are to start. */
  readonly #batches: Batch[] = []
  /** The batch of the job that was added last. */
  #newest: Batch | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  add(execution: Execution, draw: Draw): void {
    if (this.#newest?.draw !== draw) this.#newest = this.#open(draw)
    this.#newest.executions.push(execution)
    this.#size += 1
  }

  /** The next that is still ours to start. */
  take(): Execution | undefined {
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      const execution = batch.take()
      this.#size -= 1
      if (batch.isEmpty) this.#close(batch)
      else if (this.#batches.length > 1) this.#giveWay(batch)
      // Otherwise lost, or handed back, while it was held.
      if (execution.mode === 'held') return execution
    }
    return undefined
  }

  /** Hands back jobs that were held for half their lease, so that other workers get them. Returns when to look again. */
  giveBackStale(nowMs: number): number {
    let nextMs = Number.POSITIVE_INFINITY
    for (const batch of this.#batches) {
      for (const execution of batch.left()) {
        const dueMs = execution.heldSinceMs + leaseWindowMs(execution.assignment.job.spec.kind.policy) / 2
        if (dueMs > nowMs) nextMs = Math.min(nextMs, dueMs)
        else if (execution.isReturnable) execution.giveBack('handed_back')
      }
    }
    return nextMs
  }

  /** Hands back the jobs that would be started last, until `most` are left; not those that came after `sinceMs`. */
  giveBackBeyond(most: number, sinceMs: number): void {
    while (this.#size > most) {
      const batch = this.#batches.at(-1)
      const last = batch?.executions.at(-1)
      if (batch === undefined || last === undefined || last.heldSinceMs > sinceMs || !last.isReturnable) return
      batch.executions.pop()
      this.#size -= 1
      if (batch.isEmpty) this.#close(batch)
      last.giveBack('handed_back')
    }
  }

  /** Hands back all that can be. What cannot stays: its document knows no `release`. */
  giveBackAll(reason: 'shutdown' | 'handed_back'): void {
    for (const batch of [...this.#batches]) {
      for (const execution of batch.takeReturnable()) {
        this.#size -= 1
        execution.giveBack(reason)
      }
      if (batch.isEmpty) this.#close(batch)
    }
  }

  #open(draw: Draw): Batch {
    const batch = new Batch(draw)
    const at = this.#batches.findIndex((each) => byPrecedence(batch, each) < 0)
    this.#batches.splice(at === -1 ? this.#batches.length : at, 0, batch)
    return batch
  }

  #close(batch: Batch): void {
    this.#batches.splice(this.#batches.indexOf(batch), 1)
    if (this.#newest === batch) this.#newest = undefined
  }

  /** The first has given one: it stays first, unless others go before its next. */
  #giveWay(first: Batch): void {
    let at = 1
    for (; at < this.#batches.length; at += 1) {
      const next = this.#batches[at] as Batch
      if (byPrecedence(next, first) >= 0) break
      this.#batches[at - 1] = next
    }
    this.#batches[at - 1] = first
  }
}

/** The jobs left of one draw; ordered by the next of them. */
class Batch implements Precedence {
  readonly draw: Draw
  readonly urgency: number
  readonly priority: number
  readonly executions: Execution[] = []
  /** The place of the next job. Those before it have been taken: shifting an array of hundreds for every job would show. */
  #head = 0

  constructor(draw: Draw) {
    this.draw = draw
    this.urgency = draw.urgency
    this.priority = draw.priority
  }

  get pass(): number {
    return passAfter(this.draw, this.#head)
  }

  get isEmpty(): boolean {
    return this.#head === this.executions.length
  }

  take(): Execution {
    const execution = this.executions[this.#head] as Execution
    this.#head += 1
    return execution
  }

  left(): readonly Execution[] {
    return this.executions.slice(this.#head)
  }

  takeReturnable(): readonly Execution[] {
    const { true: taken = [], false: kept = [] } = Object.groupBy(this.left(), ({ isReturnable }) => `${isReturnable}`)
    this.executions.splice(this.#head, this.executions.length, ...kept)
    return taken
  }
}
