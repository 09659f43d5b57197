/**
 * A world: jobs, the key they compete for, workers and what each believes, messages on their way. Packed into a few
 * numbers: [unit of each job, holder of the key, belief of each worker, messages]. Jobs, workers and messages are
 * interchangeable, so of all orders only the smallest is kept.
 */
import { isTerminal } from '../../src/core/job.ts'
import { must } from './breach.ts'
import type { Bounds } from './configuration.ts'
import { beat } from './liveness.ts'
import { ACCEPTED, type Machine, SPAWNED } from './machine.ts'
import {
  belief,
  contentOf,
  descend,
  echoMessage,
  isBefore,
  isEcho,
  jobOf,
  otherJob,
  type Packed,
  wordMessage,
} from './packing.ts'
import { type EnvironmentWord, type OwnerWord, wordText } from './word.ts'

export class World {
  readonly width: number
  /** What is being tried, in words, while `explaining`. */
  label = ''
  explaining = false
  readonly #machine: Machine
  readonly #bounds: Bounds
  readonly #workers: number
  readonly #messages: number
  readonly #fences: string[] = ['']
  readonly #fenceOf = new Map<string, number>()
  #from: Packed = []
  #emit: (next: Packed) => void = () => {}

  constructor(machine: Machine, bounds: Bounds) {
    this.#machine = machine
    this.#bounds = bounds
    this.#workers = bounds.jobs + 1
    this.#messages = this.#workers + bounds.workers
    this.width = this.#messages + bounds.messages
  }

  initial(): Packed {
    return new Array<number>(this.width).fill(0)
  }

