/** `pawl export`: jobs with their whole history and all their bodies, one per line. */

import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import type { Command } from 'commander'
import type { Job } from '../../core/job.ts'
import { eventToWire, jobToWire } from '../../gateway/contract/wire.ts'
import type { Pawl } from '../../library/pawl.ts'
import { visibleJson } from '../../system/visible.ts'
import { examples } from '../example.ts'
import type { Context } from '../program.ts'
import { type Session, withExisting, withoutKeys } from '../session.ts'
import { type Filters, filters, queryOf } from './jobs.ts'

/** One line of an export. Bodies are texts, exactly as they are stored; fences are secret and stay here. */
export interface ExportedJob {
  readonly pawl: 'job'
  readonly version: 1
  readonly job: Readonly<Record<string, unknown>>
  readonly bodies: Readonly<Record<string, string>>
  readonly events: readonly Readonly<Record<string, unknown>>[]
}

const PAGE = 100
const BODIES = ['input', 'output', 'checkpoint', 'step/', 'signal/', 'error/']

export function exportJobs(parent: Command, { session }: Context): void {
  const command = filters(parent.command('export').description('jobs with their whole history, one per line of JSON'))
    .option('-o, --output <file>', 'a file instead of standard output')
    .action((options: Filters & { readonly output?: string }) => run(session(), options))
  examples(command, 'pawl export -o jobs.jsonl', 'pawl export --state dead_lettered | jq -r .job.id')
}

async function run(session: Session, options: Filters & { readonly output?: string }): Promise<void> {
  const { terminal } = session
  const query = queryOf(session, options)
  await withExisting(withoutKeys(session), async (pawl) => {
    // Payloads are in it, as in the store: a new one is its owner's alone.
    const file = options.output === undefined ? undefined : createWriteStream(options.output, { mode: 0o600 })
    if (file !== undefined) await once(file, 'open')
    // Whoever reads is waited for: what nobody has taken yet is not kept in memory.
    const out = file ?? process.stdout
    const write = async (line: string) => {
      if (!out.write(line)) await once(out, 'drain')
    }
    let exported = 0
    let cursor: string | undefined
    do {
      const page = await pawl.find({ ...query, order: 'oldest', limit: PAGE, cursor })
      for (const job of page.jobs) await write(`${visibleJson(await lineOf(pawl, job))}\n`)
      exported += page.jobs.length
      cursor = page.cursor
      terminal.progress('exported', exported)
    } while (cursor !== undefined && !session.signal.aborted)
    terminal.progressDone()
    if (file === undefined) return
    file.end()
    await once(file, 'close')
    terminal.tell({ exported, file: options.output }, () => terminal.say(`${exported} jobs are in ${options.output}.`))
  })
}

async function lineOf(pawl: Pawl, { id }: Job): Promise<ExportedJob> {
  const [loaded] = (await pawl.engine.load([{ id, bodies: BODIES }])).items
  const events = await pawl.events(id)
  const job = loaded === undefined ? { id } : jobToWire(loaded.job, true)
  return { pawl: 'job', version: 1, job, bodies: loaded?.bodies ?? {}, events: events.map(eventToWire) }
}
