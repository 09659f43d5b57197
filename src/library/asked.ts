/** What callers may say along with a command. */

import { BY_HAND } from '../core/command.ts'
import type { Duration } from '../core/duration.ts'
import type { Priority, PriorityName } from '../core/job.ts'
import type { CallOptions } from './call.ts'

export interface ReadOptions extends CallOptions {
  /**
   * Whose job it is.
   * @default that of `open`; else `default` for an id of your own, and anybody's for `pj_…`
   */
  readonly tenant?: string | undefined
}

export interface Asked extends ReadOptions {
  /**
   * Who asks, for the log.
   * @default that of `open`, else `operator`
   */
  readonly actor?: string | undefined
  /**
   * This call: repeated with it, the first answer comes back.
   * @default a new one
   */
  readonly requestId?: string | undefined
  /**
   * Refused with `REV_CONFLICT` unless the job is still at this revision.
   * @default any revision
   */
  readonly expectedRev?: number | undefined
}

export interface AdmitOptions extends Asked {
  /**
   * The rule that decided, for the log.
   * @default 'by_hand'
   */
  readonly rule?: string | undefined
  /**
   * Hash of the policies that the rule is among.
   * @default 'none'
   */
  readonly policyHash?: string | undefined
}

export interface DenyOptions extends AdmitOptions {
  /**
   * Why, for whoever asked for the job.
   * @default none
   */
  readonly reason?: string | undefined
}

export interface ApproveOptions extends Asked {
  /**
   * Why, for the log.
   * @default none
   */
  readonly reason?: string | undefined
  /**
   * The policy that asked, as it was looked at: `approval.policyHash` of the job.
   * @default that of the job as it is now, which nobody need have looked at
   */
  readonly policyHash?: string | undefined
  /**
   * What was asked about, as it was looked at: `approval.jobHash` of the job. Give it wherever a person decides: a duplicate may have brought
   * another input since, about which it is asked anew.
   * @default that of the job as it is now, which nobody need have looked at
   */
  readonly jobHash?: string | undefined
}

export interface CancelOptions extends Asked {
  /**
   * `soft` asks the handler to stop; `hard` ends the job now and fences its owner out.
   * @default 'soft'
   */
  readonly mode?: 'soft' | 'hard' | undefined
  /**
   * Why, for the log and for the handler.
   * @default none
   */
  readonly reason?: string | undefined
  /**
   * `drop`: what duplicates have brought meanwhile (`onDuplicate`) goes with it.
   * @default it is enqueued with the end
   */
  readonly next?: 'drop' | undefined
}

export interface SignalOptions extends Asked {
  /**
   * Only a wait with this correlation key is answered.
   * @default none: only a wait without one is
   */
  readonly key?: string | undefined
}

export interface RescheduleOptions extends Asked {
  /**
   * Run this much later.
   * @default 0
   */
  readonly delay?: Duration | undefined
  /**
   * Run then: a `Date`, or milliseconds since 1970.
   * @default now, unless only a priority is given
   */
  readonly runAt?: Date | number | undefined
  /**
   * As for `enqueue`.
   * @default the one it has
   */
  readonly priority?: PriorityName | Priority | undefined
}

export interface ReopenOptions extends Asked {
  /**
   * Why, for the log.
   * @default none
   */
  readonly reason?: string | undefined
  /**
   * Run then: a `Date`, or milliseconds since 1970.
   * @default now
   */
  readonly runAt?: Date | number | undefined
}

export interface RedriveOptions extends Asked {
  /**
   * Count what would be reopened, and reopen nothing.
   * @default false
   */
  readonly dryRun?: boolean | undefined
}

/** Who decided, where the caller does not say. */
export const verdict = (rule: string = BY_HAND.rule, policyHash: string = BY_HAND.policyHash) => ({ rule, policyHash })

/** What every command carries. */
export interface Stamp {
  readonly actor: string
  readonly requestId: string
  readonly expectedRev: number | undefined
}
