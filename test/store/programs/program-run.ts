import type { Command } from '../../../src/core/command.ts'
import { compact } from '../../../src/core/compact.ts'
import { isMereRenewal } from '../../../src/core/decide/heartbeat.ts'
import { type Decision, decide, decideTick } from '../../../src/core/decide.ts'
import type { Event } from '../../../src/core/event.ts'
import { isTerminal, type Job, type JobId, type Kind, type Time } from '../../../src/core/job.ts'
import { keyChange, keyOf } from '../../../src/core/keys.ts'
import { sourceOf } from '../../../src/core/newer.ts'
import { speaksAsOwner } from '../../../src/core/ownership.ts'
import { isStripping } from '../../../src/core/stripped.ts'
import { leaseRenewedAt, leaseWindowMs } from '../../../src/core/timers.ts'
import { holds, same } from '../../../src/store/conformance/holds.ts'
import type {
  Beat,
  Beaten,
  Body,
  Change,
  ClaimedJob,
  Grant,
  Inserted,
  Key,
  NewJob,
  Verdict,
} from '../../../src/store/store.ts'
import type { Intent, Program } from './program.ts'
import { Slot } from './slot.ts'
import { type Verb, verbFor, type Word, type Words, wordsFor } from './words.ts'

type Accepted = Extract<Decision, { kind: 'accepted' }>

/** What the store is asked for in this step, and what the model makes of its answer. */
export type Plan =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'insert'; readonly item: NewJob; readonly learn: (answer: Inserted, now: Time) => void }
  | {
      readonly kind: 'claim'
      readonly job: Job
      readonly learn: (grant: Grant, claimed: ClaimedJob | undefined, now: Time) => void
    }
  | { readonly kind: 'beat'; readonly beat: Beat; readonly learn: (answer: Beaten, now: Time) => void }
  | { readonly kind: 'commit'; readonly change: Change; readonly learn: (verdict: Verdict, now: Time) => void }

const NOTHING: Plan = { kind: 'nothing' }

/** A claim of an hour's certainty: what is further away than this does not happen while a test runs. */
const MARGIN_MS = 600_000
const BACK_MS = 2 * 3_600_000

/**
 * One program at work: the model of its two jobs, and the loop of an engine (load, decide, commit) cut into steps, so
 * that many programs share each round trip. `next` says what to load, `plan` decides, `learn` judges the answer.
 */
export class ProgramRun {
  readonly program: Program
  readonly tenant: string
  readonly slots: readonly [Slot, Slot] = [new Slot('q0'), new Slot('q1')]
  /** Jobs that were born as successors of others. */
  readonly successors: NewJob[] = []
  purged: JobId[] = []
  #holder: { readonly id: JobId; readonly until: Time | undefined } | undefined
  #now: Time
  #serial = 0
  readonly #newId: () => JobId
  #words: Words | undefined

  constructor(program: Program, tenant: string, begin: Time, newId: () => JobId) {
    this.program = program
    this.tenant = tenant
    this.#now = begin - BACK_MS
    this.#newId = newId
  }

  slotOf(intent: Intent): Slot {
    return this.slots[intent.slot]
  }

  /** What must be known before this intent is decided: its job, and what its request has caused. */
  next(intent: Intent): { readonly id: JobId; readonly requestId: string | undefined } | undefined {
    const { job } = this.slotOf(intent)
    this.#serial += 1
    if (!this.program.still) this.#now += intent.passMs
    this.#words = job === undefined ? undefined : this.#wordsFor(job, intent)
    return job === undefined ? undefined : { id: job.id, requestId: this.#words?.command.requestId }
  }

  plan(intent: Intent, storeNow: Time, caused: readonly Event[]): Plan {
    if (this.program.still) this.#now = Math.max(this.#now, storeNow)
    const slot = this.slotOf(intent)
    const { job } = slot
    if (job === undefined) return this.#insert(slot, intent)
    const words = this.#words
    if (words === undefined) return this.#wordless(slot, job, verbFor(job, intent))
    const { command } = words
    const byStore = intent.twist === 'none' && job.updatedAt <= storeNow && this.#now <= storeNow
    if (command.type === 'claim' && byStore) return this.#claim(slot, job)
    // What the store leaves to core is said by a commit, half of the time without having asked the store.
    const asks = isMereRenewal(job) || this.#serial % 2 === 0
    if (command.type === 'heartbeat' && byStore && asks) return this.#beat(slot, job, command)
    return this.#decide(slot, job, words, intent, storeNow, caused)
  }

  /** What is asked of the store without a command. */
  #wordless(slot: Slot, job: Job, verb: Verb): Plan {
    if (verb === 'tick') return this.#tick(slot, job)
    if (verb === 'enqueue') return this.#insertAgain(slot, job)
    if (!isTerminal(job.state)) return NOTHING
    return verb === 'purge' ? this.#purge(slot, job) : this.#compact(slot, job)
  }

