/**
 * `pawl import`: jobs of an export, enqueued anew. What is imported is a new job with the old one's input, policy and
 * labels; the history stays in the file. A label and its id say where it came from, so that importing a file twice
 * makes nothing twice.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { policyWords } from '../../client/words.ts'
import { type Job, TERMINAL_STATES } from '../../core/job.ts'
import type { Policy } from '../../core/policy.ts'
import { type PolicyInput, type Resolved, resolvePolicy } from '../../core/resolve.ts'
import { isEncrypted } from '../../encryption.ts'
import type { EnqueueRequest } from '../../engine/engine.ts'
import { whoseIs } from '../../engine/job-names.ts'
import { unsealBody } from '../../engine/sealing.ts'
import { jobFromWire } from '../../gateway/contract/wire.ts'
import { confirmed } from '../confirm.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, failureOf, Missing, Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import { type Session, withPawl } from '../session.ts'
import { safe } from '../terminal.ts'
import type { ExportedJob } from './export.ts'

interface Options {
  readonly all?: boolean
  readonly dryRun?: boolean
}

const BATCH = 200
const LABEL = 'imported-from'

export function importJobs(parent: Command, { session }: Context): void {
  const command = parent
    .command('import [file]')
    .description('enqueue the jobs of an export anew: those that had not ended')
    .option('--all', 'those that had ended, too')
    .option('--dry-run', 'say how many, do nothing')
    .action((file: string | undefined, options: Options) => run(session(), file, options))
  examples(
    command,
    'pawl import jobs.jsonl --dry-run',
    'pawl export --url old.db | pawl import --url postgres://localhost/app --yes',
  )
}

async function run(session: Session, file: string | undefined, options: Options): Promise<void> {
  const { terminal } = session
  const { requests, skipped } = await read(session, file, options.all === true)
  const counts = new Map<string, number>()
  for (const { kind } of requests)
    counts.set(`${kind.type} in ${kind.queue}`, (counts.get(`${kind.type} in ${kind.queue}`) ?? 0) + 1)
  const matched = requests.length
  if (options.dryRun === true || matched === 0) {
    return terminal.tell(
      {
        dryRun: options.dryRun === true,
        matched,
        skipped,
        counts: Object.fromEntries(counts),
        imported: 0,
        existing: 0,
        refused: [],
      },
      () => {
        for (const [what, count] of counts) terminal.say(`${count}  ${safe(what)}`)
        terminal.say(`${matched} to import, ${skipped} had ended.`)
      },
    )
  }
  await confirmed(session, `${matched} ${matched === 1 ? 'job' : 'jobs'} would be enqueued.`)
  const done = await send(session, requests)
  terminal.tell({ dryRun: false, matched, skipped, counts: Object.fromEntries(counts), ...done }, () => {
    terminal.say(`${done.imported} imported, ${done.existing} were there already, ${skipped} had ended.`)
    for (const { from, code, message } of done.refused) terminal.warn(`${safe(from)}: ${code}: ${safe(message)}`)
  })
  if (done.refused.length > 0) throw new Ended(EXIT.refused)
}

async function send(session: Session, requests: readonly EnqueueRequest[]) {
  let imported = 0
  let existing = 0
  const refused: { from: string; code: string; message: string }[] = []
  await withPawl(session, async ({ engine }) => {
    for (let from = 0; from < requests.length && !session.signal.aborted; from += BATCH) {
      const batch = requests.slice(from, from + BATCH)
      for (const [i, answer] of (await engine.enqueue(batch)).entries()) {
        if (!answer.ok)
          refused.push({
            from: batch[i]?.labels?.[LABEL] ?? '',
            code: answer.refusal.code,
            message: violationsOf(answer.refusal),
          })
        else if (answer.replayed || answer.deduped) existing += 1
        else imported += 1
      }
      session.terminal.progress('imported', from + batch.length, requests.length)
    }
  })
  session.terminal.progressDone()
  return { imported, existing, refused }
}

const violationsOf = ({
  message,
  violations,
}: {
  readonly message: string
  readonly violations: readonly { readonly field: string; readonly rule: string }[]
}): string => [message, ...violations.map(({ field, rule }) => `${field}: ${rule}`)].join(' ')

async function read(
  session: Session,
  file: string | undefined,
  all: boolean,
): Promise<{ readonly requests: readonly EnqueueRequest[]; readonly skipped: number }> {
  const requests: EnqueueRequest[] = []
  let skipped = 0
  let n = 0
  for await (const line of linesOf(file)) {
    n += 1
    if (line.trim() === '') continue
    const exported = parsed(line, n)
    const ended = (TERMINAL_STATES as readonly unknown[]).includes(exported.job['state'])
    if (ended && !all) skipped += 1
    else requests.push(requestOf(session, exported, n))
  }
  return { requests, skipped }
}

async function* linesOf(file: string | undefined): AsyncGenerator<string> {
  const input = file === undefined || file === '-' ? process.stdin : createReadStream(file)
  const failed = new Promise<never>((_, reject) =>
    input.once('error', (error: Error) => reject(new Missing(`${file} cannot be read: ${error.message}`))),
  )
  failed.catch(() => {})
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  for (;;) {
    const next = await Promise.race([lines.next(), failed])
    if (next.done === true) return
    yield next.value
  }
}

function parsed(line: string, n: number): ExportedJob {
  try {
    const value = JSON.parse(line) as Partial<ExportedJob> | null
    if (value?.pawl === 'job' && value.version === 1 && typeof value.job === 'object' && value.job !== null)
      return { bodies: {}, events: [], ...value } as ExportedJob
  } catch {
    // Said below, like everything else that is not a line of ours.
  }
  throw new Usage(`Line ${n} is not a line of pawl export.`)
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
    input: inputOf(session, job, bodies['input'], n),
    labels: { ...spec.labels, [LABEL]: id },
  }
}

/** What is encrypted is bound to the job it was exported from: it is opened here, and sealed again for the new one. */
function inputOf({ codec }: Session, job: Job, text: string | undefined, n: number): string | undefined {
  if (text === undefined || !isEncrypted(text)) return text
  if (codec === undefined) throw new Usage(`Line ${n} is encrypted.`, 'Give the keys it was written with: --keys-file.')
  try {
    return unsealBody(codec, { name: 'input', text }, whoseIs(job), job.generation).text
  } catch (error) {
    throw new Usage(`Line ${n}: ${failureOf(error).message}`)
  }
}

/** A file may say anything: what it calls a policy is judged like any other. */
function policyOf(told: unknown, n: number): Policy {
  let resolved: Resolved
  try {
    resolved = resolvePolicy(policyWords(told as Policy) as PolicyInput)
  } catch {
    throw new Usage(`Line ${n} lacks the policy of its job.`)
  }
  if (resolved.ok) return resolved.policy
  throw new Usage(`Line ${n}: ${resolved.violations.map(({ field, rule }) => `${field}: ${rule}`).join('; ')}`)
}
