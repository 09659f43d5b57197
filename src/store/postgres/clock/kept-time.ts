import type { Time } from '../../../core/job.ts'
import type { Statements } from '../connection/statements.ts'
import type { Run } from '../names/kinds.ts'

/** When what is due was last asked for, by any process, to half a second; and the store's clock. */
export interface LastDue {
  readonly now: Time
  readonly at: Time
  /** This process asked. */
  readonly isOwn: boolean
}

/** Keeps the store's time going whenever it is asked what is due, and tells when that was: a process that keeps it leaves the time there. */
export class KeptTime {
  readonly #run: Run
  readonly #statements: Pick<Statements, 'keepTime' | 'keptTime'>
  #ownAt: Time | undefined

  constructor(run: Run, statements: Pick<Statements, 'keepTime' | 'keptTime'>) {
    this.#run = run
    this.#statements = statements
  }

  async keep(): Promise<{ readonly now: Time; readonly setBackMs: number }> {
    const [row] = await this.#run(this.#statements.keepTime, [])
    const now = Number(row?.[0])
    if (Number(row?.[2]) === now) this.#ownAt = now
    return { now, setBackMs: Number(row?.[1]) }
  }

  async last(): Promise<LastDue> {
    const [row] = await this.#run(this.#statements.keptTime, [])
    const at = Number(row?.[1])
    return { now: Number(row?.[0]), at, isOwn: at === this.#ownAt }
  }
}
