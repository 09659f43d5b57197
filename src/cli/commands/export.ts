/** `pawl export`: jobs with their whole history and all their bodies, one per line; with `--settings` what else moves with them. */

import { once } from 'node:events'
import { createWriteStream, existsSync, statSync, truncateSync } from 'node:fs'
import type { Command } from 'commander'
import { carriedJob, carriedLimits, carriedSettings } from '../../engine/transfer/carried.ts'
import type { Pawl } from '../../library/pawl.ts'
import { visibleJson } from '../../system/visible.ts'
import { examples } from '../example.ts'
import { Usage } from '../exit.ts'
import { type ExportedLine, lineOf, parsedLine } from '../exported.ts'
import { linesOf } from '../lines.ts'
import type { Context } from '../program.ts'
import { needsStore, type Session, withExisting, withoutKeys } from '../session.ts'
import { type Filters, filters, queryOf } from './jobs.ts'

const PAGE = 100

interface Options extends Filters {
  readonly output?: string
  readonly settings?: boolean
  readonly resume?: boolean
}

export function exportJobs(parent: Command, { session }: Context): void {
  const command = filters(parent.command('export').description('jobs with their whole history, one per line of JSON'))
    .option('-o, --output <file>', 'a file instead of standard output')
    .option('--settings', 'before them queues, schedules, limits, tokens, job types and the audit log')
    .option('--resume', 'go on with a file that an earlier export has left unfinished')
    .action((options: Options) => run(session(), options))
  examples(
    command,
    'pawl export -o jobs.jsonl',
    'pawl export --state dead_lettered | jq -r .job.id',
    'pawl export --settings -o all.jsonl && pawl import all.jsonl --history --url redis://localhost --yes',
  )
}

async function run(session: Session, options: Options): Promise<void> {
  const { terminal } = session
  const query = queryOf(session, options)
  if (options.settings === true) needsStore(session, 'export --settings')
  if (options.resume === true && options.output === undefined)
    throw new Usage('--resume goes on with a file.', 'Name it: --output.')
  await withExisting(withoutKeys(session), async (pawl) => {
    const before = options.resume === true ? await leftIn(options.output ?? '') : UNTOUCHED
    const { write, end } = await outlet(options.output, before)
    if (options.settings === true && before.jobs === 0) await writeSettings(pawl, write)
    let seen = 0
    let exported = before.jobs
    let moving = 0
    let cursor: string | undefined
    do {
      const page = await pawl.find({ ...query, order: 'oldest', limit: PAGE, cursor })
      for (const job of page.jobs) {
        seen += 1
        if (before.ids.has(job.id)) continue
        const carried = await carriedJob(pawl.engine, job.id)
        if (carried === undefined) moving += 1
        else {
          exported += 1
          await write(lineOf(carried))
        }
      }
      cursor = page.cursor
      terminal.progress('exported', seen)
    } while (cursor !== undefined && !session.signal.aborted)
    terminal.progressDone()
    await end()
    if (moving > 0)
      terminal.warn(`${moving} jobs moved whenever they were read, and are not in it: stop workers first.`)
    if (options.output === undefined) return
    terminal.tell({ exported, moving, file: options.output }, () =>
      terminal.say(`${exported} jobs are in ${options.output}.`),
    )
  })
}

async function writeSettings(pawl: Pawl, write: (line: ExportedLine) => Promise<void>): Promise<void> {
  for await (const setting of carriedSettings(pawl.engine)) await write({ pawl: 'setting', version: 1, ...setting })
  for await (const limit of carriedLimits(pawl.engine)) await write({ pawl: 'limit', version: 1, ...limit })
}

/** What an earlier export has left: which jobs, and how many bytes of the file are whole lines. */
interface Left {
  readonly ids: ReadonlySet<string>
  readonly jobs: number
  readonly bytes: number
}

const UNTOUCHED: Left = { ids: new Set(), jobs: 0, bytes: 0 }

async function leftIn(path: string): Promise<Left> {
  if (!existsSync(path)) return UNTOUCHED
  const ids = new Set<string>()
  let bytes = 0
  const size = statSync(path).size
  let n = 0
  for await (const line of linesOf(path)) {
    n += 1
    const length = Buffer.byteLength(line) + 1
    // The last line may have been cut off: whatever it says, only what ends in a line break is whole.
    if (bytes + length > size) break
    const exported = parsedLine(line, n)
    if (exported.pawl === 'job') ids.add(String(exported.job['id']))
    bytes += length
  }
  return { ids, jobs: ids.size, bytes }
}

/** Where lines go. Whoever reads is waited for: what nobody has taken yet is not kept in memory. */
async function outlet(path: string | undefined, { bytes }: Left) {
  // Payloads are in it, as in the store: a new one is its owner's alone.
  const flags = bytes > 0 ? { flags: 'r+', start: bytes } : {}
  if (path !== undefined && bytes > 0) truncateSync(path, bytes)
  const file = path === undefined ? undefined : createWriteStream(path, { mode: 0o600, ...flags })
  if (file !== undefined) await once(file, 'open')
  const out = file ?? process.stdout
  return {
    write: async (line: ExportedLine) => {
      if (!out.write(`${visibleJson(line)}\n`)) await once(out, 'drain')
    },
    end: async () => {
      if (file === undefined) return
      file.end()
      await once(file, 'close')
    },
  }
}
