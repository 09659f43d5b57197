/** The words of `defineJob` about what lets its jobs in: what they share that is limited, and whose turn they take. */
import type { LimitInput } from '../core/flow/limit-input.ts'
import type { JobFlow } from '../core/job.ts'
import type { Violation } from '../core/refusal.ts'
import { Invalid } from './errors.ts'

/** A name that jobs share, such as a domain, and what is limited under it. */
export interface LimitOptions<P> extends LimitInput {
  /** The name, or how it follows from the input. Jobs of other types that say the same share the limit. */
  readonly key: string | Naming<P>['key']
}

/** Methods, so that specs of different types fit one list. */
interface Naming<P> {
  key(input: P): string
}

export interface FlowOptions<P> {
  /**
   * What its jobs share that is limited: one key, or up to four, of each of which a job needs a slot before it runs. The numbers
   * hold until others are set by hand (`pawl.limits.set`).
   * @default nothing is limited
   */
  readonly limit?: LimitOptions<P> | readonly LimitOptions<P>[] | undefined
  /**
   * On whose account a job takes turns: whoever has a million jobs does not make the others of its queue wait. `weight` of
   * that name's limit is its share.
   * @default first in, first out
   */
  readonly fair?: Fair<P>['fair'] | undefined
}

interface Fair<P> {
  fair(input: P): string | undefined
}

export interface Flows<P> {
  flow(input: P): JobFlow | undefined
}

/** The numbers, which go into the policy. */
export function limitsOf<P>({ limit }: FlowOptions<P>): readonly LimitInput[] | undefined {
  if (limit === undefined) return undefined
  return listed(limit).map(({ key: _, ...numbers }) => numbers)
}

/** The names of a job with this input; undefined where its type has nothing of the kind. */
export function flowsOf<P>(type: string, { limit, fair }: FlowOptions<P>): Flows<P>['flow'] | undefined {
  if (limit === undefined && fair === undefined) return undefined
  const limits = limit === undefined ? [] : listed(limit)
  const violations = limits.flatMap(({ key }, i): Violation[] =>
    typeof key === 'string' || typeof key === 'function'
      ? []
      : [{ field: `limit.${i}.key`, rule: 'must be text, or a function of the input that gives it' }],
  )
  if (violations.length > 0) throw new Invalid(`job type ${type}`, violations)
  return (input) => {
    const keys = limits.map(({ key }) => (typeof key === 'string' ? key : key(input)))
    const whose = fair?.(input)
    return keys.length === 0 && whose === undefined ? undefined : { keys, fair: whose }
  }
}

const listed = <T>(one: T | readonly T[]): readonly T[] => (Array.isArray(one) ? one : [one as T])
