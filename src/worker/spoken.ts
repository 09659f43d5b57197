/**
 * What a handler says and need not wait for. A run ends when all of it has been answered, so that a forgotten `await`
 * loses nothing; and what was refused while nobody listened is the run's failure, as it would have been had somebody. An
 * error that nobody has caught would end the process, and everything else that runs there.
 */
import { isNativeError } from 'node:util/types'
import { LeaseConflictError } from '../core/thrown.ts'
import { isOrderly } from './interrupts.ts'

export class Spoken {
  /** Promises without a listener so far that were not fulfilled. */
  readonly #unheard = new Set<Saying<unknown>>()

  /** The answer is the handler's to wait for. */
  say<T>(speak: () => Promise<T>): Promise<T> {
    const saying = new Saying(speak, () => this.#unheard.delete(saying))
    this.#unheard.add(saying)
    return saying
  }

  /** There is a promise without a listener. */
  get isUnheard(): boolean {
    return this.#unheard.size > 0
  }

  /** Resolves when nothing is left that nobody listens to. What was refused of it is told. */
  async heardOut(refused: (error: unknown) => void): Promise<void> {
    for (const saying of this.#unheard) {
      const refusal = await saying.failed
      if (this.#unheard.delete(saying) && refusal !== undefined) refused(refusal.error)
    }
  }
}

class Saying<T> extends Promise<T> {
  /** `then` of it returns a promise like any other, which is not counted. */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  /** Why it was refused; undefined where it went well, or came too late for a run that has let go. Is never rejected. */
  readonly failed: Promise<{ readonly error: unknown } | undefined>
  readonly #heard: () => void

  constructor(speak: () => Promise<T>, heard: () => void) {
    super((resolve, reject) => void speak().then(resolve, reject))
    this.#heard = heard
    this.failed = super.then(
      () => void heard(),
      (error: unknown) => (isOver(error) ? void heard() : { error }),
    )
  }

  // biome-ignore lint/suspicious/noThenProperty: whoever waits for a promise calls this
  override then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#heard()
    return super.then(fulfilled, rejected)
  }
}

/** The run has let go, or its lease is lost: no fault of what was said. */
const isOver = (error: unknown): boolean =>
  isOrderly(error) || (isNativeError(error) && error instanceof LeaseConflictError)
