/**
 * `pawl import`: jobs of an export, enqueued anew. What is imported is a new job with the old one's input, policy and
 * labels; the history stays in the file. A label and its id say where it came from, so that importing a file twice
 * makes nothing twice. With `--history` they are brought in as they were (`bringing.ts`).
 */
import type { Command } from 'commander'
import { type Job, TERMINAL_STATES } from '../../core/job.ts'
import type { EnqueueRequest } from '../../engine/engine.ts'
import { whoseIs } from '../../engine/job-names.ts'
import { isSealed } from '../../engine/sealed-text.ts'
import { unsealBody } from '../../engine/sealing.ts'
import { jobFromWire } from '../../gateway/contract/wire.ts'
import { broughtInFrom } from '../bringing.ts'
import { confirmed } from '../confirm.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, failureOf, Usage } from '../exit.ts'
import { type ExportedJob, parsedLine, policyOf } from '../exported.ts'
import { linesOf, withFile } from '../lines.ts'
import type { Context } from '../program.ts'
import { type Session, withPawl } from '../session.ts'
import { safe } from '../terminal.ts'

interface Options {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly history?: boolean
}

const BATCH = 200
/** Refusals that are told one by one; the rest is counted. */
const REFUSED_TOLD = 1_000
const LABEL = 'imported-from'

export function importJobs(parent: Command, { session }: Context): void {
  const command = parent
    .command('import [file]')
    .description(
      'enqueue the jobs of an export anew: those that had not ended; or, with --history, move all of it here',
    )
    .option('--all', 'those that had ended, too')
    .option('--history', 'bring all jobs in as they were: ids, logs, bodies and keys, with the settings of the export')
    .option('--dry-run', 'say how many, do nothing')
    .action((file: string | undefined, options: Options) => run(session(), file, options))
  examples(
    command,
    'pawl import jobs.jsonl --dry-run',
    'pawl export --url old.db | pawl import --url postgres://localhost/app --yes',
    'pawl export --url old.db --settings -o all.jsonl && pawl import all.jsonl --history --url postgres://localhost/app --yes',
  )
}

async function run(session: Session, file: string | undefined, options: Options): Promise<void> {
  const { history, all, dryRun = false } = options
  if (history === true && all === true) throw new Usage('--history brings in all jobs.', 'Leave out --all.')
  await withFile(file, (path) =>
    history === true ? broughtInFrom(session, path, dryRun) : imported(session, path, options),
  )
}

/** The file is read twice: once to see that every line of it makes sense, and then to send it, a batch at a time. */
async function imported(session: Session, path: string, { all = false, dryRun = false }: Options): Promise<void> {
  const { terminal } = session
  const counts = new Map<string, number>()
  let matched = 0
  let skipped = 0
  for await (const request of requestsIn(session, path, all)) {
    if (request === undefined) skipped += 1
    else {
      const what = `${request.kind.type} in ${request.kind.queue}`
      counts.set(what, (counts.get(what) ?? 0) + 1)
      matched += 1
    }
    terminal.progress('read', matched + skipped)
  }
  terminal.progressDone()
  const read = { matched, skipped, counts: Object.fromEntries(counts) }
  if (dryRun || matched === 0) {
    return terminal.tell({ dryRun, ...read, imported: 0, existing: 0, refused: [] }, () => {
      for (const [what, count] of counts) terminal.say(`${count}  ${safe(what)}`)
      terminal.say(`${matched} to import, ${skipped} had ended.`)
    })
  }
  await confirmed(session, `${matched} ${matched === 1 ? 'job' : 'jobs'} would be enqueued.`)
  const done = await send(session, requestsIn(session, path, all), matched)
  terminal.tell({ dryRun, ...read, ...done }, () => {
    terminal.say(`${done.imported} imported, ${done.existing} were there already, ${skipped} had ended.`)
    for (const { from, code, message } of done.refused) terminal.warn(`${safe(from)}: ${code}: ${safe(message)}`)
    const more = done.refusedInAll - done.refused.length
    if (more > 0) terminal.warn(`and ${more} more were refused`)
  })
  if (done.refusedInAll > 0) throw new Ended(EXIT.refused)
}

async function send(session: Session, requests: AsyncIterable<EnqueueRequest | undefined>, all: number) {
  const done = { imported: 0, existing: 0, refused: [] as RefusedLine[], refusedInAll: 0 }
  await withPawl(session, async ({ engine }) => {
    const sendBatch = async (batch: readonly EnqueueRequest[]) => {
      for (const [i, answer] of (await engine.enqueue(batch)).entries()) {
        if (answer.ok) done[answer.replayed || answer.deduped ? 'existing' : 'imported'] += 1
        else {
          done.refusedInAll += 1
          const { code, message } = answer.refusal
          const refusal = { from: batch[i]?.labels?.[LABEL] ?? '', code, message }
          if (done.refused.length < REFUSED_TOLD) done.refused.push(refusal)
        }
      }
      session.terminal.progress('imported', done.imported + done.existing + done.refusedInAll, all)
    }
    let batch: EnqueueRequest[] = []
    for await (const request of requests) {
      if (session.signal.aborted) return
      if (request !== undefined) batch.push(request)
      if (batch.length < BATCH) continue
      await sendBatch(batch)
      batch = []
    }
    if (batch.length > 0) await sendBatch(batch)
  })
  session.terminal.progressDone()
  return done
}

interface RefusedLine {
  readonly from: string
  readonly code: string
  readonly message: string
}

/** What each line asks for; undefined where its job had ended and such are not wanted. */
async function* requestsIn(session: Session, path: string, all: boolean): AsyncGenerator<EnqueueRequest | undefined> {
  let n = 0
  for await (const line of linesOf(path)) {
    n += 1
    if (line.trim() === '') continue
    const exported = parsedLine(line, n)
    if (exported.pawl !== 'job') continue
    const ended = (TERMINAL_STATES as readonly unknown[]).includes(exported.job['state'])
    yield ended && !all ? undefined : requestOf(session, exported, n)
  }
}

function requestOf(session: Session, { job: wire, bodies }: ExportedJob, n: number): EnqueueRequest {
  const job = jobFromWire(wire, policyOf(wire['policy'], n))
  const { id, spec, priority, runAt } = job
  const { kind, alias, input: _, parentId: __, createdAt: ___, ...asked } = spec
  return {
    ...asked,
    actor: session.actor,
    requestId: `import/${id}`,
    id: alias ?? `imported/${id}`,
    kind: { ...kind, tenant: session.tenant ?? kind.tenant },
    priority,
    runAt,
    input: inputOf(session, job, bodies, n),
    labels: { ...spec.labels, [LABEL]: id },
  }
}

/**
 * The input it would run with, which may have been replaced. What is encrypted is bound to the job it was exported from: it is opened
 * here, and sealed again for the new one.
 */
function inputOf({ codec }: Session, job: Job, bodies: ExportedJob['bodies'], n: number): string | undefined {
  const name = job.newer?.input?.name ?? 'input'
  const text = bodies[name]
  if (text === undefined || !isSealed(text)) return text
  if (codec === undefined) throw new Usage(`Line ${n} is encrypted.`, 'Give the keys it was written with: --keys-file.')
  try {
    return unsealBody(codec, { name, text }, whoseIs(job), job.generation).text
  } catch (error) {
    throw new Usage(`Line ${n}: ${failureOf(error).message}`)
  }
}
