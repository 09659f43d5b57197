/**
 * Where the claims of a store wait that found nothing, for stores that have nothing better to wait on than hints. A job
 * that comes is asked for once, by the first in line who wants its queue, and once more by the next only if the first
 * got all it wanted: however many wait and however many lanes each of them named, a hint costs one look at one queue.
 *
 * Modes of the desk:
 *   idle     nobody waits: no timer, no subscription, no look.
 *   waiting  hints are listened to, and one timer is set for the next look that nobody hinted at: a delay may be over, a
 *            hint may have been lost. Each lane is looked at once in such a round, for the first in line who is due.
 *   closed   nobody may wait any more.
 *
 * Modes of one who waits, with one look under way at a time:
 *   in line  looked for when its queue is hinted at, and by itself after pauses that double up to its `pollMs`; where the store
 *            knows when there may be something, once soon, and then at that time.
 *   leaving  its time is over, or its signal has aborted: it waits for the look under way, and looks for the last time, at
 *            its lanes or, aborted, at none, which finds what it was given and nobody has heard of.
 *   gone     answered, once.
 *
 * Invariant: what a look has claimed is the answer of the one it looked for. Exits: jobs were found, the last look was
 * answered, a look failed, the store was closed.
 */
import { servedBy } from '../../core/needs.ts'
import type { Clock } from '../../system/clock.ts'
import type { Timers } from '../../system/timers.ts'
import type { ClaimAnswer, Grant, Hint, Lane } from '../store.ts'

export interface DeskParts {
  readonly clock: Pick<Clock, 'monotonicMs'>
  readonly timers: Timers
  /** Claims what there is in some lanes of a grant, without waiting. `last`: it is not looked for again. */
  readonly look: (grant: Grant, lanes: readonly Lane[], last: boolean) => Promise<Look>
  /** The store's own hints. */
  readonly subscribe: (wake: (hint: Hint) => void) => Promise<AsyncDisposable>
}

export interface Look extends ClaimAnswer {
  /** For how long nobody need look by himself. Absent: the store cannot tell. */
  readonly idleMs?: number | undefined
}

/** The first pause: what was hinted at may be about to come. */
const SOON_MS = 50
const POLL_MS = 1_000

/** A lane with its names, made once for each: workers ask for the same ones again and again. */
interface Wanted {
  readonly lane: Lane
  readonly name: string
  readonly queue: string
}

interface Waiter {
  readonly grant: Grant
  readonly wants: readonly Wanted[]
  readonly queues: ReadonlySet<string>
  /** What the waiter serves, as one text: waiters with the same text can stand in for each other. */
  readonly serves: string
  readonly sinceMs: number
  readonly settle: (answer: ClaimAnswer | Error) => void
  mode: 'in line' | 'leaving' | 'gone'
  /** The look under way, if there is one. It resolves, whatever comes of it. */
  looking: Promise<unknown> | undefined
  /** When it looks by itself, and the pause before that. */
  lookAtMs: number
  pauseMs: number
  idleMs: number | undefined
  /** A look met others who were claiming. */
  contended: boolean
}

export class ClaimDesk {
  readonly #parts: DeskParts
  /** Waiters in the order in which they came. */
  readonly #line = new Set<Waiter>()
  readonly #byQueue = new Map<string, Set<Waiter>>()
  /** Queues that are being served, and whether something has come for them since. */
  readonly #serving = new Map<string, { again: boolean }>()
  /** Present exactly while a claim waits. */
  #subscription: Promise<AsyncDisposable | undefined> | undefined
  /** Present while a look is to come that nobody hinted at, and when that is. */
  #timer: Disposable | undefined
  #dueMs = Number.POSITIVE_INFINITY
  #closed = false

  constructor(parts: DeskParts) {
    this.#parts = parts
  }

