import type { Judged, Present } from '../core/admission.ts'
import type { Job } from '../core/job.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Round } from './judging.ts'

/**
 * The scheduler of document 002: asks the store for what waits to be judged, and a judge for its word. Any number of them may run at
 * once: each job is handed to one, and comes again if nothing came of it. A job that nobody may judge now waits.
 */
export const ADMISSION_DEFAULTS = {
  everyMs: 250,
  batch: 200,
  /** How often all that is pending is looked through for what nobody was handed. */
  forgottenEveryMs: 300_000,
} as const

export interface Judge {
  /** Whether it can tell now: a policy that is broken, or being written, judges nobody. */
  look(): Promise<boolean> | boolean
  /**
   * Undefined where nobody may judge it now; throws where it cannot tell. Either way the job waits, and is handed out again, after what
   * `leftMs` says: what would take longer than that is better not begun, or somebody else begins it, too.
   */
  judge(job: Job, whoIsThere: WhoIsThere, leftMs: () => number): Promise<Judged | undefined> | Judged | undefined
}

/** The live workers of a tenant; undefined where that cannot be told. */
export type WhoIsThere = (tenant: string) => Promise<readonly Present[] | undefined>

export interface AdmissionParts {
  /** Begins with up to so many that wait, and commits what has its word. */
  readonly admit: (judge: Judge, limit: number) => Promise<Pick<Round, 'due' | 'underWay'>>
  readonly judge: Judge
  readonly timers: Timers
  readonly log: Log
}

export function admission({ admit, judge, timers, log }: AdmissionParts): Service {
  const { everyMs, batch } = ADMISSION_DEFAULTS
  const round = async (signal: AbortSignal) => {
    // A full batch says that there is more. The judge is looked at before each: another policy may hold by now. Nothing is left under way.
    for (let more = true; more; ) {
      const may = !signal.aborted && (await judge.look())
      const { due, underWay } = await admit(judge, may ? batch : 0)
      more = underWay > 0 || (may && due >= batch)
    }
  }
  return service({ name: 'admission', everyMs, timers, log, round })
}

/**
 * What is pending and was handed to nobody: it was written by code from before jobs were handed to schedulers. Looked for when a scheduler
 * starts, and now and then, since such code may run beside it for a while; of two schedulers that judge the same job one is heard.
 */
export function forgotten({
  admitForgotten,
  judge,
  timers,
  log,
}: Pick<AdmissionParts, 'judge' | 'timers' | 'log'> & {
  readonly admitForgotten: (
    judge: Judge,
    cursor: string | undefined,
  ) => Promise<{ readonly cursor: string | undefined }>
}): Service {
  const round = async (signal: AbortSignal) => {
    let cursor: string | undefined
    do {
      if (signal.aborted || !(await judge.look())) return
      cursor = (await admitForgotten(judge, cursor)).cursor
    } while (cursor !== undefined)
  }
  return service({ name: 'forgotten', everyMs: ADMISSION_DEFAULTS.forgottenEveryMs, timers, log, round })
}
