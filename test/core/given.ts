/**
 * Tests as promises: `given(…)` a history, `when(…)` a command, then events or a refusal. Every accepted step is
 * checked against the invariants and against the fold of the whole log, so each test proves more than it names.
 */
import { expect } from 'vitest'
import type { Command } from '../../src/core/command.ts'
import { type Decision, decide, decideTick } from '../../src/core/decide.ts'
import type { Event, EventType } from '../../src/core/event.ts'
import { derive, evolve } from '../../src/core/evolve.ts'
import { recordBreaches, stepBreaches } from '../../src/core/invariants.ts'
import type { Job, Kind, State } from '../../src/core/job.ts'
import type { RefusalCode } from '../../src/core/refusal.ts'
import { resolvePolicy, type TypePolicy } from '../../src/core/resolve.ts'
import type { Step } from '../../src/core/steps.ts'

/** A command without what every command carries. `fence: 'mine'` stands for the current lease's. */
export type Words = { readonly type: Command['type'] } & Readonly<Record<string, unknown>>

export const NONCE = '0123456789abcdef'
export const T0 = 1_000_000

export function kindOf(policy: TypePolicy = {}): Kind {
  const resolved = resolvePolicy(policy)
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.violations))
  return { tenant: 'acme', queue: 'crawl', type: 'crawl.page', policy: resolved.policy }
}

/** A job just enqueued under this policy, with further words if any. */
export const given = (policy: TypePolicy = {}, words: Readonly<Record<string, unknown>> = {}): History =>
  new History(kindOf(policy)).does({ type: 'enqueue', id: 'pj_1', kind: kindOf(policy), priority: 5, ...words })

export class History {
  job: Job | undefined
  now = T0
  readonly kind: Kind
  readonly events: Event[] = []
  readonly steps: Step[] = []
  #requests = 0

  constructor(kind: Kind) {
    this.kind = kind
  }

  /** The record, which must exist by now. */
  get record(): Job {
    if (this.job === undefined) throw new Error('no job yet')
    return this.job
  }

  get state(): State {
    return this.record.state
  }

  get fence(): string {
    return this.record.lease?.fence ?? this.record.lastClaim?.fence ?? 'none'
  }

  after(ms: number): this {
    this.now += ms
    return this
  }

  /** Somebody sets the clock forward, and it is known. */
  skips(ms: number): this {
    this.steps.push({ at: this.now, byMs: ms })
    return this.after(ms)
  }

  /** Does all of these, each accepted. */
  does(...commands: readonly Words[]): this {
    for (const words of commands) this.when(words).accepted()
    return this
  }

  /** Where admission applies somebody lets it in first. */
  claims(workerId = 'w1'): this {
    if (this.state === 'pending') this.does({ type: 'admit', rule: 'all', policyHash: 'p1' })
    return this.does({ type: 'claim', workerId, nonce: NONCE })
  }

  starts(): this {
    return this.claims().does({ type: 'start', fence: 'mine' })
  }

  fails(fault: Readonly<Record<string, unknown>> = {}): this {
    return this.does({ type: 'fail', fence: 'mine', fault: { code: 'E_5XX_ORIGIN', message: 'bad gateway', ...fault } })
  }

  when(words: Words, caused: readonly Event[] = []): Outcome {
    return this.#outcome(decide(this.job, this.command(words), this.now, caused, this.steps))
  }

  ticks(): Outcome {
    const asked = { actor: 'system', requestId: `tick-${this.#requests++}` }
    const decision = decideTick(this.record, this.now, asked, this.steps)
    if (decision === undefined) throw new Error('nothing is due')
    return this.#outcome(decision)
  }

  get isDue(): boolean {
    return decideTick(this.record, this.now, { actor: 'system', requestId: 'tick' }, this.steps) !== undefined
  }

  command(words: Words): Command {
    const fence = words['fence'] === 'mine' ? { fence: this.fence } : {}
    return { actor: 'test', requestId: `r-${this.#requests++}`, ...words, ...fence } as Command
  }

  #outcome(decision: Decision): Outcome {
    const before = this.job
    if (decision.kind === 'accepted') {
      this.events.push(...decision.events)
      this.job = decision.job
      expect(derive(this.events)).toEqual(this.job)
      let step = before
      for (const event of decision.events) {
        const next = evolve(step, event)
        expect(stepBreaches(step, event, next)).toEqual([])
        expect(recordBreaches(next)).toEqual([])
        step = next
      }
      expect(step).toEqual(this.job)
    }
    return new Outcome(decision, this)
  }
}

class Outcome {
  readonly decision: Decision
  readonly history: History

  constructor(decision: Decision, history: History) {
    this.decision = decision
    this.history = history
  }

  /** Accepted, with exactly these events, leading to this state. */
  gives(state: State, ...types: readonly EventType[]): History {
    const { decision } = this
    if (decision.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(decision)}`)
    expect(decision.events.map((event) => event.type)).toEqual(types)
    expect(decision.job.state).toBe(state)
    return this.history
  }

  accepted(): History {
    const { decision } = this
    if (decision.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(decision)}`)
    return this.history
  }

  /** Refused, naming the job, saying why and what to do; for INVALID, naming the field. */
  refused(code: RefusalCode, field?: string): History {
    const { decision } = this
    if (decision.kind !== 'refused') throw new Error(`not refused: ${JSON.stringify(decision)}`)
    expect(decision.refusal.code).toBe(code)
    expect(decision.refusal.message.length).toBeGreaterThan(0)
    expect(decision.refusal.next.length).toBeGreaterThan(0)
    if (field !== undefined) expect(decision.refusal.violations.map((violation) => violation.field)).toContain(field)
    return this.history
  }

  replayed(): History {
    if (this.decision.kind !== 'replayed') throw new Error(`not replayed: ${JSON.stringify(this.decision)}`)
    return this.history
  }

  get last(): Event {
    if (this.decision.kind !== 'accepted') throw new Error('not accepted')
    return this.decision.events.at(-1) as Event
  }
}
