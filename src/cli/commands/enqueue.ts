/** `pawl enqueue`: a job from the command line, and its result if asked for. */
import type { Command } from 'commander'
import type { DuplicatesInput } from '../../core/duplicates.ts'
import type { PolicyInput } from '../../core/resolve.ts'
import type { JobSpec } from '../../library/define-job.ts'
import type { EnqueueOptions } from '../../library/enqueue-options.ts'
import { Invalid } from '../../library/errors.ts'
import { collect, durationOf, fieldsIn, jsonFrom, jsonOf } from '../arguments.ts'
import { labelsOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import { type FlowWords, flowIn, withFlowOptions } from '../flow-options.ts'
import { linkJob } from '../links.ts'
import type { Context } from '../program.ts'
import { type Session, withPawl } from '../session.ts'
import { safeJson } from '../terminal.ts'
import { priorityOf } from './jobs.ts'

interface Options extends FlowWords {
  readonly param?: readonly string[]
  readonly input?: string
  readonly queue?: string
  readonly policy?: string
  readonly id?: string
  readonly idempotencyKey?: string
  readonly dedupeKey?: string
  readonly dedupeFor?: string
  readonly onDuplicate?: string
  readonly within?: string
  readonly atMost?: string
  readonly delay?: string
  readonly runAt?: string
  readonly priority?: string
  readonly label?: readonly string[]
  readonly correlationId?: string
  readonly parentId?: string
  readonly wait?: boolean
  readonly timeout: string
}

export function enqueue(parent: Command, { session }: Context): void {
  const command = withFlowOptions(parent.command('enqueue <type>'))
    .description('enqueue a job; with --wait, print its result')
    .option('-p, --param <name=value>', 'a field of its input: k=text, n:=json; may be repeated', collect)
    .option('--input <json>', 'the whole input: JSON, @file, or - for standard input')
    .option('-q, --queue <queue>', 'its queue, if not the one its worker has announced')
    .option('--policy <json>', 'how it is leased, retried and ended, if not as its worker has announced')
    .option('--id <id>', 'your own id for it')
    .option('--idempotency-key <key>', 'this creation, for 24 hours')
    .option('--dedupe-key <key>', 'this piece of business: at most one live job has it')
    .option('--dedupe-for <time>', 'how long that key is held: live, forever, or 1h; if not as its type says')
    .option('--on-duplicate <what>', 'keep, replace or debounce, if not as its type says')
    .option('--within <duration>', 'with debounce: it runs so long after the last duplicate')
    .option('--at-most <duration>', 'with debounce: and at the latest so long after the first')
    .option('--delay <duration>', 'run later: 30s, 5m, 2h')
    .option('--run-at <time>', 'run then: 2030-01-07T09:00:00Z')
    .option('--priority <priority>', '0 to 9, or critical, interactive, normal, batch')
    .option('-l, --label <name=value>', 'a label; may be repeated', collect)
    .option('--correlation-id <id>', 'what belongs together')
    .option('--parent-id <id>', 'the job it belongs to')
    .option('--wait', 'wait for its end: prints the result, exits with 5 if it ended badly')
    .option('--timeout <duration>', 'how long to wait', '1h')
    .action((type: string, options: Options) => run(session(), type, options))
  examples(
    command,
    'pawl enqueue crawl.page -p url=https://example.org -p depth:=2',
    'pawl enqueue mail.send --queue mail --input @mail.json --delay 10m',
    'pawl enqueue search.reindex --dedupe-key shop-7 --on-duplicate debounce --within 5s',
    'pawl enqueue report --queue reports -p month=2030-01 --wait',
  )
}

async function run(session: Session, type: string, options: Options): Promise<void> {
  const { terminal } = session
  const input = inputOf(options)
  const asked = optionsOf(session, options)
  await withPawl(session, async (pawl) => {
    const job = await pawl.enqueue<JobSpec>(type, input, asked).catch(saying(type))
    const { id, deduped, replayed, effect } = job
    if (options.wait !== true) {
      const already = replayed
        ? ' It was enqueued before.'
        : deduped
          ? ` It stands for this piece of business already${effect === undefined ? '' : EFFECTS[effect]}.`
          : ''
      terminal.tell({ id, deduped, replayed, effect }, () =>
        terminal.look.quiet
          ? terminal.print(`${id}\n`)
          : terminal.say(`${terminal.paint.bold(id)} is enqueued.${already}`),
      )
      return await linkJob(session, id)
    }
    const result: unknown = await job.result({ timeout: durationOf('--timeout', options.timeout) })
    terminal.tell({ id, deduped, replayed, effect, state: 'succeeded', result: result ?? null }, () =>
      terminal.print(`${safeJson(result ?? null)}\n`),
    )
  })
}

const EFFECTS = {
  replaced: ', with this input now',
  next: '; this input comes next, once it has ended',
  ended: ', and has ended: this input is not kept',
} as const

/** By fields, or as a whole. */
export function inputOf({ param, input }: Pick<Options, 'param' | 'input'>): unknown {
  if (input === undefined) return fieldsIn(param)
  if (param !== undefined) throw new Usage('An input is given by -p or by --input, not by both.')
  return jsonFrom('--input', input)
}

function optionsOf(session: Session, options: Options): EnqueueOptions {
  const { queue, id, idempotencyKey, dedupeKey, delay, correlationId, parentId } = options
  const runAt = options.runAt === undefined ? undefined : Date.parse(options.runAt)
  if (Number.isNaN(runAt)) throw new Usage(`--run-at wants a time like 2030-01-07T09:00:00Z, not ${options.runAt}.`)
  const policy = options.policy === undefined ? undefined : (jsonOf('--policy', options.policy) as PolicyInput)
  const priority = priorityOf(options.priority)
  const labels = labelsOf(options.label)
  return {
    queue,
    policy,
    id,
    idempotencyKey,
    dedupeKey,
    dedupe: duplicatesOf(options),
    runAt,
    priority,
    labels,
    correlationId,
    parentId,
    flow: flowIn(options),
    delay: delay === undefined ? undefined : durationOf('--delay', delay),
    tenant: session.tenant,
    actor: session.actor,
  }
}

/** Undefined: as its type says. What is wrong with a word, the library says. */
function duplicatesOf({ dedupeFor, onDuplicate, within, atMost, dedupeKey }: Options): EnqueueOptions['dedupe'] {
  const said = { for: dedupeFor, onDuplicate, within, atMost }
  if (Object.values(said).every((word) => word === undefined)) return undefined
  if (dedupeKey === undefined) throw new Usage('What duplicates do is said of a key: add --dedupe-key <key>.')
  return said as DuplicatesInput
}

/** A type that is known by name only has to be announced by a worker, or its queue be named. */
const saying =
  (type: string) =>
  (error: unknown): never => {
    if (error instanceof Invalid && error.violations.some(({ field }) => field === 'type'))
      throw new Usage(
        `No worker has announced ${type} here, so its queue is not known.`,
        `Name it: pawl enqueue ${type} --queue <queue>`,
      )
    throw error
  }
