import { CHILD_ENDED, childEnded } from '../core/child.ts'
import type { Job } from '../core/job.ts'
import type { JobPage, JobQuery } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Engine, Word } from './engine.ts'

/**
 * Tells parents of the ends of their children: at once by the process that ended one; and, should that process have
 * died in between, by whoever looks after the parents that wait. Told twice is told once: the request id says so.
 */
export const CHILDREN_DEFAULTS = {
  everyMs: 5_000,
  /** Waiting jobs looked at in a round. However many are parked, a round costs the same. */
  batch: 200,
} as const

export interface ChildrenOptions {
  readonly everyMs?: number | undefined
  readonly batch?: number | undefined
}

export interface ChildrenParts {
  readonly engine: Pick<Engine, 'find' | 'load' | 'settle'>
  readonly timers: Timers
  readonly log: Log
}

export function children({ engine, timers, log }: ChildrenParts, options: ChildrenOptions = {}): Service {
  const everyMs = options.everyMs ?? CHILDREN_DEFAULTS.everyMs
  const limit = options.batch ?? CHILDREN_DEFAULTS.batch
  let cursor: string | undefined
  const round = async () => {
    const query: JobQuery = { states: ['waiting', 'parked'], order: 'oldest', limit, cursor }
    const page: JobPage = await engine.find(query)
    cursor = page.cursor
    const awaited = page.jobs.flatMap(({ wait, spec }) =>
      wait?.name === CHILD_ENDED && wait.key !== undefined ? [{ id: wait.key, tenant: spec.kind.tenant }] : [],
    )
    if (awaited.length === 0) return
    const { items } = await engine.load(awaited)
    const words = wordsToParents(items.flatMap((item) => (item === undefined ? [] : [item.job])))
    if (words.length > 0) await engine.settle(words)
  }
  return service({ name: 'children', everyMs, timers, log, round })
}

/** What the parents of those that have ended are to hear. */
export function wordsToParents(jobs: readonly Job[]): readonly Word[] {
  return jobs.flatMap((job): readonly Word[] => {
    const told = childEnded(job)
    return told === undefined ? [] : [{ id: told.parentId, tenant: job.spec.kind.tenant, command: told.signal }]
  })
}

/**
 * The ends of children that this process committed and has yet to tell. Nobody waits for it but `idle`.
 *
 * Invariant: `#telling` is present exactly while something is on its way.
 */
export class ChildrensEnds {
  readonly #settle: (words: readonly Word[]) => Promise<unknown>
  #untold: Job[] = []
  #telling: Promise<void> | undefined

  constructor(settle: (words: readonly Word[]) => Promise<unknown>) {
    this.#settle = settle
  }

  ended(job: Job): void {
    this.#untold.push(job)
    this.#telling ??= this.#tell()
  }

  async idle(): Promise<void> {
    await this.#telling
  }

  async #tell(): Promise<void> {
    // Not before the commit that is being answered has been: the parent's turn comes after it.
    await Promise.resolve()
    while (this.#untold.length > 0) {
      const words = wordsToParents(this.#untold)
      this.#untold = []
      // What cannot be told now is told by whoever looks after the waiting parents.
      await this.#settle(words).catch(() => {})
    }
    this.#telling = undefined
  }
}
