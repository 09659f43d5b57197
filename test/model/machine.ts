/**
 * One job under examination: units and words as small numbers, and what the core makes of a word said to a unit. The
 * core is pure, so each pair is decided, and judged, once; worlds are products of the answers.
 */
import type { Command, Enqueue } from '../../src/core/command.ts'
import type { Decision } from '../../src/core/decide.ts'
import type { Event } from '../../src/core/event.ts'
import { isTerminal, type Job, type Kind } from '../../src/core/job.ts'
import { Breach, breach, must } from './breach.ts'
import { judge, judgeRefusal } from './checks.ts'
import type { Configuration } from './configuration.ts'
import type { Core } from './core.ts'
import { BORN, type Ghost } from './ghost.ts'
import { rowsTaken } from './row.ts'
import { NOW, packed, rebase, type Unit } from './unit.ts'
import { commandOf, forged, OWNER_WORDS, type Word } from './word.ts'

/** Answers are `unit * 4 + kind`. */
export const REFUSED = 0
export const REPLAYED = 1
export const ACCEPTED = 2
export const SPAWNED = 3

export interface Echo {
  readonly word: number
  /** Exactly what was sent the first time, and what came of it. */
  readonly command: Command
  readonly caused: readonly Event[]
}

const WORDS = 65_536

export class Machine {
  readonly core: Core
  readonly configuration: Configuration
  /** Unit 0 is a job that does not exist. */
  readonly units: Unit[] = []
  /** The rows of the machine that have been taken. */
  readonly taken = new Set<string>()
  readonly #unitOf = new Map<string, number>()
  readonly #words: Word[] = []
  readonly #wordOf = new Map<string, number>()
  readonly #answers = new Map<number, number>()
  readonly #echoes: Echo[] = []
  readonly #echoOf = new Map<string, number>()
  readonly #echoAfter = new Map<number, number>()
  readonly #later: number[] = []
  readonly #kind: Kind

  constructor(core: Core, configuration: Configuration) {
    this.core = core
    this.configuration = configuration
    this.#kind = { tenant: 't', queue: 'q', type: 'j', policy: configuration.policy }
    this.units.push({} as Unit)
    this.#words.push({} as Word)
    this.#echoes.push({} as Echo)
  }

  unit(id: number): Unit {
    return this.units[id] as Unit
  }

  job(id: number): Job {
    return this.unit(id).job
  }

  word(id: number): Word {
    return this.#words[id] as Word
  }

