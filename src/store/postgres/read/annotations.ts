import type { Annotation } from '../../../core/event.ts'
import { idNumber } from '../../../core/id.ts'
import { lateOutcome } from '../../codec/late-outcome.ts'
import { original } from '../../codec/text.ts'
import type { LoadParts } from './load.ts'

export async function annotationsOf({ run, statements }: LoadParts, jobId: string): Promise<readonly Annotation[]> {
  const rows = await run(statements.annotations, [idNumber(jobId) ?? 0])
  return rows.map(([generation, attempt, command, at, actor, request, correlation, outcome]) => ({
    jobId,
    generation: Number(generation),
    attempt: Number(attempt),
    command: String(command) as Annotation['command'],
    at: Number(at),
    actor: original(String(actor)),
    requestId: original(String(request)),
    correlationId: original(String(correlation)),
    outcome: outcome === null ? undefined : lateOutcome(JSON.parse(original(String(outcome)))),
  }))
}
