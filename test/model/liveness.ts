/**
 * I15: once faults stop, every job ends. From every unit the model has reached, five fair futures are followed to
 * their end. Each is a whole schedule: ticks happen when they are due, time passes when nothing else is left to do, a
 * free worker takes what is ready, the awaited signal and the admission come. What differs is how handlers behave.
 */
import { isTerminal } from '../../src/core/job.ts'
import type { DialectName } from '../../src/core/policy.ts'
import { breach, must } from './breach.ts'
import { ACCEPTED, type Machine, REFUSED } from './machine.ts'
import { NOW } from './unit.ts'
import { wordText } from './word.ts'

export const FUTURES = {
  succeed: 'whoever owns the job finishes it; so does whoever comes next',
  orphan: 'whoever owns the job is dead; whoever comes next finishes it',
  fail: 'every handler fails, for ever',
  die: 'every worker dies as soon as it has claimed',
  hang: 'every handler goes on for ever, heartbeats and all',
} as const
export type Future = keyof typeof FUTURES

const NAMES = Object.keys(FUTURES) as readonly Future[]

/**
 * Faults that never stop, in documents that have no end for them: an orphan of 001 is requeued however often, of 000B and
 * 004 where nothing had started; and an attempt of 001 is failed by its worker or by nobody.
 */
const ENDLESS: Readonly<Partial<Record<DialectName, readonly Future[]>>> = {
  '000B': ['die'],
  '001': ['die', 'hang'],
  '004': ['die'],
}

export class Liveness {
  readonly #machine: Machine
  /** Units from which this future is known to end. */
  readonly #ends: Readonly<Record<Future, Set<number>>>

  constructor(machine: Machine) {
    this.#machine = machine
    this.#ends = { succeed: new Set(), orphan: new Set(), fail: new Set(), die: new Set(), hang: new Set() }
  }

  check(unit: number): void {
    const { dialect } = this.#machine.job(unit).spec.kind.policy
    const endless = dialect === undefined ? [] : (ENDLESS[dialect] ?? [])
    for (const future of NAMES) if (!endless.includes(future)) this.#follow(unit, future)
  }

  /** Both phases, every failure and every lost lease, and the claims that a reopening has already used. */
  #claimsMax(unit: number): number {
    const { maxAttempts, maxStalls } = this.#machine.job(unit).spec.kind.policy
    return 2 * (maxAttempts + maxStalls + 1)
  }

  #follow(start: number, future: Future): void {
    const machine = this.#machine
    const ends = this.#ends[future]
    const path: number[] = []
    const seen = new Set<number>()
    let unit = start
    // An orphaned job is nobody's until somebody claims it anew.
    const dead = future === 'orphan' ? machine.job(start).lease?.fence : undefined
    while (!ends.has(unit) && !isTerminal(machine.job(unit).state)) {
      must(!seen.has(unit), 'I15', `${FUTURES[future]}: goes round in circles while ${machine.job(unit).state}`)
      seen.add(unit)
      path.push(unit)
      unit = this.#next(unit, future, dead)
      const claims = machine.job(unit).attempt - machine.job(start).attempt
      must(claims <= this.#claimsMax(start), 'I15', `${FUTURES[future]}: ${claims} more claims and no end`)
    }
    // What follows a dead owner is known only from where it is nobody's.
    for (const passed of path) if (dead === undefined) ends.add(passed)
  }

  #next(unit: number, future: Future, dead: string | undefined): number {
    const machine = this.#machine
    const { job, ghost } = machine.unit(unit)
    if (job.nextTickAt !== undefined && job.nextTickAt <= NOW) return this.#said(unit, machine.wordId('tick'))
    if (job.state === 'pending') return this.#said(unit, machine.wordId('admit', undefined, 9))
    if (job.wait !== undefined && job.wait.timeoutAt === undefined) {
      const name = job.wait.key === undefined ? 'signal' : 'noise'
      return this.#said(unit, machine.wordId(name, undefined, 9))
    }
    if (job.readyAt !== undefined && job.readyAt <= NOW) return this.#said(unit, machine.wordId('claim'))
    if (job.lease !== undefined && job.lease.fence !== dead)
      return this.#handled(unit, future, job.lease.fence, ghost.leaseEnd)
    return this.#passed(unit)
  }

  /** What the owner does. */
  #handled(unit: number, future: Future, fence: string, leaseEnd: number): number {
    const machine = this.#machine
    const { job } = machine.unit(unit)
    if (future === 'die') return this.#passed(unit)
    if (job.state === 'claimed') return this.#said(unit, machine.wordId('start', fence, 9))
    if (future === 'fail') return this.#said(unit, machine.wordId('transient', fence))
    if (future !== 'hang')
      return this.#said(unit, machine.wordId(job.phase === 'run' ? 'complete' : 'compensated', fence))
    if (leaseEnd - NOW > machine.configuration.unitMs) return this.#passed(unit)
    return this.#said(unit, beat(machine, unit, fence))
  }

  #said(unit: number, word: number): number {
    const answer = this.#machine.say(unit, word)
    if (answer % 4 >= ACCEPTED) return Math.floor(answer / 4)
    const how = answer % 4 === REFUSED ? 'refused' : 'answered with an older answer'
    return breach('I15', `${wordText(this.#machine.word(word))} was ${how} while ${this.#machine.job(unit).state}`)
  }

  #passed(unit: number): number {
    const { job } = this.#machine.unit(unit)
    const later = this.#machine.later(unit)
    must(later !== unit, 'I15', `nothing will ever happen to it again while ${job.state}`)
    return later
  }
}

/** A heartbeat that is not the repetition of the last one. */
export function beat(machine: Machine, unit: number, fence: string): number {
  const last = unit === 0 ? undefined : machine.job(unit).lease?.lastBeatId
  return machine.wordId('heartbeat', fence, last === `${fence}/heartbeat/0` ? 1 : 0)
}
