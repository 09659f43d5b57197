/**
 * Inputs that a claim gave without. Up to `RIDES_BYTES` of them ride in the claim's own row, joined; whatever is beyond comes in a
 * row for each, with the next statement. Because a row of megabytes is copied whole five times on its way out of the server, once
 * more for each doubling of what the driver collects it in, and lives here for as long as a slice of it does: of 8 KB inputs, 500 a
 * claim, that was a third of the server's time for a job (26.7 µs, 17.8 so).
 */
import { idNumber } from '../../../core/id.ts'
import { original } from '../../codec/text.ts'
import type { ClaimedJob } from '../../store.ts'
import { bigints } from '../batch/arrays.ts'
import type { Connection } from '../connection/connection.ts'

/** V8 keeps a joined text in memory for as long as a slice of it lives: no job holds on to more than this. */
export const RIDES_BYTES = 262_144

/** The jobs with the inputs that they came without, as far as all inputs together are within `maxBytes`, in their order. */
export async function withBigInputs(
  jobs: ClaimedJob[],
  maxBytes: number,
  { connection, statement }: { readonly connection: Connection; readonly statement: string },
): Promise<ClaimedJob[]> {
  const missing = missingOf(jobs, maxBytes)
  if (missing.length === 0) return jobs
  const rows = await connection.run(statement, () => [bigints(missing)])
  const inputs = new Map(rows.map(([id, input]) => [Number(id), original(String(input))]))
  return jobs.map((job) => {
    if (job.input !== undefined) return job
    const input = inputs.get(idNumber(job.before.id) as number)
    return input === undefined ? job : { ...job, input }
  })
}

function missingOf(jobs: readonly ClaimedJob[], maxBytes: number): readonly number[] {
  const missing: number[] = []
  let bytes = 0
  for (const { before, input } of jobs) {
    bytes += before.spec.input?.size ?? 0
    if (bytes > maxBytes) break
    if (input === undefined && before.spec.input !== undefined) missing.push(idNumber(before.id) as number)
  }
  return missing
}
