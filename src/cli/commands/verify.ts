/** `pawl verify`: folds every log against its record, checks the texts beside it, and names every difference. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import type { Job } from '../../core/job.ts'
import { attestationOf, attested, broken } from '../../engine/attestation.ts'
import { AuditLog } from '../../engine/audit.ts'
import type { Discrepancy, Verification } from '../../engine/discrepancy.ts'
import { logOf } from '../../engine/log-of.ts'
import type { Mended } from '../../engine/mend.ts'
import { verify as verifyAll, verifyOne } from '../../engine/verify.ts'
import type { Pawl } from '../../library/pawl.ts'
import { audited } from '../audited.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { found, isFile, needsStore, type Session, withExisting, withoutKeys } from '../session.ts'
import { safe } from '../terminal.ts'
import { type Filters, filters, queryOf } from './jobs.ts'

export function verify(parent: Command, { session }: Context): void {
  const command = filters(
    parent
      .command('verify [id]')
      .description(
        'fold every log against its record, and check texts, keys and counts; exits with 1 if anything differs',
      ),
  )
    .option(
      '--repair',
      'make anew what is derived of limits (slots from where jobs are, what was spent from logs, who looks at held jobs), if it differs; nothing else is changed',
    )
    .option('--attest', 'of one job: write into the audit log who verified its log up to where, with its hash')
    .action((id: string | undefined, options: Options) => run(session(), id, options))
  examples(
    command,
    'pawl verify',
    'pawl verify pj_1k9f3 --json',
    'pawl verify pj_1k9f3 --attest',
    'pawl verify --repair',
    'pawl verify --queue mail --url postgres://localhost/app',
  )
}

interface Options extends Filters {
  readonly attest?: boolean
  readonly repair?: boolean
}

async function run(session: Session, id: string | undefined, options: Options): Promise<void> {
  needsStore(session, 'verify')
  if (options.attest === true && id === undefined) throw new Usage('--attest is about one job: name it.')
  if (options.repair === true && id !== undefined) throw new Usage('--repair is about all jobs of limits: name none.')
  const { terminal } = session
  const damaged: Discrepancy[] = [...(await damage(session))]
  let repaired: Mended | undefined
  // As it is stored, keys or not: that is what logs and sums were written of.
  const verified = await withExisting(withoutKeys(session), async (pawl): Promise<Verification> => {
    if (id !== undefined) return await verifyJob(session, pawl, await found(pawl, id), options.attest === true)
    const whole = Object.values(queryOf(session, options)).every((value) => value === undefined)
    if (whole) damaged.push(...(await apart(session, pawl)))
    const first = await verifyMany(session, pawl, options)
    if (options.repair !== true || !first.discrepancies.some(isDerived)) return first
    repaired = await pawl.limits.repair({ actor: session.actor })
    return await verifyMany(session, pawl, options)
  }).catch((error: unknown) => {
    // What was found comes first: that the rest could not be read is a consequence.
    if (damaged.length === 0) throw error
    return NOTHING
  })
  terminal.progressDone()
  const { jobs, events } = verified
  const discrepancies = [...damaged, ...verified.discrepancies]
  terminal.tell({ ...verified, discrepancies, repaired }, () => {
    if (repaired !== undefined)
      terminal.say(
        `Made anew: slots of ${repaired.jobs} jobs under ${repaired.keys} keys, ${repaired.counts} counts, ${repaired.flows} flows.`,
      )
    for (const { job, about, invariant, what } of discrepancies)
      terminal.say(
        `${terminal.paint.red(about)} ${job ?? 'store'}${invariant === undefined ? '' : ` ${invariant}`}: ${safe(what)}`,
      )
    terminal.say(
      `${jobs} jobs, ${events} events, ${discrepancies.length === 0 ? terminal.paint.green('no difference') : `${discrepancies.length} differences`}.`,
    )
  })
  if (discrepancies.length > 0) throw new Ended(EXIT.failure)
}

async function verifyMany(session: Session, { engine }: Pawl, options: Options): Promise<Verification> {
  const { tally } = await engine.events({ by: 'tally' })
  const all = tally.reduce((sum, { count }) => sum + count, 0)
  const query = queryOf(session, options)
  const whole = Object.values(query).every((value) => value === undefined)
  const looked = (jobs: number) => session.terminal.progress('verified', jobs, whole ? all : undefined)
  return await verifyAll(engine, query, looked)
}

/** What can be made anew from what it is derived from. */
const isDerived = ({ about }: Discrepancy): boolean => about === 'slot' || about === 'flow'

/** One job, and what others have attested of its log. */
async function verifyJob(session: Session, { engine }: Pawl, job: Job, attest: boolean): Promise<Verification> {
  const verified = await verifyOne(engine, job)
  const events = await logOf(engine, job.id)
  const discrepancies = [...verified.discrepancies, ...(await broken(new AuditLog(engine), job, events))]
  if (attest && discrepancies.length === 0)
    await audited(session, engine, job.spec.kind.tenant, attested(job, attestationOf(events)))
  return { ...verified, discrepancies }
}

/** Of a Redis with a ledger: what it has, the ledger's log, and what that is folded into, against each other. */
async function apart({ terminal }: Session, { below: { ledger } }: Pawl): Promise<readonly Discrepancy[]> {
  const found = (await ledger?.compared((pieces) => terminal.progress('pieces compared', pieces))) ?? []
  return found.map(({ about, what }) => ({ job: undefined, about, invariant: undefined, what }))
}

const NOTHING: Verification = { jobs: 0, events: 0, discrepancies: [] }

/** Of a file, what SQLite itself finds wrong with it: what cannot be read cannot be folded either. */
async function damage({ url, terminal }: Session): Promise<readonly Discrepancy[]> {
  if (!isFile(url) || !existsSync(url)) return []
  const { damageOf } = await import('../../store/sqlite/check.ts')
  const found = damageOf(url, (tables) => terminal.progress('tables checked', tables))
  terminal.progressDone()
  return Object.entries(found?.tables ?? {}).map(([table, what]) => ({
    job: undefined,
    about: 'unreadable',
    invariant: undefined,
    what: `table ${table} is damaged: ${what} ${found?.next}`,
  }))
}
