/** `pawl dlq …`: what was put aside, and its second chance. */
import type { Command } from 'commander'
import { DEAD_LETTER_REASONS, deadLetterStates, type Job } from '../../core/job.ts'
import { redriven } from '../../engine/redriven.ts'
import { jobToWire } from '../../gateway/contract/wire.ts'
import type { Pawl } from '../../library/pawl.ts'
import { realRandom } from '../../system/random.ts'
import { collect } from '../arguments.ts'
import { audited } from '../audited.ts'
import { chosen, countOf, labelsOf, listOf } from '../choice.ts'
import { confirmed } from '../confirm.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, Missing } from '../exit.ts'
import type { Context } from '../program.ts'
import { found, type Session, withExisting } from '../session.ts'
import { ago, safe } from '../terminal.ts'
import { showJob } from './jobs.ts'

interface Options {
  readonly queue?: string
  readonly type?: string
  readonly label?: readonly string[]
  readonly code?: string
  readonly reason?: string
  readonly failed?: boolean
}

interface Bulk extends Options {
  readonly dryRun?: boolean
}

const PAGE = 200

export function deadLetters(parent: Command, { session }: Context): void {
  const group = parent.command('dlq').alias('dead-letters').description('what was put aside, and its second chance')
  narrowed(group.command('ls').alias('list').description('dead letters, newest first'))
    .option('-n, --limit <n>', 'how many', '20')
    .option('--cursor <cursor>', 'go on where a page ended')
    .action((options: Options & { readonly limit: string; readonly cursor?: string }) => list(session(), options))
  group
    .command('show <id>')
    .description('one of them, with its input and errors')
    .action((id: string) => show(session(), id))
  const redrive = narrowed(
    group.command('redrive [ids...]').alias('retry').description('reopen them: fresh budgets, the log goes on'),
  )
    .option('--dry-run', 'say how many, do nothing')
    .action((ids: readonly string[], options: Bulk) => drive(session(), ids, options))
  examples(
    redrive,
    'pawl dlq redrive --type mail.send --dry-run',
    'pawl dlq redrive --type mail.send --code E_5XX_ORIGIN --yes',
    'pawl dlq retry pj_1k9f3',
  )
}

const narrowed = (command: Command): Command =>
  command
    .option('-q, --queue <queues>', 'comma-separated queues')
    .option('-t, --type <types>', 'comma-separated types')
    .option('-l, --label <name=value>', 'a label; may be repeated', collect)
    .option('--code <code>', 'code of the last error')
    .option('--reason <reason>', 'why it was put aside')
    .option('--failed', 'failed jobs, too')

const queryOf = (session: Session, { queue, type, label, code, failed }: Options) =>
  ({
    tenant: session.tenant,
    states: deadLetterStates(failed === true),
    queues: listOf(queue),
    types: listOf(type),
    labels: labelsOf(label),
    code,
  }) as const

/** Stores do not look for reasons: that is done here. */
function reasonOf({ reason }: Options): (job: Job) => boolean {
  if (reason === undefined) return () => true
  const wanted = chosen('dead-letter reason', reason, DEAD_LETTER_REASONS)
  return (job) => job.deadLetter?.reason === wanted
}

async function list(
  session: Session,
  options: Options & { readonly limit: string; readonly cursor?: string },
): Promise<void> {
  const { terminal } = session
  const limit = countOf('--limit', options.limit, { min: 1, max: 500 })
  const matches = reasonOf(options)
  await withExisting(session, async (pawl) => {
    const page = await pawl.find({ ...queryOf(session, options), limit, cursor: options.cursor })
    const jobs = page.jobs.filter(matches)
    terminal.tell({ jobs: jobs.map((job) => jobToWire(job, false)), cursor: page.cursor }, () => {
      if (jobs.length === 0 && page.cursor === undefined) return terminal.say('Nothing was put aside.')
      terminal.table(
        ['ID', 'TYPE', 'QUEUE', 'REASON', 'CODE', 'RUNS', 'ENDED', 'MESSAGE'],
        jobs.map((job) => [
          job.id,
          job.spec.kind.type,
          job.spec.kind.queue,
          job.deadLetter?.reason ?? job.state,
          job.error?.code,
          job.attempt,
          ago(job.updatedAt, page.now),
          job.error?.message,
        ]),
      )
      if (page.cursor !== undefined) terminal.say(terminal.paint.dim(`more: --cursor ${page.cursor}`))
    })
  })
}

