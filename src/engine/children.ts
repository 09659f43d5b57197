import { CHILD_ENDED, childEnded } from '../core/child.ts'
import { FIELDS } from '../core/invariants.ts'
import type { Job } from '../core/job.ts'
import type { JobPage, JobQuery } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Duty } from './duty.ts'
import type { Engine, Word } from './engine.ts'

/**
 * Looks after the parents that wait for children, page by page: the process that should have told one (`childrens-ends.ts`) may
 * have died in between. Told twice is told once: the request id says so.
 */
export const CHILDREN_DEFAULTS = {
  everyMs: 5_000,
  /** Waiting jobs looked at in a round. However many are parked, a round costs the same: 10,000 are gone through in a minute. */
  batch: 1_000,
} as const

export interface ChildrenOptions {
  readonly everyMs?: number | undefined
  readonly batch?: number | undefined
}

export interface ChildrenParts {
  readonly engine: Pick<Engine, 'find' | 'load' | 'settle'>
  readonly timers: Timers
  readonly log: Log
  /** The ticker's, which looks. Absent: this process is always on duty. */
  readonly duty?: Pick<Duty, 'isMine'> | undefined
}

export function children({ engine, timers, log, duty }: ChildrenParts, options: ChildrenOptions = {}): Service {
  const everyMs = options.everyMs ?? CHILDREN_DEFAULTS.everyMs
  const limit = options.batch ?? CHILDREN_DEFAULTS.batch
  let cursor: string | undefined
  const round = async () => {
    if (duty?.isMine === false) return
    const query: JobQuery = { states: FIELDS.wait, order: 'oldest', limit, cursor }
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

/** The signals for parents of those children that have ended. */
export function wordsToParents(jobs: readonly Job[]): readonly Word[] {
  return jobs.flatMap((job): readonly Word[] => {
    const end = childEnded(job)
    return end === undefined ? [] : [{ id: end.parentId, tenant: job.spec.kind.tenant, command: end.signal }]
  })
}
