/**
 * The workers of one process. A job that may have crashed its worker, and cannot run in a process of its own, runs while
 * none of them does or holds anything: should it crash again, it has nobody to take along. One such job at a time.
 */
export interface Member {
  /**
   * Takes on nothing and hands back what it holds, but for the job whose turn it is; resolves when nothing runs here and
   * everything that was said has been written.
   */
  rest(isItsTurn: boolean): Promise<void>
  goOn(): void
}

/** A job that is to run alone. */
export interface Recluse {
  readonly member: Member
  /** Whether it still is to, once its turn has come. */
  readonly isWaiting: () => boolean
  readonly run: () => Promise<void>
}

export class Crew {
  readonly #members = new Map<Member, PromiseWithResolvers<void>>()
  #turn: Promise<void> = Promise.resolve()
  /** The worker whose job runs alone, or is next to. */
  #alone: Recluse | undefined

  /** Adds a worker of this process, until disposed of. */
  join(member: Member): Disposable {
    const left = Promise.withResolvers<void>()
    this.#members.set(member, left)
    if (this.#alone !== undefined) void member.rest(false)
    return {
      [Symbol.dispose]: () => {
        this.#members.delete(member)
        left.resolve()
      },
    }
  }

  /** Resolves when it has run, alone, or does not want to any more. */
  async alone(recluse: Recluse): Promise<void> {
    this.#turn = this.#turn.then(() => this.#let(recluse))
    await this.#turn
  }

  async #let(recluse: Recluse): Promise<void> {
    if (!recluse.isWaiting()) return
    this.#alone = recluse
    const atRest = [...this.#members].map(([member, left]) =>
      Promise.race([member.rest(member === recluse.member), left.promise]),
    )
    await Promise.all(atRest)
    if (recluse.isWaiting()) await recluse.run()
    this.#alone = undefined
    for (const member of this.#members.keys()) member.goOn()
  }
}

/** The crew of this process. */
export const thisCrew = new Crew()
