/** `pawl dlq …`: what was put aside, and its second chance. */
import type { Command } from 'commander'
import { DEAD_LETTER_REASONS, deadLetterStates, type Job } from '../../core/job.ts'
import { BEGINNING, looked } from '../../engine/operations/course.ts'
import { CANARY_MOST } from '../../engine/operations/words.ts'
import { redriven } from '../../engine/redriven.ts'
import { jobToWire } from '../../gateway/contract/wire.ts'
import { jobPlace } from '../../library/dashboard-link.ts'
import type { Pawl } from '../../library/pawl.ts'
import { realRandom } from '../../system/random.ts'
import { collect, durationOf, jsonFrom } from '../arguments.ts'
import { audited } from '../audited.ts'
import { bulk, tellCounts } from '../bulk.ts'
import { chosen, countOf, labelsOf, listOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, Missing } from '../exit.ts'
import { linksOf } from '../links.ts'
import type { Context } from '../program.ts'
import { searchText } from '../search-text.ts'
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
  readonly query?: string
  readonly cause?: string
  readonly dryRun?: boolean
  readonly canary?: string
  readonly canaryWithin?: string
  readonly input?: string
  readonly patch?: string
}

export function deadLetters(parent: Command, { session }: Context): void {
  const group = parent
    .command('dlq')
    .aliases(['dead-letters', 'dead'])
    .description('what was put aside, and its second chance')
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
    .option('--query <search>', 'which besides, as the dashboard has it: input.url:*example* created:<1d')
    .option('--cause <fingerprint>', 'those with this cause (GET /v1/dead-letters:causes)')
    .option('--dry-run', 'say how many, do nothing')
    .option('--canary <n>', 'so many first, the rest if all of them succeed')
    .option('--canary-within <duration>', 'how long the canaries may take (1h)')
    .option('--input <json>', 'new jobs with this input: JSON, @file, or - for standard input')
    .option('--patch <json>', 'new jobs with the input they had, patched (RFC 7396)')
    .action((ids: readonly string[], options: Bulk) => drive(session(), ids, options))
  examples(
    redrive,
    'pawl dlq redrive --type mail.send --dry-run',
    'pawl dlq redrive --type mail.send --code E_5XX_ORIGIN --yes',
    'pawl dlq redrive --type mail.send --canary 5 --yes',
    `pawl dlq redrive --cause 1f0c22a94be1d077 --patch '{"retries":3}'`,
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
    const links = await linksOf(session)
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
        { brushes: { ID: links.brush(jobPlace) } },
      )
      if (page.cursor !== undefined) terminal.say(terminal.paint.dim(`more: --cursor ${page.cursor}`))
      links.line('/dead-letters')
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
  const { dryRun = false, canary, canaryWithin, input, patch, failed, reason } = options
  await withExisting(session, async (pawl) => {
    if (ids.length > 0) return named(session, pawl, ids, dryRun)
    const known = reason === undefined ? undefined : chosen('dead-letter reason', reason, DEAD_LETTER_REASONS)
    const states = failed === true ? deadLetterStates(true).join(',') : undefined
    await bulk(session, pawl, {
      action: 'redrive',
      query: searchText({ ...options, reason: known, state: states }),
      dryRun,
      canary: canary === undefined ? undefined : countOf('--canary', canary, { min: 1, max: CANARY_MOST }),
      canaryWithin: canaryWithin === undefined ? undefined : durationOf('--canary-within', canaryWithin),
      input: input === undefined ? undefined : jsonFrom('--input', input),
      patch: patch === undefined ? undefined : jsonFrom('--patch', patch),
    })
  })
}

/** Who names each of them has been asked already. */
async function named(session: Session, pawl: Pawl, ids: readonly string[], dryRun: boolean): Promise<void> {
  const { terminal } = session
  const jobs = await Promise.all(ids.map((id) => found(pawl, id)))
  const { counts } = looked(BEGINNING, { jobs, cursor: undefined }).report
  if (dryRun)
    return terminal.tell({ dryRun, matched: jobs.length, counts, reopened: 0, refused: [] }, () =>
      tellCounts(session, counts, jobs.length),
    )
  for (const [tenant, own] of Map.groupBy(jobs, ({ spec }) => spec.kind.tenant))
    await audited(session, pawl.engine, tenant, { act: 'jobs.reopened', about: own[0]?.id ?? '', count: own.length })
  const driven = await redriven(pawl.engine, jobs, { actor: session.actor, requestId: `redrive/${realRandom.uuid()}` })
  const refused = driven.flatMap((each) =>
    each.ok ? [] : [{ id: each.id, code: each.refusal.code, message: each.refusal.message }],
  )
  const reopened = jobs.length - refused.length
  terminal.tell({ dryRun, matched: jobs.length, counts, reopened, refused }, () => {
    terminal.say(`${reopened} of ${jobs.length} reopened.`)
    for (const { id, code, message } of refused) terminal.warn(`${id}: ${code}: ${safe(message)}`)
  })
  if (refused.length > 0) throw new Ended(EXIT.refused)
}
