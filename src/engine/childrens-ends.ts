/**
 * Tells parents of the ends of their children, as soon as this process knows of one: because it wrote it, because it saw
 * a transaction that did, or because a parent begins to wait for a child that has long ended. What cannot be told because
 * the store is away or others speak to the parent is told again. What is lost with the process is found by `children`.
 *
 * Invariant: `#telling` is present exactly while something is on its way; `#later` has what has yet to begin.
 */
import { CHILD_ENDED } from '../core/child.ts'
import type { Job, JobId } from '../core/job.ts'
import type { Store } from '../store/store.ts'
import type { Timers } from '../system/timers.ts'
import { wordsToParents } from './children.ts'
import type { Answer, Word } from './engine.ts'
import type { Family } from './execute.ts'

export interface ChildrensEndsParts {
  readonly store: Pick<Store, 'load'>
  readonly settle: (words: readonly Word[]) => Promise<readonly Answer[]>
  readonly timers: Timers
}

const AGAIN_MS = 500
/** When to look whether a caller's transaction has been committed; one that takes longer is noticed by `children.ts`. */
const COMMITTED_MS = [25, 250, 2_500] as const

export class ChildrensEnds implements Family, AsyncDisposable {
  readonly #parts: ChildrensEndsParts
  #unsent: Word[] = []
  #telling: Promise<void> | undefined
  readonly #later = new Set<Disposable>()
  #closed = false

  constructor(parts: ChildrensEndsParts) {
    this.#parts = parts
  }

  ended(child: Job, unsure: boolean): void {
    if (!unsure) this.#tell(wordsToParents([child]))
    else for (const ms of COMMITTED_MS) this.#after(ms, () => void this.#look(child.id, child.spec.kind.tenant))
  }

  waits({ wait, spec }: Job): void {
    if (wait?.name === CHILD_ENDED && wait.key !== undefined) void this.#look(wait.key, spec.kind.tenant)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const timer of this.#later) timer[Symbol.dispose]()
    this.#later.clear()
    await this.#telling
  }

  /** Whether it has ended by now, as the store has it. */
  async #look(id: JobId, tenant: string): Promise<void> {
    const answer = await this.#parts.store.load([{ id, tenant }]).catch(() => undefined)
    const child = answer?.items[0]?.job
    if (child !== undefined) this.#tell(wordsToParents([child]))
  }

  #tell(words: readonly Word[]): void {
    if (words.length === 0 || this.#closed) return
    this.#unsent.push(...words)
    this.#telling ??= this.#tellAll()
  }

  async #tellAll(): Promise<void> {
    // After the commit under way has been answered: the parent's turn comes after the child's.
    await Promise.resolve()
    while (this.#unsent.length > 0) {
      const words = this.#unsent
      this.#unsent = []
      const answers = await this.#parts.settle(words).catch(() => undefined)
      const unheard = words.filter((_, i) => isUnheard(answers?.[i]))
      if (unheard.length > 0) this.#after(AGAIN_MS, () => this.#tell(unheard))
    }
    this.#telling = undefined
  }

  #after(ms: number, act: () => void): void {
    if (this.#closed) return
    const timer = this.#parts.timers.after(ms, () => {
      this.#later.delete(timer)
      act()
    })
    this.#later.add(timer)
  }
}

/** Whatever else a parent answers it has heard: it is over, or its inbox is full, and it will be told once it waits. */
const isUnheard = (answer: Answer | undefined): boolean =>
  answer === undefined || (!answer.ok && answer.refusal.code === 'OVERLOADED')
