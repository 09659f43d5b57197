/** The other end of an actor: one per producer, worker or gateway. */
import type { Crowd, Purpose, Role } from './contender.ts'
import type { ContenderName } from './contenders.ts'
import { type Line, toOwnProcess, toProcess } from './line.ts'
import type { Answers, Order, Usage } from './orders.ts'
import { within } from './within.ts'

const LEAVE_WITHIN_MS = 5_000

/** Where nothing is measured, and it is only to be seen that everything runs, all play in one process. */
const IN_ONE_PROCESS = process.env['PAWL_BENCH_SMOKE'] === '1'

export class Actor implements AsyncDisposable {
  readonly #line: Line

  constructor(contender: ContenderName) {
    this.#line = IN_ONE_PROCESS ? toOwnProcess(contender) : toProcess(contender)
  }

  /** Ready to produce or to work. */
  static async connected(
    contender: ContenderName,
    url: string,
    role: Role,
    purpose: Purpose = 'throughput',
    crowd?: Crowd,
  ): Promise<Actor> {
    const actor = new Actor(contender)
    await actor.ask({ op: 'connect', url, role, purpose, crowd })
    return actor
  }

  /** Handlers it has started so far. */
  get started(): number {
    return this.#line.started()
  }

  ask<O extends Order>(order: O): Promise<Answers[O['op']]> {
    return this.#line.ask(order) as Promise<Answers[O['op']]>
  }

  mark(): Promise<undefined> {
    return this.ask({ op: 'mark' })
  }

  usage(): Promise<Usage> {
    return this.ask({ op: 'usage' })
  }

  /** Politely, then by its process id. */
  async [Symbol.asyncDispose](): Promise<void> {
    const asked = this.ask({ op: 'stop' }).catch(() => {})
    await within(LEAVE_WITHIN_MS, asked)
    await this.#line.end(LEAVE_WITHIN_MS)
  }
}
