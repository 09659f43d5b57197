/** What a key hears of the word that ends an attempt. */
import type { Command } from '../command.ts'
import { classify } from '../errors.ts'
import type { Job } from '../job.ts'
import { toldKey } from './membership.ts'
import { type GivenSignal, type Outcome, signalOf } from './signal.ts'

export interface Heard {
  readonly key: string
  readonly input: GivenSignal
}

/** `job`: as it was when the word was said. Undefined: no key hears anything. */
export function heardOf(job: Job, command: Command): Heard | undefined {
  const { spec, lease } = job
  if (spec.flow === undefined || lease === undefined) return undefined
  const outcome = outcomeOf(job, command)
  if (outcome === undefined) return undefined
  const fault = command.type === 'fail' ? command.fault : undefined
  const signal = signalOf(outcome, spec.kind.policy.breaking)
  const key = toldKey(spec, fault?.key)
  if (signal === undefined || key === undefined) return undefined
  const { actor, requestId } = command
  const cause = { job: job.id, attempt: job.attempt, code: fault?.code, actor, requestId }
  return { key, input: { ...signal, claimedAt: lease.grantedAt, cause } }
}

function outcomeOf({ spec }: Job, command: Command): Outcome | undefined {
  if (command.type === 'complete') return { succeeded: true }
  if (command.type !== 'fail') return undefined
  const { code, retryAfterMs } = command.fault
  return { succeeded: false, code, class: classify(spec.kind.policy, command.fault), retryAfterMs }
}
