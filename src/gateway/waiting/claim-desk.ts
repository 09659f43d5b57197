/**
 * Where claims that found nothing wait. A job that comes is asked for once, by the first in line who wants its queue,
 * and once more by the next only if the first got something: however many wait and however many lanes each of them
 * named, a hint costs a question about one queue, and looking without a hint one about each lane.
 *
 * Modes: idle (nobody waits: no timer, no question) and waiting (a round of looking every second, for what no hint
 * tells: a delay that is over, a hint that was lost). A poll is asked for by one question at a time; it leaves with
 * what it was given, when its time is over, or when its caller has gone.
 */
import type { Assignment } from '../../engine/engine.ts'
import type { Hint, Lane } from '../../store/store.ts'
import type { Log } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'

export interface DeskOptions {
  readonly timers: Timers
  readonly log: Log
}

export interface Poll {
  readonly lanes: readonly Lane[]
  /** As many as are wanted. */
  readonly limit: number
  /** Asks for some of them; the nth time. */
  ask(lanes: readonly Lane[], n: number): Promise<readonly Assignment[]>
  readonly waitMs: number
  readonly signal: AbortSignal
  /** Objects where the token has been revoked meanwhile: then nothing is asked for. */
  stillWelcome(): Promise<void>
}

/** Hints may be lost, and no hint tells that a delay is over. */
const LOOK_EVERY_MS = 1_000

/** A lane with its names, made once: they are looked up in every round. */
interface Wanted {
  readonly lane: Lane
  readonly name: string
  readonly queue: string
}

interface Waiting {
  readonly poll: Poll
  readonly wants: readonly Wanted[]
  readonly queues: ReadonlySet<string>
  readonly settle: (answer: readonly Assignment[] | Error) => void
  /** The question under way, if there is one. */
  asking: Promise<unknown> | undefined
  asked: number
  left: boolean
}

export class ClaimDesk {
  readonly #options: DeskOptions
  /** In the order in which they came. */
  readonly #line = new Set<Waiting>()
  readonly #byQueue = new Map<string, Set<Waiting>>()
  /** Queues that are being served, and whether something has come for them since. */
  readonly #serving = new Map<string, { again: boolean }>()
  readonly #looking: Service

  constructor(options: DeskOptions) {
    this.#options = options
    const { timers, log } = options
    this.#looking = service({ name: 'claim desk', everyMs: LOOK_EVERY_MS, timers, log, round: () => this.look() })
  }

  hinted(hint: Hint): void {
    if (hint.about === 'queue') void this.#serve(queueOf(hint))
    else if (hint.about === 'anything') this.#looking.wake()
  }

  /** What is there, or comes within the time; nothing otherwise. */
  async wait(poll: Poll): Promise<readonly Assignment[]> {
    const { promise, resolve, reject } = Promise.withResolvers<readonly Assignment[]>()
    const wants = poll.lanes.map((lane) => ({ lane, name: laneOf(lane), queue: queueOf(lane) }))
    const waiting: Waiting = {
      poll,
      wants,
      queues: new Set(wants.map(({ queue }) => queue)),
      asking: undefined,
      asked: 0,
      left: false,
      settle: (answer) => {
        this.#leave(waiting)
        if (answer instanceof Error) reject(answer)
        else resolve(answer)
      },
    }
    const over = () => void this.#give(waiting, [])
    const timer = this.#options.timers.after(poll.waitMs, over)
    poll.signal.addEventListener('abort', over)
    // In line first, then the first question: what comes while it is being answered is heard of.
    this.#enter(waiting)
    void this.#ask(waiting, wants)
    try {
      return await promise
    } finally {
      timer[Symbol.dispose]()
      poll.signal.removeEventListener('abort', over)
    }
  }

  /** A round of looking: each lane is asked for once, by the first in line who wants it. */
  async look(): Promise<void> {
    const asked = new Set<string>()
    for (const waiting of [...this.#line]) {
      const wants = waiting.wants.filter(({ name }) => !asked.has(name))
      if (wants.length === 0) continue
      for (const { name } of wants) asked.add(name)
      // Whoever got all it wanted may have left something for the next.
      if ((await this.#ask(waiting, wants)) === 'enough') for (const { name } of wants) asked.delete(name)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#looking[Symbol.asyncDispose]()
    await Promise.all([...this.#line].map((waiting) => this.#give(waiting, [])))
  }

  /** Somebody said that there is something: asked for until it is gone or nobody waits. */
  async #serve(queue: string): Promise<void> {
    if (!this.#byQueue.has(queue)) return
    const serving = this.#serving.get(queue)
    if (serving !== undefined) {
      serving.again = true
      return
    }
    const own = { again: true }
    this.#serving.set(queue, own)
    try {
      while (own.again) {
        own.again = false
        await this.#serveOnce(queue)
      }
    } finally {
      this.#serving.delete(queue)
    }
  }

  async #serveOnce(queue: string): Promise<void> {
    const empty = new Set<string>()
    for (const waiting of [...(this.#byQueue.get(queue) ?? [])]) {
      const wants = waiting.wants.filter((each) => each.queue === queue && !empty.has(each.name))
      if (wants.length === 0) continue
      if ((await this.#ask(waiting, wants)) === 'enough') continue
      for (const { name } of wants) empty.add(name)
    }
  }

  /** `enough`: as many as it wanted, hence perhaps not all there are. `all`: nothing is left in these lanes. */
  async #ask(waiting: Waiting, wants: readonly Wanted[]): Promise<'enough' | 'all'> {
    while (waiting.asking !== undefined) await waiting.asking
    if (waiting.left) return 'enough'
    const asking = this.#claim(waiting, wants)
    waiting.asking = asking.finally(() => {
      waiting.asking = undefined
    })
    return await asking
  }

  async #claim(waiting: Waiting, wants: readonly Wanted[]): Promise<'enough' | 'all'> {
    const { poll } = waiting
    try {
      await poll.stillWelcome()
      if (poll.signal.aborted) return 'enough'
      waiting.asked += 1
      const found = await poll.ask(
        wants.map(({ lane }) => lane),
        waiting.asked,
      )
      if (found.length > 0) waiting.settle(found)
      return found.length < poll.limit ? 'all' : 'enough'
    } catch (error) {
      waiting.settle(error instanceof Error ? error : new Error(String(error)))
      return 'enough'
    }
  }

  /** Not before the question under way is answered: what it was given would be given to nobody. */
  async #give(waiting: Waiting, answer: readonly Assignment[]): Promise<void> {
    while (waiting.asking !== undefined) await waiting.asking
    if (!waiting.left) waiting.settle(answer)
  }

  #enter(waiting: Waiting): void {
    this.#line.add(waiting)
    for (const queue of waiting.queues) {
      const line = this.#byQueue.get(queue) ?? new Set()
      this.#byQueue.set(queue, line.add(waiting))
    }
    this.#looking.start()
  }

  #leave(waiting: Waiting): void {
    waiting.left = true
    this.#line.delete(waiting)
    for (const queue of waiting.queues) {
      const line = this.#byQueue.get(queue)
      line?.delete(waiting)
      if (line?.size === 0) this.#byQueue.delete(queue)
    }
    if (this.#line.size === 0) void this.#looking.stop()
  }
}

const queueOf = ({ tenant, queue }: { readonly tenant: string; readonly queue: string }): string =>
  JSON.stringify([tenant, queue])
const laneOf = ({ tenant, queue, priority }: Lane): string => JSON.stringify([tenant, queue, priority])
