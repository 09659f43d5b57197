/** What would come of an operation for one job, as far as its record tells: counted before anybody agrees to it. */
import { decide } from './decide.ts'
import { mayReopen } from './dialects/bond.ts'
import type { Job, Time } from './job.ts'
import type { OperationSpec } from './operation.ts'
import type { RefusalCode } from './refusal.ts'

/**
 * `ends` at once; `undoes` its steps first; `told`: its handler is told, and may clean up; `reopened`; `replaced` by a new job, where
 * its document's endings are final; `removed`; or the code of a refusal.
 */
export type Foreseen = 'ends' | 'undoes' | 'told' | 'reopened' | 'replaced' | 'removed' | RefusalCode

export function foreseen(
  { action, mode, by }: Pick<OperationSpec, 'action' | 'mode' | 'by'>,
  job: Job,
  now: Time,
): Foreseen {
  if (action === 'purge') return 'removed'
  if (action === 'redrive' && !mayReopen(job.spec.kind.policy)) return 'replaced'
  const stamp = { actor: by, requestId: 'foreseen' }
  const command =
    action === 'cancel' ? ({ ...stamp, type: 'cancel', mode } as const) : ({ ...stamp, type: 'reopen' } as const)
  const decision = decide(job, command, now)
  if (decision.kind === 'refused') return decision.refusal.code
  // One that was asked for before is answered as it was then: nothing more comes of it.
  if (decision.kind === 'replayed') return 'told'
  const types = new Set(decision.events.map(({ type }) => type))
  if (types.has('compensating')) return 'undoes'
  return types.has('reopened') ? 'reopened' : types.has('cancelled') ? 'ends' : 'told'
}