  /** Every world that may come next. A step that must not be possible throws. */
  successors(from: Packed, emit: (next: Packed) => void): void {
    this.#from = from
    this.#emit = emit
    this.#advance()
    for (let job = 0; job < this.#bounds.jobs; job += 1) {
      if (from[job] === 0) this.#enqueue(job)
      else this.#surround(job)
    }
    for (let slot = this.#workers; slot < this.#messages; slot += 1) if (from[slot] !== 0) this.#work(slot)
    for (let slot = this.#messages; slot < this.width; slot += 1) if (from[slot] !== 0) this.#deliver(slot)
  }

  /** I12, on every world. */
  check(world: Packed): void {
    if (!this.#machine.configuration.keyed) return
    let live = 0
    for (let job = 0; job < this.#bounds.jobs; job += 1) {
      const alive = world[job] !== 0 && !isTerminal(this.#machine.job(world[job] as number).state)
      if (alive) live += 1
      must(
        alive === (world[this.#bounds.jobs] === job + 1),
        'I12',
        alive ? 'a live job without its key' : 'an ended job keeps its key',
      )
    }
    must(live <= 1, 'I12', `${live} live jobs have the same key`)
  }

  units(world: Packed): readonly number[] {
    return world.slice(0, this.#bounds.jobs)
  }

  /** One line about a world. */
  describe(world: Packed): string {
    const jobs = this.units(world).map((unit) => this.#jobText(unit))
    const beliefs = world.slice(this.#workers, this.#messages).filter((belief) => belief !== 0)
    const believed = beliefs.map((belief) => `${this.#name(belief)}${short(this.#fence(belief))}`)
    const messages = world.slice(this.#messages).filter((message) => message !== 0)
    const sent = messages.map((message) => this.#messageText(message))
    const workers = believed.length === 0 ? '' : `  workers believe ${believed.join(' ')}`
    return `${jobs.join('  ')}${workers}${sent.length === 0 ? '' : `  on the way ${sent.join(' ')}`}`
  }

  #advance(): void {
    this.#say(() => 'time passes')
    const next = this.#copy()
    for (let job = 0; job < this.#bounds.jobs; job += 1) next[job] = this.#machine.later(next[job] as number)
    this.#done(next)
  }

  #enqueue(job: number): void {
    this.#say(() => 'enqueue')
    const next = this.#copy()
    const { keyed } = this.#machine.configuration
    // Whoever comes second gets the job that has the key.
    if (keyed && next[this.#bounds.jobs] !== 0) return this.#done(next)
    next[job] = this.#machine.enqueue()
    if (keyed) next[this.#bounds.jobs] = job + 1
    this.#done(next)
  }

  /** Ticker, claimers, users, operators. */
  #surround(job: number): void {
    const machine = this.#machine
    const { environment } = machine.configuration
    this.#direct(job, machine.wordId('tick'))
    for (const name of environment)
      if (this.#within(job, name)) this.#direct(job, machine.wordId(name, undefined, this.#serial(job, name)))
    if (machine.job(this.#from[job] as number).attempt < this.#bounds.attempts) this.#claim(job)
  }

  /** Bounds that keep the world finite. */
  #within(job: number, name: EnvironmentWord): boolean {
    const record = this.#machine.job(this.#from[job] as number)
    if (name === 'reopen') return record.generation < this.#bounds.generations
    if (name === 'signal' || name === 'noise') return record.inbox.length < this.#bounds.signals
    return true
  }

  /** The first number that neither the network nor the inbox knows. */
  #serial(job: number, name: EnvironmentWord): number {
    const { inbox } = this.#machine.job(this.#from[job] as number)
    for (let serial = 0; ; serial += 1) {
      const id = `${name}#${serial}`
      if (inbox.some(({ requestId }) => requestId === id)) continue
      if (!this.#isOnItsWay(job, id)) return serial
    }
  }

  #isOnItsWay(job: number, requestId: string): boolean {
    for (let slot = this.#messages; slot < this.width; slot += 1) {
      const message = this.#from[slot] as number
      if (message !== 0 && isEcho(message) && jobOf(message) === job) {
        if (this.#machine.echo(contentOf(message)).command.requestId === requestId) return true
      }
    }
    return false
  }

  /** A word that needs no message of its own: it may arrive at any moment anyway. Its repetition is a message. */
  #direct(job: number, word: number): void {
    for (const lagging of this.#clocks()) {
      this.#say(() => `${this.#jobName(job)}${wordText(this.#machine.word(word))}${lagging ? ' (lagging clock)' : ''}`)
      const next = this.#said(job, word, lagging)
      if (next === undefined) continue
      this.#done(next)
      this.#repeatable(job, word, next)
    }
  }

  #clocks(): readonly boolean[] {
    return this.#machine.configuration.lagMs > 0 ? [false, true] : [false]
  }

  #repeatable(job: number, word: number, next: Packed): void {
    const echo = this.#machine.echoOf(this.#from[job] as number, word)
    const free = next.indexOf(0, this.#messages)
    if (echo === 0 || free < 0) return
    this.#say(() => `${this.label}, and the network keeps a copy`)
    const kept = next.slice()
    kept[free] = echoMessage(job, echo)
    this.#done(kept)
  }

  #claim(job: number): void {
    const word = this.#machine.wordId('claim')
    this.#say(() => `${this.#jobName(job)}claim, and the answer is lost`)
    const lost = this.#said(job, word, false)
    if (lost === undefined) return
    this.#done(lost)
    const free = this.#from.indexOf(0, this.#workers)
    if (free < 0 || free >= this.#messages) return
    this.#say(() => `${this.#jobName(job)}claim`)
    const next = lost.slice()
    const lease = this.#machine.job(next[job] as number).lease
    if (lease === undefined) return
    next[free] = belief(job, this.#fenceId(lease.fence))
    this.#done(next)
  }

  /** A worker that believes in a fence sends what it likes, or dies. */
  #work(slot: number): void {
    const held = this.#from[slot] as number
    const job = jobOf(held)
    const fence = this.#fence(held)
    const crashed = this.#copy()
    crashed[slot] = 0
    this.#say(() => `${this.#jobName(job)}the worker of ${short(fence)} dies`)
    this.#done(crashed)
    const { owner, environment } = this.#machine.configuration
    if (environment.includes('stall')) this.#direct(job, this.#machine.wordId('stall', fence))
    const free = this.#from.indexOf(0, this.#messages)
    if (free < 0) return
    for (const name of owner) {
      const word = this.#ownerWord(job, name, fence)
      if (word === 0) continue
      const next = this.#copy()
      next[free] = wordMessage(job, word)
      this.#say(() => `${this.#jobName(job)}the worker of ${short(fence)} sends ${wordText(this.#machine.word(word))}`)
      this.#done(next)
    }
  }

  #ownerWord(job: number, name: OwnerWord, fence: string): number {
    const unit = this.#from[job] as number
    if (name === 'heartbeat') return beat(this.#machine, unit, fence)
    if (name === 'step' && this.#machine.job(unit).steps >= this.#bounds.steps) return 0
    return this.#machine.wordId(name, fence)
  }

  /** A message arrives, arrives and stays to arrive again, or is lost. */
  #deliver(slot: number): void {
    const message = this.#from[slot] as number
    const job = jobOf(message)
    const gone = this.#copy()
    gone[slot] = 0
    if (isEcho(message)) {
      this.#say(() => `${this.#messageText(message)} arrives again`)
      this.#machine.repeat(this.#from[job] as number, contentOf(message))
      return this.#done(gone)
    }
    this.#say(() => `${this.#messageText(message)} is lost`)
    this.#done(gone)
    const word = contentOf(message)
    for (const lagging of this.#clocks()) {
      this.#say(() => `${this.#messageText(message)} arrives${lagging ? ' (lagging clock)' : ''}`)
      const next = this.#said(job, word, lagging)
      if (next === undefined) continue
      next[slot] = 0
      this.#done(next)
      this.#repeatable(job, word, next)
    }
  }

  /** The world after an accepted word; undefined where nothing changes. */
  #said(job: number, word: number, lagging: boolean): Packed | undefined {
    const unit = this.#from[job] as number
    const answer = this.#machine.say(unit, word, lagging)
    const kind = answer % 4
    if (kind < ACCEPTED) return undefined
    const next = this.#copy()
    next[job] = (answer - kind) / 4
    if (this.#machine.configuration.keyed && !this.#rekey(job, next)) return undefined
    if (kind === SPAWNED) this.#spawn(job, next)
    return next
  }

  /** As a store does it: keys change hands with the commit, or the commit does not happen. */
  #rekey(job: number, next: Packed): boolean {
    const machine = this.#machine
    const { give, take } = machine.core.keyChange(
      machine.job(this.#from[job] as number),
      machine.job(next[job] as number),
    )
    const place = this.#bounds.jobs
    if (take.length > 0 && next[place] !== 0 && next[place] !== job + 1) return false
    if (take.length > 0) next[place] = job + 1
    if (give.length > 0 && next[place] === job + 1) next[place] = 0
    return true
  }

  #spawn(job: number, next: Packed): void {
    const free = next.indexOf(0)
    if (free < 0 || free >= this.#bounds.jobs) return
    const { ghost } = this.#machine.unit(next[job] as number)
    next[free] = this.#machine.enqueue(ghost.next ? 0 : ghost.failures)
    // What comes next has the key with the same commit.
    if (ghost.next && this.#machine.configuration.keyed) next[this.#bounds.jobs] = free + 1
  }

  #copy(): Packed {
    return this.#from.slice()
  }

  #say(text: () => string): void {
    if (this.explaining) this.label = text()
  }

  #done(next: Packed): void {
    this.#sort(next)
    this.#emit(next)
  }

  #sort(next: Packed): void {
    descend(next, this.#workers, this.#messages)
    descend(next, this.#messages, this.width)
    if (this.#bounds.jobs !== 2 || (next[0] as number) < (next[1] as number)) return
    const other = this.#swapped(next)
    descend(other, this.#workers, this.#messages)
    descend(other, this.#messages, this.width)
    if (isBefore(other, next)) for (let i = 0; i < this.width; i += 1) next[i] = other[i] as number
  }

  #swapped(world: Packed): Packed {
    const holder = world[2] as number
    const head = [world[1] as number, world[0] as number, holder === 0 ? 0 : 3 - holder]
    return [...head, ...world.slice(3).map((about) => (about === 0 ? 0 : otherJob(about)))]
  }

  #fenceId(fence: string): number {
    const known = this.#fenceOf.get(fence)
    if (known !== undefined) return known
    this.#fenceOf.set(fence, this.#fences.push(fence) - 1)
    return this.#fences.length - 1
  }

  #fence(held: number): string {
    return this.#fences[(held - 1) >> 1] as string
  }

  #jobName(job: number): string {
    return this.#bounds.jobs === 1 ? '' : `job ${job + 1}: `
  }

  #name(about: number): string {
    return this.#bounds.jobs === 1 ? '' : `${jobOf(about) + 1}:`
  }

  #messageText(message: number): string {
    const word = isEcho(message) ? this.#machine.echo(contentOf(message)).word : contentOf(message)
    return `${this.#name(message)}${wordText(this.#machine.word(word))}${isEcho(message) ? ' (copy)' : ''}`
  }

  #jobText(unit: number): string {
    if (unit === 0) return '–'
    const { state, phase, generation, attempt, failures, stalls, cancel } = this.#machine.job(unit)
    const flags = `${phase === 'compensate' ? ' compensating' : ''}${cancel === undefined ? '' : ` cancel:${cancel.mode}`}`
    return `${state} ${generation}.${attempt} f${failures} s${stalls}${flags}`
  }
}

const short = (fence: string): string => fence.split('.').slice(0, 2).join('.')