  /** Claims what is there, or what comes within the grant's time. */
  async claim(grant: Grant): Promise<ClaimAnswer> {
    if (this.#closed) throw new Error('pawl: the store is closed')
    const { promise, resolve, reject } = Promise.withResolvers<ClaimAnswer>()
    const wants = grant.lanes.map(wantedOf)
    const waiter: Waiter = {
      grant,
      wants,
      queues: new Set(wants.map(({ queue }) => queue)),
      serves: servesName(grant.serves),
      sinceMs: this.#parts.clock.monotonicMs(),
      settle: (answer) => {
        this.#leave(waiter)
        if (answer instanceof Error) reject(answer)
        else resolve(answer)
      },
      mode: 'in line',
      looking: undefined,
      lookAtMs: Number.POSITIVE_INFINITY,
      pauseMs: 0,
      idleMs: undefined,
      contended: false,
    }
    const aborted = () => void this.#end(waiter, [])
    const timer = this.#parts.timers.after(grant.waitMs ?? 0, () => void this.#end(waiter, grant.lanes))
    grant.signal?.addEventListener('abort', aborted)
    // Into the line first, then the first look: a job that comes while that is under way is heard of.
    this.#enter(waiter)
    if (grant.signal?.aborted === true) aborted()
    else void this.#look(waiter, wants)
    try {
      return await promise
    } finally {
      timer[Symbol.dispose]()
      grant.signal?.removeEventListener('abort', aborted)
    }
  }

  /** Looks for the claim with this request, which was given something. */
  async lookFor(requestId: string): Promise<void> {
    for (const waiter of this.#line) if (waiter.grant.requestId === requestId) await this.#look(waiter, waiter.wants)
  }

  /** Everybody leaves. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(Array.from(this.#line, (waiter) => this.#end(waiter, [])))
  }

  #hinted(hint: Hint): void {
    if (hint.about === 'queue') void this.#serve(queueName(hint), hint.needs)
    else if (hint.about === 'anything') void this.#round([...this.#line])
  }

  /** A hint said that a queue has work. Hints that come while its waiters are looked for are one more round, however many they are. */
  async #serve(queue: string, needs: string | undefined): Promise<void> {
    if (!this.#byQueue.has(queue)) return
    const name = needs === undefined ? queue : JSON.stringify([queue, needs])
    const serving = this.#serving.get(name)
    if (serving !== undefined) {
      serving.again = true
      return
    }
    const own = { again: true }
    this.#serving.set(name, own)
    while (own.again) {
      own.again = false
      const waiters = [...(this.#byQueue.get(queue) ?? [])]
      await this.#round(needs === undefined ? waiters : waiters.filter(servesIt(needs)), queue)
    }
    this.#serving.delete(name)
  }

  /**
   * Each lane, of this queue or of all, is looked at once, for the first waiter that wants it. Without a hint about what there
   * is, once for each set of needs that waiters serve: the first would not see jobs for another.
   */
  async #round(waiters: readonly Waiter[], queue?: string): Promise<void> {
    // Lanes with nothing left in them, by what those serve who looked.
    const emptyFor = new Map<string, Set<string>>()
    let idleMs: number | undefined
    for (const waiter of waiters) {
      const serves = queue === undefined ? waiter.serves : ''
      const empty = emptyFor.get(serves) ?? new Set()
      emptyFor.set(serves, empty)
      const wants = waiter.wants.filter(
        (each) => !empty.has(each.name) && (queue === undefined || each.queue === queue),
      )
      if (wants.length === 0) {
        // Others have looked at all its lanes: what they were told holds for it.
        if (queue === undefined) waiter.idleMs = idleMs
        continue
      }
      if (queue !== undefined) waiter.pauseMs = 0
      // A waiter that got all it wanted may have left something for the next.
      if ((await this.#look(waiter, wants)) === 'all') for (const { name } of wants) empty.add(name)
      if (waiter.idleMs !== undefined) idleMs = Math.min(idleMs ?? waiter.idleMs, waiter.idleMs)
    }
    // The one who looked may be gone when the delay is over that it was told of.
    for (const waiter of waiters) this.#lookWithin(waiter, idleMs)
  }

  #lookWithin(waiter: Waiter, ms = Number.POSITIVE_INFINITY): void {
    const lookAtMs = this.#parts.clock.monotonicMs() + ms
    if (waiter.mode !== 'in line' || waiter.lookAtMs <= lookAtMs) return
    waiter.lookAtMs = lookAtMs
    if (lookAtMs < this.#dueMs) this.#wakeAt(lookAtMs)
  }

  /** `enough`: as many as it wanted, hence perhaps not all there are. `all`: nothing is left in these lanes. */
  async #look(waiter: Waiter, wants: readonly Wanted[]): Promise<'enough' | 'all'> {
    while (waiter.looking !== undefined) await waiter.looking
    if (waiter.mode !== 'in line') return 'enough'
    const lanes = wants.map(({ lane }) => lane)
    const found = await this.#answered(waiter, lanes, false)
    if (waiter.mode === 'in line') this.#schedule(waiter)
    return found < waiter.grant.limit ? 'all' : 'enough'
  }

  /** One look for one waiter. Answers with the number of jobs found; with its limit where the look failed, which its own claim reports. */
  async #answered(waiter: Waiter, lanes: readonly Lane[], last: boolean): Promise<number> {
    const { grant, sinceMs } = waiter
    const waitedMs = this.#parts.clock.monotonicMs() - sinceMs
    const looking = this.#parts.look(grant, lanes, last)
    waiter.looking = looking
      .catch(() => {})
      .then(() => {
        waiter.looking = undefined
      })
    try {
      const { idleMs, ...answer } = await looking
      waiter.idleMs = idleMs
      waiter.contended ||= answer.contended === true
      const { contended } = waiter
      // A claim under a request id that was answered before never gets anything new, so it does not wait.
      if (last || answer.replayed || answer.jobs.length > 0) waiter.settle({ ...answer, waitedMs, contended })
      return answer.jobs.length
    } catch (error) {
      waiter.settle(error instanceof Error ? error : new Error(String(error)))
      return grant.limit
    }
  }

  /** Ends a wait, but not before the look under way is answered: the jobs it has claimed would be given to nobody. */
  async #end(waiter: Waiter, lanes: readonly Lane[]): Promise<void> {
    if (waiter.mode !== 'in line') return
    waiter.mode = 'leaving'
    while (waiter.looking !== undefined) await waiter.looking
    if (!isGone(waiter)) await this.#answered(waiter, lanes, true)
  }

  #enter(waiter: Waiter): void {
    this.#line.add(waiter)
    for (const queue of waiter.queues) {
      const line = this.#byQueue.get(queue) ?? new Set()
      this.#byQueue.set(queue, line.add(waiter))
    }
    // A store that cannot be listened to is polled by each waiter.
    this.#subscription ??= this.#parts.subscribe((hint) => this.#hinted(hint)).catch(() => undefined)
  }

  #leave(waiter: Waiter): void {
    waiter.mode = 'gone'
    this.#line.delete(waiter)
    for (const queue of waiter.queues) {
      const line = this.#byQueue.get(queue)
      line?.delete(waiter)
      if (line?.size === 0) this.#byQueue.delete(queue)
    }
    if (this.#line.size > 0) return
    this.#timer?.[Symbol.dispose]()
    this.#timer = undefined
    this.#dueMs = Number.POSITIVE_INFINITY
    const subscription = this.#subscription
    this.#subscription = undefined
    void subscription?.then((each) => each?.[Symbol.asyncDispose]())
  }

  #schedule(waiter: Waiter): void {
    const { pollMs = POLL_MS } = waiter.grant
    const { pauseMs, idleMs = Math.min(pollMs, pauseMs * 2) } = waiter
    waiter.pauseMs = pauseMs === 0 ? Math.min(pollMs, SOON_MS) : idleMs
    waiter.lookAtMs = this.#parts.clock.monotonicMs() + waiter.pauseMs
    if (waiter.lookAtMs < this.#dueMs) this.#wakeAt(waiter.lookAtMs)
  }

  #wakeAt(dueMs: number): void {
    const { clock, timers } = this.#parts
    this.#timer?.[Symbol.dispose]()
    this.#dueMs = dueMs
    this.#timer = timers.after(dueMs - clock.monotonicMs(), () => void this.#lookAround())
  }