  #kind(slot: Slot): Kind {
    return { tenant: this.tenant, queue: slot.queue, type: 'program', policy: this.program.policy }
  }

  #wordsFor(job: Job, intent: Intent): Words | undefined {
    const slot = this.slotOf(intent)
    const past = slot.accepted[intent.n % Math.max(1, slot.accepted.length)]
    if (intent.twist === 'repeat' && past !== undefined) return past.words
    const type = verbFor(job, intent)
    if (type === 'tick' || type === 'purge' || type === 'compact' || type === 'enqueue') return undefined
    const current = job.lease?.fence ?? job.lastClaim?.fence ?? '0.1.0000000000000000'
    const stale = slot.fences[intent.n % Math.max(1, slot.fences.length)] ?? current
    const fence = intent.twist === 'stale fence' ? stale : current
    const fresh = `${this.tenant}/${this.#serial}`
    const requestId = intent.twist === 'reuse' ? (past?.words.command.requestId ?? fresh) : fresh
    return wordsFor(type, job, intent.n, { requestId, fence, serial: this.#serial, at: this.#now })
  }

  #insert(slot: Slot, { n }: Intent): Plan {
    const input = n % 3 === 0 ? undefined : JSON.stringify({ n })
    const ref = input === undefined ? undefined : { name: 'input', size: input.length, digest: undefined }
    const command: Command = {
      type: 'enqueue',
      actor: 'producer',
      requestId: `${this.tenant}/${this.#serial}`,
      id: this.#newId(),
      kind: this.#kind(slot),
      priority: n % 10,
      input: ref,
      dedupeKey: n % 4 === 0 ? undefined : 'the key',
      labels: { n: String(n) },
      ...(n % 5 === 0 && { runAt: this.#now + n * 50 }),
    }
    const decision = decide(undefined, command, this.#now)
    holds(decision.kind === 'accepted', 'an enqueue is accepted')
    const key = keyOf(decision.job)
    const item: NewJob = {
      job: decision.job,
      event: decision.events[0] as Event,
      input,
      keys: key === undefined ? [] : [key],
    }
    return { kind: 'insert', item, learn: (answer, now) => this.#inserted(slot, item, answer, now) }
  }

  #inserted(slot: Slot, { job, event, input, keys }: NewJob, answer: Inserted, now: Time): void {
    const holder = keys.length === 0 ? undefined : this.#holderAt(now)
    if (holder !== undefined) {
      const other = this.slots.find((each) => each.job?.id === holder)
      // Of one that was stripped nothing is there, and it may have had an input all the same.
      const isAsLong = other?.job?.spec.input?.size === job.spec.input?.size
      const sameInput = isAsLong && other?.bodies.get('input') === input
      const expected = { status: 'exists', by: 'dedupe', job: other?.job, sameInput }
      return same(answer, expected, 'the holder of the key is the answer')
    }
    same(answer, { status: 'inserted' }, 'a new job is inserted')
    slot.learn(job, [event], input === undefined ? [] : [{ name: 'input', text: input }])
    const [key] = keys
    if (key !== undefined) this.#holder = { id: job.id, until: key.until }
  }

  /** An enqueue whose answer was lost. */
  #insertAgain(slot: Slot, job: Job): Plan {
    const item: NewJob = { job, event: slot.events[0] as Event, input: slot.bodies.get('input'), keys: [] }
    const expected = { status: 'exists', by: 'id', job, sameInput: true }
    return { kind: 'insert', item, learn: (answer) => same(answer, expected, 'a repeated insert gives the job') }
  }

  #claim(slot: Slot, job: Job): Plan {
    const learn = (grant: Grant, claimed: ClaimedJob | undefined, now: Time) => {
      const { actor, requestId, workerId, nonce } = grant
      const decision = decide(job, { type: 'claim', actor, requestId, workerId, nonce }, now)
      if (decision.kind !== 'accepted') return same(claimed, undefined, 'what core refuses is not claimed')
      this.#now = Math.max(this.#now, now)
      slot.learn(decision.job, decision.events, [])
      const { rev, attempt, lease } = decision.job
      const input = slot.bodies.get('input')
      const expected = { before: job, rev, attempt, leaseExpiresAt: lease?.expiresAt, at: now, input }
      same(claimed, expected, 'the claim is what core makes of it')
    }
    return { kind: 'claim', job, learn }
  }

  #beat(slot: Slot, job: Job, command: Extract<Word, { type: 'heartbeat' }>): Plan {
    const { requestId, fence } = command
    const learn = (answer: Beaten, now: Time) => {
      const owner = job.owner?.workerId ?? 'nobody'
      // When the store did it: no later than it said so.
      const at =
        answer.status === 'renewed' ? leaseRenewedAt(answer.leaseExpiresAt, leaseWindowMs(this.program.policy)) : now
      holds(at <= now && at >= job.updatedAt, 'a lease is renewed from now on')
      const decision = decide(job, { type: 'heartbeat', actor: `worker:${owner}`, requestId, fence }, at)
      if (decision.kind !== 'accepted') return same(answer, { status: 'lost' }, 'what core refuses is lost')
      this.#now = Math.max(this.#now, now)
      if (!isMereRenewal(job)) return same(answer, { status: 'careful' }, 'what says more than that is core’s')
      slot.learn(decision.job, decision.events, [])
      const { rev, lease } = decision.job
      const expected = {
        status: 'renewed',
        rev,
        beats: lease?.beats,
        leaseExpiresAt: lease?.expiresAt,
        replayed: false,
      }
      same(answer, expected, 'the heartbeat is what core makes of it')
    }
    return { kind: 'beat', beat: { id: job.id, fence, requestId }, learn }
  }

  #tick(slot: Slot, job: Job): Plan {
    const decision = decideTick(job, this.#now, { actor: 'system', requestId: `${this.tenant}/${this.#serial}` })
    if (decision === undefined) return NOTHING
    holds(decision.kind === 'accepted', 'what is due can be done')
    return this.#move(slot, job, decision, [], undefined)
  }

  #decide(slot: Slot, job: Job, words: Words, intent: Intent, storeNow: Time, caused: readonly Event[]): Plan {
    const { command } = words
    const decision = decide(job, command, this.#now, caused)
    if (intent.twist === 'repeat' && slot.accepted.some((past) => past.words === words)) {
      this.#expectReplayed(slot, words, decision)
    }
    if (decision.kind === 'replayed') return NOTHING
    if (decision.kind === 'refused')
      return decision.annotation === undefined ? NOTHING : this.#annotate(slot, decision.annotation)
    if (intent.twist === 'stale rev') return this.#stale(slot, command)
    const expiresAt = speaksAsOwner(command) ? job.lease?.expiresAt : undefined
    if (intent.twist === 'late') return this.#late(job, decision, words.bodies, storeNow)
    const notAfter = expiresAt !== undefined && expiresAt > storeNow + MARGIN_MS ? expiresAt : undefined
    return this.#move(slot, job, decision, words.bodies, notAfter, words)
  }

  #expectReplayed(slot: Slot, words: Words, decision: Decision): void {
    const past = slot.accepted.find((each) => each.words === words)
    holds(
      decision.kind === 'replayed',
      `a repeated ${words.command.type} is answered as before, not ${JSON.stringify(decision)}`,
    )
    same(decision.receipt.rev, past?.rev, 'with the revision it led to')
  }

  #annotate(slot: Slot, annotation: Parameters<Slot['note']>[0]): Plan {
    const learn = (verdict: Verdict) => {
      same(verdict, { status: 'applied' }, 'a late word is noted')
      slot.note(annotation)
    }
    return { kind: 'commit', change: { kind: 'annotate', annotation }, learn }
  }

  /** Somebody decides on a record that has moved on meanwhile. */
  #stale({ previous }: Slot, command: Command): Plan {
    if (previous === undefined) return NOTHING
    const decision = decide(previous, command, this.#now)
    if (decision.kind !== 'accepted') return NOTHING
    const change = moveOf(previous, decision, [], undefined)
    return { kind: 'commit', change, learn: (verdict) => same(verdict, { status: 'conflict' }, 'it has moved on') }
  }

  #late(job: Job, decision: Accepted, bodies: readonly Body[], storeNow: Time): Plan {
    const change = moveOf(job, decision, bodies, storeNow)
    return { kind: 'commit', change, learn: (verdict) => same(verdict, { status: 'late' }, 'it came too late') }
  }

  #move(
    slot: Slot,
    job: Job,
    decision: Accepted,
    bodies: readonly Body[],
    notAfter: Time | undefined,
    words?: Words,
  ): Plan {
    const spawn = this.#successor(slot, decision)
    const change = { ...moveOf(job, decision, bodies, notAfter), spawn }
    const learn = (verdict: Verdict, now: Time) => {
      const [wanted] = change.take
      const holder = wanted === undefined ? undefined : this.#holderAt(now)
      if (wanted !== undefined && holder !== undefined && holder !== job.id) {
        return same(verdict, { status: 'taken', key: wanted, holder }, 'the key is another’s')
      }
      same(verdict, { status: 'applied' }, `${decision.events.at(-1)?.type} is applied`)
      slot.learn(decision.job, decision.events, change.bodies)
      if (words !== undefined && words.command.type !== 'claim' && words.command.type !== 'heartbeat') {
        slot.accepted.push({ words, rev: decision.job.rev })
      }
      if (spawn !== undefined) this.successors.push(spawn)
      if (change.give.length > 0 && this.#holder?.id === job.id) this.#holder = undefined
      if (wanted !== undefined) this.#holder = { id: job.id, until: wanted.until }
    }
    return { kind: 'commit', change, learn }
  }

  #successor(slot: Slot, { successor }: Accepted): NewJob | undefined {
    if (successor === undefined) return undefined
    // In a lane of its own, where this program's claims leave it alone.
    const kind = { ...successor.kind, queue: 'successors' }
    const born = decide(undefined, { ...successor, kind, id: this.#newId() }, this.#now)
    holds(born.kind === 'accepted', 'a successor can be enqueued')
    const input = successor.input && slot.bodies.get(sourceOf(successor))
    return { job: born.job, event: born.events[0] as Event, input, keys: [] }
  }

  #compact(slot: Slot, job: Job): Plan {
    const compaction = compact(slot.events)
    if (compaction === undefined) return NOTHING
    const { event, replaces } = compaction
    const learn = (verdict: Verdict) => {
      same(verdict, { status: 'applied' }, 'an ended job’s log is compacted')
      slot.compacted(event, replaces)
    }
    return { kind: 'commit', change: { kind: 'compact', before: job, event, replaces }, learn }
  }

  #purge(slot: Slot, job: Job): Plan {
    const learn = (verdict: Verdict) => {
      same(verdict, { status: 'applied' }, 'an ended job is purged')
      this.purged = [...this.purged, job.id]
      if (this.#holder?.id === job.id) this.#holder = undefined
      slot.forget()
    }
    return { kind: 'commit', change: { kind: 'purge', before: job }, learn }
  }

  #holderAt(now: Time): JobId | undefined {
    const held = this.#holder
    return held === undefined || (held.until !== undefined && held.until <= now) ? undefined : held.id
  }
}

function moveOf(
  before: Job,
  decision: Accepted,
  bodies: readonly Body[],
  notAfter: Time | undefined,
): Extract<Change, { kind: 'move' }> {
  const { job: after, events } = decision
  const keys: { readonly give: readonly Key[]; readonly take: readonly Key[] } = keyChange(before, after)
  return {
    kind: 'move',
    before,
    after,
    events,
    bodies: [...bodies, ...decision.bodies],
    strips: isStripping(before, after) ? true : undefined,
    notAfter,
    ...keys,
    spawn: undefined,
  }
}