async function show(session: Session, id: string): Promise<void> {
  await withExisting(session, async (pawl) => {
    const job = await found(pawl, id)
    if (job.error === undefined)
      throw new Missing(`${id} is ${job.state}: it is not among the dead letters.`, `pawl jobs show ${id}`)
    await showJob(session, pawl, job, ['error/'])
  })
}

async function drive(session: Session, ids: readonly string[], options: Bulk): Promise<void> {
  const { terminal } = session
  await withExisting(session, async (pawl) => {
    const jobs =
      ids.length > 0 ? await Promise.all(ids.map((id) => found(pawl, id))) : await matching(session, pawl, options)
    const counts = countsOf(jobs)
    if (options.dryRun === true || jobs.length === 0) {
      return terminal.tell(
        { dryRun: options.dryRun === true, matched: jobs.length, counts, reopened: 0, refused: [] },
        () => tellCounts(session, counts, jobs.length),
      )
    }
    // Who names each of them has been asked already.
    if (ids.length === 0) {
      if (!session.yes) tellCounts(session, counts, jobs.length)
      await confirmed(session, `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'} would be reopened.`)
    }
    for (const [tenant, own] of Map.groupBy(jobs, ({ spec }) => spec.kind.tenant))
      await audited(session, pawl.engine, tenant, {
        act: 'jobs.reopened',
        about: own[0]?.id ?? '',
        count: own.length,
      })
    const refused = await reopen(session, pawl, jobs)
    const reopened = jobs.length - refused.length
    terminal.tell({ dryRun: false, matched: jobs.length, counts, reopened, refused }, () => {
      terminal.say(`${reopened} of ${jobs.length} reopened.`)
      for (const { id, code, message } of refused) terminal.warn(`${id}: ${code}: ${safe(message)}`)
    })
    if (refused.length > 0) throw new Ended(EXIT.refused)
  })
}

async function matching(session: Session, pawl: Pawl, options: Options): Promise<readonly Job[]> {
  const matches = reasonOf(options)
  const all: Job[] = []
  let cursor: string | undefined
  do {
    const page = await pawl.find({ ...queryOf(session, options), order: 'oldest', limit: PAGE, cursor })
    all.push(...page.jobs.filter(matches))
    cursor = page.cursor
    session.terminal.progress('found', all.length)
  } while (cursor !== undefined && !session.signal.aborted)
  session.terminal.progressDone()
  return all
}

async function reopen(
  session: Session,
  pawl: Pawl,
  jobs: readonly Job[],
): Promise<readonly { readonly id: string; readonly code: string; readonly message: string }[]> {
  const requestId = `redrive/${realRandom.uuid()}`
  const refused: { id: string; code: string; message: string }[] = []
  for (let from = 0; from < jobs.length && !session.signal.aborted; from += PAGE) {
    const page = jobs.slice(from, from + PAGE)
    for (const [i, refusal] of (await redriven(pawl.engine, page, { actor: session.actor, requestId })).entries())
      if (refusal !== undefined) refused.push({ id: page[i]?.id ?? '', code: refusal.code, message: refusal.message })
    session.terminal.progress('reopened', from + page.length, jobs.length)
  }
  session.terminal.progressDone()
  return refused
}

interface Count {
  readonly type: string
  readonly reason: string
  readonly code: string | undefined
  readonly count: number
}

function countsOf(jobs: readonly Job[]): readonly Count[] {
  const counts = new Map<string, Count>()
  for (const { spec, deadLetter, state, error } of jobs) {
    const row = { type: spec.kind.type, reason: deadLetter?.reason ?? state, code: error?.code }
    const key = JSON.stringify(row)
    counts.set(key, { ...row, count: (counts.get(key)?.count ?? 0) + 1 })
  }
  return [...counts.values()].sort((a, b) => b.count - a.count)
}

function tellCounts({ terminal }: Session, counts: readonly Count[], matched: number): void {
  if (matched === 0) return terminal.say('Nothing matches.')
  terminal.table(
    ['JOBS', 'TYPE', 'REASON', 'CODE'],
    counts.map(({ count, type, reason, code }) => [count, type, reason, code]),
  )
  terminal.say(`${matched} in all.`)
}
