import type { Job } from '../../../core/job.ts'
import type { Agenda } from '../../agenda.ts'
import { type LoadParts, placed } from '../read/load.ts'
import { recordOf } from '../read/records.ts'

/** What an agenda has for the one who asks now. Who judges looks after nothing else, and is not taken for one that does the upkeep. */
export async function handedOut(
  { run, kinds, statements }: LoadParts,
  agenda: Agenda,
  limit: number,
): Promise<readonly Job[]> {
  if (limit <= 0) return []
  const rows = await run(agenda === 'ticks' ? statements.due : statements.unjudged, [limit])
  return [...(await placed(kinds, rows)).values()].map(recordOf)
}
