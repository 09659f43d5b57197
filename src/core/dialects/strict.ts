/** What a job type that is bound to a document may not do. */
import type { Command } from '../command.ts'
import type { Job } from '../job.ts'
import type { RefusalCode } from '../refusal.ts'

export function dialectRefusal(
  job: Job,
  command: Command,
): { readonly code: RefusalCode; readonly message: string } | undefined {
  const { dialect } = job.spec.kind.policy
  if (dialect === undefined) return undefined
  if (dialect === '001' && command.expectedRev === undefined && command.type !== 'claim') {
    return { code: 'REV_REQUIRED', message: `Job ${job.id} is bound to 001: ${command.type} needs expectedRev.` }
  }
  return undefined
}