  async #lookAround(): Promise<void> {
    this.#timer = undefined
    this.#dueMs = Number.POSITIVE_INFINITY
    const nowMs = this.#parts.clock.monotonicMs()
    const due = [...this.#line].filter(({ lookAtMs }) => lookAtMs <= nowMs)
    await this.#round(due)
    // A waiter whose lanes were found empty by another's look was not looked for: it is given its next time here.
    for (const waiter of due) if (waiter.mode === 'in line' && waiter.lookAtMs <= nowMs) this.#schedule(waiter)
    let nextMs = Number.POSITIVE_INFINITY
    for (const { lookAtMs } of this.#line) nextMs = Math.min(nextMs, lookAtMs)
    if (nextMs < this.#dueMs) this.#wakeAt(nextMs)
  }
}

const isGone = ({ mode }: Waiter): boolean => mode === 'gone'

const servesIt = (needs: string) => {
  // Many wait with the same words, and are asked one after the other.
  const answers = new Map<string, boolean>()
  return ({ grant, serves }: Waiter): boolean => {
    const isServed = answers.get(serves) ?? servedBy(grant.serves)(needs)
    answers.set(serves, isServed)
    return isServed
  }
}

const servesNames = new WeakMap<readonly string[], string>()

function servesName(serves: readonly string[] | undefined): string {
  if (serves === undefined) return ''
  const name = servesNames.get(serves) ?? JSON.stringify(serves)
  servesNames.set(serves, name)
  return name
}

const named = new WeakMap<Lane, Wanted>()

function wantedOf(lane: Lane): Wanted {
  const known = named.get(lane)
  if (known !== undefined) return known
  const { tenant, queue, priority } = lane
  const wanted = { lane, name: JSON.stringify([tenant, queue, priority]), queue: queueName(lane) }
  named.set(lane, wanted)
  return wanted
}

const queueName = ({ tenant, queue }: { readonly tenant: string; readonly queue: string }): string =>
  JSON.stringify([tenant, queue])
