/** Second chances in bulk: for dead letters, unless the filter names other states. */
import { deadLetterStates } from '../core/job.ts'
import { statesBefore } from '../core/transitions.ts'
import type { Engine } from '../engine/engine.ts'
import { redriven } from '../engine/redriven.ts'
import type { VerifyFilter } from '../engine/verify.ts'
import { Invalid, Refused } from './errors.ts'

export interface Redriven {
  readonly matched: number
  /** Reopened, or enqueued anew with the old one as parent, where a document has it so that endings are final. */
  readonly reopened: number
  readonly refused: readonly Refused[]
}

export interface Redrive {
  readonly filter: VerifyFilter
  readonly dryRun: boolean
  readonly actor: string
  readonly requestId: string
}

const PAGE = 500
const REOPENABLE = statesBefore('reopen')

/** `written`: the audit log has what is about to be done. */
export async function redrive(
  engine: Engine,
  { filter, dryRun, actor, requestId }: Redrive,
  written: (about: string) => Promise<void>,
): Promise<Redriven> {
  const states = filter.states ?? deadLetterStates(false)
  if (states.length === 0 || states.some((state) => !REOPENABLE.includes(state))) {
    throw new Invalid('redrive', [{ field: 'states', rule: `must be among ${REOPENABLE.join(', ')}` }])
  }
  if (!dryRun) await written(JSON.stringify({ ...filter, states }))
  const refused: Refused[] = []
  let matched = 0
  let cursor: string | undefined
  do {
    const page = await engine.find({ ...filter, states, order: 'oldest', limit: PAGE, cursor })
    matched += page.jobs.length
    cursor = page.cursor
    if (dryRun || page.jobs.length === 0) continue
    for (const driven of await redriven(engine, page.jobs, { actor, requestId }))
      if (!driven.ok) refused.push(new Refused(driven.refusal))
  } while (cursor !== undefined)
  return { matched, reopened: dryRun ? 0 : matched - refused.length, refused }
}