  wordId(name: Word['name'], fence?: string, serial = 0): number {
    const key = `${name} ${fence} ${serial}`
    const known = this.#wordOf.get(key)
    if (known !== undefined) return known
    must(this.#words.length < WORDS, 'model', 'too many words')
    this.#words.push({ name, fence, serial })
    this.#wordOf.set(key, this.#words.length - 1)
    return this.#words.length - 1
  }

  echo(id: number): Echo {
    return this.#echoes[id] as Echo
  }

  /** What remains of an accepted word that the network delivers again; 0 where nothing can come of it. */
  echoOf(unit: number, word: number): number {
    return this.#echoAfter.get(unit * WORDS + word) ?? 0
  }

  /** A new job, or the successor of one. */
  enqueue(failures = 0): number {
    const decision = this.#try(() => this.core.decide(undefined, this.#enqueue(failures), NOW))
    if (decision?.kind !== 'accepted') return breach('total', `enqueue was ${decision?.kind}`)
    must(decision.job.failures === failures, 'I10', 'a successor does not inherit what was used of the budget')
    const ghost = judge(this.core, { job: undefined, ghost: BORN }, undefined, decision, NOW)
    return this.#intern({ job: decision.job, ghost }, NOW)
  }

  /** What becomes of a unit when a word is said to it, `lagging` if whoever decides is behind the clock. */
  say(unit: number, word: number, lagging = false): number {
    const key = (unit * WORDS + word) * 2 + (lagging ? 1 : 0)
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const answer = this.#decide(unit, word, lagging)
    this.#answers.set(key, answer)
    return answer
  }

  /** One instant later. */
  later(unit: number): number {
    if (unit === 0) return 0
    const known = this.#later[unit]
    if (known !== undefined) return known
    const next = this.#intern(this.unit(unit), NOW + this.configuration.unitMs)
    this.#later[unit] = next
    return next
  }

  /** A repetition gets the answer it got, for ever, and changes nothing. */
  repeat(unit: number, echo: number): void {
    const { command, caused } = this.echo(echo)
    const decision = this.#try(() => this.core.decide(this.job(unit), command, NOW, caused))
    must(decision?.kind === 'replayed', 'replay', `${command.type} again under its request id was ${decision?.kind}`)
    const last = caused.at(-1) as Event
    const { receipt } = decision
    must(
      receipt.command === last.command && receipt.state === last.state,
      'replay',
      `answered ${receipt.state}, was ${last.state}`,
    )
    // What a record remembers itself has had its revision rebased away.
    must(receipt.rev === last.rev || receipt.rev === 0, 'replay', `answered rev ${receipt.rev}, was ${last.rev}`)
  }

  /** What no sensible sender says: fences that never were, revisions long gone, ids used twice. */
  probe(id: number): void {
    const { job } = this.unit(id)
    const at = { now: NOW, unitMs: this.configuration.unitMs }
    const fence = forged(job)
    for (const name of OWNER_WORDS) {
      const decision = this.#try(() => this.core.decide(job, commandOf({ name, fence, serial: 0 }, job, at), NOW))
      must(decision?.kind !== 'accepted', 'I8', `${name} accepted from a forged fence`)
    }
    const cancel = { type: 'cancel', mode: 'hard', actor: 'operator:o', requestId: 'probe' } as const
    const stale = this.#try(() => this.core.decide(job, { ...cancel, expectedRev: job.baseRev - 1 }, NOW))
    must(stale?.kind !== 'accepted', 'rev', 'accepted for a revision long gone')
    // 001 compares exactly: there the owner's own heartbeat makes a revision stale.
    const known = job.spec.kind.policy.dialect === '001' ? job.rev : job.baseRev
    const fresh = this.#try(() => this.core.decide(job, { ...cancel, expectedRev: known }, NOW))
    must(
      fresh?.kind !== 'refused' || fresh.refusal.code !== 'REV_CONFLICT',
      'rev',
      'refused although only the owner spoke',
    )
    for (const { requestId } of job.recent) {
      if (job.lease === undefined) break
      const release = { ...cancel, type: 'release', reason: 'shutdown', requestId, fence: job.lease.fence } as const
      const reuse = this.#try(() => this.core.decide(job, { ...release, expectedRev: job.rev }, NOW))
      must(
        reuse?.kind === 'refused' && reuse.refusal.code === 'REQUEST_ID_REUSED',
        'replay',
        `${requestId} used twice: ${reuse?.kind}`,
      )
    }
    const same = this.#try(() => this.core.decide(job, this.#enqueue(0), NOW))
    must(same?.kind === 'replayed', 'replay', `the same enqueue again was ${same?.kind}`)
    const other = this.#try(() => this.core.decide(job, { ...this.#enqueue(0), topic: 'another' }, NOW))
    must(
      other?.kind === 'refused' && other.refusal.code === 'ID_TAKEN',
      'replay',
      `another enqueue under its id was ${other?.kind}`,
    )
  }

  #decide(id: number, wordId: number, lagging: boolean): number {
    const unit = this.unit(id)
    const word = this.word(wordId)
    const { job } = unit
    const { unitMs, lagMs } = this.configuration
    const now = lagging ? NOW - lagMs : NOW
    const command = word.name === 'tick' ? undefined : commandOf(word, job, { now, unitMs })
    const asked = { actor: 'system', requestId: 'tick' }
    const decision = this.#try(() =>
      command === undefined ? this.core.decideTick(job, now, asked) : this.core.decide(job, command, now),
    )
    if (decision === undefined) {
      must(lagging || (job.nextTickAt ?? Infinity) > NOW, 'I15', 'a tick that is due comes to nothing')
      return id * 4 + REFUSED
    }
    if (decision.kind === 'replayed') return id * 4 + REPLAYED
    if (decision.kind === 'refused') {
      if (command === undefined) return breach('I15', `a tick was refused: ${decision.refusal.code}`)
      judgeRefusal(unit, command, decision, Math.max(now, job.updatedAt), word.fence !== undefined)
      return id * 4 + REFUSED
    }
    // The store compares the lease end with its own clock, whatever the decider believed.
    if (lagging && word.fence !== undefined && job.lease !== undefined && job.lease.expiresAt <= NOW)
      return id * 4 + REFUSED
    return this.#accept(id, wordId, command, decision, Math.max(now, job.updatedAt))
  }

  #accept(
    id: number,
    wordId: number,
    command: Command | undefined,
    decision: Extract<Decision, { kind: 'accepted' }>,
    now: number,
  ): number {
    const unit = this.unit(id)
    const books = judge(this.core, unit, command, decision, now)
    const drops = books.drops || (command?.type === 'cancel' && command.next === 'drop')
    const ghost = { ...books, drops }
    const next = this.#intern({ job: decision.job, ghost }, NOW)
    mayFollow(decision, ghost)
    for (const row of rowsTaken(unit.job.state, decision.events)) this.taken.add(row)
    if (command !== undefined && command.type !== 'heartbeat') this.#keepEcho(id, wordId, command, decision.events)
    const { successor } = decision
    if (successor === undefined) return next * 4 + ACCEPTED
    const used = isNext(decision) ? undefined : ghost.failures
    must(
      successor.failures === used && successor.kind === unit.job.spec.kind,
      'I10',
      'a successor with a budget of its own',
    )
    return next * 4 + SPAWNED
  }

  #keepEcho(unit: number, word: number, command: Command, caused: readonly Event[]): void {
    const last = caused.at(-1) as Event
    const key = `${word} ${command.requestId} ${last.state} ${last.digest}`
    let echo = this.#echoOf.get(key)
    if (echo === undefined) {
      echo = this.#echoes.push(frozen({ word, command, caused })) - 1
      this.#echoOf.set(key, echo)
    }
    this.#echoAfter.set(unit * WORDS + word, echo)
  }

  #intern(unit: Unit, now: number): number {
    const canonical = rebase(unit, now, this.configuration.lagMs)
    const key = packed(canonical)
    const known = this.#unitOf.get(key)
    if (known !== undefined) return known
    // Frozen: a decision that touches the record it judges throws.
    this.units.push(frozen(canonical))
    this.#unitOf.set(key, this.units.length - 1)
    return this.units.length - 1
  }

  /** Core never throws for a domain reason. */
  #try<T>(decide: () => T): T {
    try {
      return decide()
    } catch (error) {
      if (error instanceof Breach) throw error
      return breach('total', error instanceof Error ? error.message : String(error))
    }
  }

  #enqueue(failures: number): Enqueue {
    const { keyed } = this.configuration
    return {
      type: 'enqueue',
      actor: 'producer:p',
      requestId: 'enqueue',
      id: 'pj_1',
      kind: this.#kind,
      priority: 5,
      ...(keyed ? { dedupeKey: 'k' } : {}),
      ...(failures === 0 ? {} : { failures }),
    }
  }
}

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) frozen(part)
  return value
}

type Accepted = Extract<Decision, { kind: 'accepted' }>

const isNext = ({ successor }: Accepted): boolean => successor?.cause === 'replaced'

/** What duplicates have brought comes with the end, once, unless it was dropped; and at no other time. */
function mayFollow(decision: Accepted, { next, drops }: Ghost): void {
  const isOwed = next && !drops && isTerminal(decision.job.state)
  must(isNext(decision) === isOwed, 'I9', isOwed ? 'the newest input is lost' : 'a job that nobody asked for')
}
