/**
 * What an application wants to hear of in its own process. Hooks are told after the fact and cannot refuse; one that throws is
 * logged, one that never ends is waited for by nobody.
 */
import type { DeadLetter, Failure, Job } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { Observer } from '../engine/observer.ts'
import { isolating } from '../system/isolated.ts'
import type { Log } from '../system/log.ts'
import type { FailedAttempt } from '../worker/failed-attempt.ts'

export interface DeadLettered {
  /** The record as it now is. */
  readonly job: Job
  readonly deadLetter: DeadLetter
  readonly failure: Failure
  /** Where a person sees it; undefined without `dashboardUrl`. */
  readonly link: string | undefined
}

export interface Stalled {
  /** The record as it now is. */
  readonly job: Job
  readonly attempt: number
  /** Whose lease ended without a word. */
  readonly workerId: string | undefined
  /** Where a person sees it; undefined without `dashboardUrl`. */
  readonly link: string | undefined
}

export interface Hooks {
  /**
   * An attempt failed in a worker of this process: what the handler threw, and whether it will be tried again. Here is the
   * place for an error tracker.
   * @default nobody is told; the log has a warning with the stack either way
   */
  readonly onFailed?: ((failed: FailedAttempt) => Promise<void> | void) | undefined
  /**
   * A job became a dead letter by what this process did: its worker, its ticker, or a call. Not behind a gateway, whose process
   * does these things.
   * @default nobody is told
   */
  readonly onDeadLettered?: ((dead: DeadLettered) => Promise<void> | void) | undefined
  /**
   * The ticker of this process found a lease that had ended without a word from its worker. Not behind a gateway.
   * @default nobody is told
   */
  readonly onStalled?: ((stalled: Stalled) => Promise<void> | void) | undefined
}

/**
 * Of those that are told by the engine. Undefined where there are none: then nobody looks at events for them. `opened`
 * reads a record whose words are encrypted below it.
 */
export function hookObserver(
  { onDeadLettered, onStalled }: Hooks,
  log: Log,
  linkTo: (id: string) => string | undefined,
  opened: (job: Job) => Job,
): Observer | undefined {
  if (onDeadLettered === undefined && onStalled === undefined) return undefined
  const dead = harmlessHook('onDeadLettered', onDeadLettered, log)
  const stalled = harmlessHook('onStalled', onStalled, log)
  return {
    committed(events, before, after) {
      for (const event of events) {
        if (event.type === 'dead_lettered') {
          const { failure, deadLetter } = event.payload
          const job = opened(after)
          const about = { failure: job.error ?? failure, deadLetter: job.deadLetter ?? deadLetter }
          dead?.({ job, ...about, link: linkTo(job.id) })
        } else if (event.type === 'stalled') {
          const { attempt, jobId } = event
          stalled?.({ job: opened(after), attempt, workerId: before?.owner?.workerId, link: linkTo(jobId) })
        }
      }
    },
    conflicted: () => {},
    contended: () => {},
    renewed: () => {},
  }
}

/** The same hook for whoever must not be harmed by it. */
export function harmlessHook<T>(
  name: keyof Hooks,
  hook: ((about: T) => Promise<void> | void) | undefined,
  log: Log,
): ((about: T) => void) | undefined {
  if (hook === undefined) return undefined
  return isolating(hook, (thrown) => log.error('a hook failed', { hook: name, reason: reasonOf(thrown) }))
}
