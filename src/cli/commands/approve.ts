/** `pawl jobs approve`: what was looked at is named, or else shown, and asked about. */
import type { Command } from 'commander'
import { approveCommand } from '../../core/explain.ts'
import type { Job } from '../../core/job.ts'
import type { ApproveOptions } from '../../library/asked.ts'
import type { Pawl } from '../../library/pawl.ts'
import { confirmed } from '../confirm.ts'
import { examples } from '../example.ts'
import { operated } from '../operated.ts'
import { found, type Session, withExisting } from '../session.ts'
import { safe, safeJson } from '../terminal.ts'

interface ApproveFlags {
  readonly reason?: string
  readonly jobHash?: string
  readonly policyHash?: string
}

type Named = Pick<ApproveOptions, 'jobHash' | 'policyHash'>

export function approve(group: Command, session: () => Session): void {
  const command = group
    .command('approve <id>')
    .description('approve a pending job that a policy asks about, as it was looked at')
    .option('--job-hash <hash>', 'what was looked at, as jobs show and explain name it; without both, you are asked')
    .option('--policy-hash <hash>', 'the policy that asked then')
    .option('--reason <text>', 'why')
    .action((id: string, flags: ApproveFlags) => run(session(), id, flags))
  examples(
    command,
    'pawl jobs approve pj_1k9f3 --reason "looked at the diff"',
    'pawl jobs approve pj_1k9f3 --job-hash 0c5e1f0a9d3b7e42 --policy-hash 9f3c',
  )
}

async function run(session: Session, id: string, { reason, jobHash, policyHash }: ApproveFlags): Promise<void> {
  const named =
    jobHash !== undefined && policyHash !== undefined
      ? { jobHash, policyHash }
      : await withExisting(session, (pawl) => lookedAt(session, pawl, id, { jobHash, policyHash }))
  await operated(session, 'jobs.approved', id, (pawl) => pawl.approve(id, { reason, ...named }))
}

/** Shown, and asked about; what is not asked about is refused when it is said. */
async function lookedAt(session: Session, pawl: Pawl, id: string, named: Named): Promise<Named> {
  const job = await found(pawl, id)
  const { approval } = job
  if (approval === undefined || approval.given !== undefined) return named
  if (!session.yes) await tell(session, pawl, job)
  await confirmed(
    session,
    `Job ${job.id} would be approved as it is now (${approval.jobHash}), for rule ${safe(approval.rule)}.`,
    `Name what you have looked at (${approveCommand(job.id, approval)}), or say --yes for what it is by now.`,
  )
  return { jobHash: named.jobHash ?? approval.jobHash, policyHash: named.policyHash ?? approval.policyHash }
}

/** The record was read before its input is: where another has come in between, the hashes are not of that, and nothing is approved. */
async function tell({ terminal }: Session, pawl: Pawl, { id, spec, approval }: Job): Promise<void> {
  const [loaded] = (await pawl.engine.load([{ id, bodies: ['input'] }])).items
  const text = loaded?.bodies['input']
  const input = text === undefined || text === '' ? 'none' : safeJson(JSON.parse(text))
  const { dim } = terminal.paint
  const told: readonly (readonly [string, string])[] = [
    ['type', safe(spec.kind.type)],
    ['rule', safe(approval?.reason === undefined ? `${approval?.rule}` : `${approval.rule}: ${approval.reason}`)],
    ['input', input.replaceAll('\n', `\n${' '.repeat(INDENT)}`)],
  ]
  for (const [name, value] of told) terminal.say(`${dim(name.padEnd(INDENT - 1))} ${value}`)
}

const INDENT = 8
