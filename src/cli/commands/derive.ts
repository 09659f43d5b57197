/** `pawl derive`: a document's own fold over a foreign log, with everything about the log that it forbids. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { deriveDialect } from '../../core/dialects/derive.ts'
import { countOf, readingOf } from '../choice.ts'
import { examples } from '../example.ts'
import { Ended, EXIT, Missing, Usage } from '../exit.ts'
import type { Context } from '../program.ts'
import type { Session } from '../session.ts'
import { safe } from '../terminal.ts'

export function derive(parent: Command, { session }: Context): void {
  const command = parent
    .command('derive [file]')
    .description('the status a foreign log comes to, and what is wrong with it; exits with 1 if anything is')
    .requiredOption('--dialect <dialect>', 'whose words the log is in: 000A, 000B, 001, 002, 003, 003-explicit or 004')
    .option(
      '--rev <revision>',
      'the revision a log of ours was told up to: what is missing at its end is noticed, too (what jobs events --json has told says so itself)',
    )
    .action((file: string | undefined, options: Options) => run(session(), file, options))
  examples(
    command,
    'pawl derive --dialect 003 job.jsonl',
    'pawl jobs events pj_1k9f3 --dialect 001 --json | pawl derive --dialect 001',
  )
}

interface Options {
  readonly dialect: string
  readonly rev?: string
}

function run({ terminal }: Session, file: string | undefined, { dialect: name, rev }: Options): void {
  const dialect = readingOf(name)
  if (dialect === undefined) throw new Usage('--dialect says whose words the log is in.')
  const log = logIn(textOf(file))
  const reaches = rev === undefined ? log.rev : countOf('--rev', rev, { min: 0, max: Number.MAX_SAFE_INTEGER })
  const derived = deriveDialect(dialect, log.entries, reaches)
  terminal.tell(derived, () => {
    const { paint } = terminal
    const status = derived.status === undefined ? 'nothing has happened' : safe(derived.status)
    terminal.say(`${paint.bold(status)}${derived.constant === undefined ? '' : ` (${derived.constant})`}`)
    terminal.say(paint.dim(`${derived.lines} lines, ${derived.repeated} repeated, ${derived.passedOver} passed over`))
    for (const { line, rule, what } of derived.violations)
      terminal.say(`${paint.red(rule)} line ${line}: ${safe(what)}`)
  })
  if (derived.violations.length > 0) throw new Ended(EXIT.failure)
}

function textOf(file: string | undefined): string {
  try {
    return readFileSync(file === undefined || file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new Missing(
      `${file ?? 'Standard input'} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

interface Log {
  readonly entries: readonly unknown[]
  /** What it says that it was told up to. */
  readonly rev: number | undefined
}

/** A list, or what `jobs events --json` and the gateway tell, which is one with its revision; else line by line. */
function logIn(text: string): Log {
  const whole = parsed(text)
  if (Array.isArray(whole)) return { entries: whole, rev: undefined }
  if (typeof whole === 'object' && whole !== null && 'events' in whole && Array.isArray(whole.events))
    return { entries: whole.events, rev: 'rev' in whole && typeof whole.rev === 'number' ? whole.rev : undefined }
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  // What is no JSON is reported like any other line that makes no sense.
  return { entries: lines.map(parsed), rev: undefined }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
