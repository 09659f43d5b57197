/** Every verb there is. Help, completions and the page about the command line are read off this tree. */
import { Command } from 'commander'
import { versionOfPawl } from '../system/version.ts'
import { audit } from './commands/audit.ts'
import { bench } from './commands/bench.ts'
import { completion } from './commands/completion.ts'
import { deadLetters } from './commands/dead-letters.ts'
import { demo } from './commands/demo.ts'
import { derive } from './commands/derive.ts'
import { doctor } from './commands/doctor.ts'
import { enqueue } from './commands/enqueue.ts'
import { explain } from './commands/explain.ts'
import { exportJobs } from './commands/export.ts'
import { importJobs } from './commands/import.ts'
import { jobs } from './commands/jobs.ts'
import { limits } from './commands/limits.ts'
import { machine } from './commands/machine.ts'
import { migrate } from './commands/migrate.ts'
import { operations } from './commands/operations.ts'
import { policy } from './commands/policy.ts'
import { queues } from './commands/queues.ts'
import { schedules } from './commands/schedules.ts'
import { serve } from './commands/serve.ts'
import { tail } from './commands/tail.ts'
import { token } from './commands/token.ts'
import { top } from './commands/top.ts'
import { verify } from './commands/verify.ts'
import { work } from './commands/work.ts'
import { workers } from './commands/workers.ts'
import { EXIT_MEANINGS } from './exit.ts'
import type { Session } from './session.ts'

export interface Context {
  /** Known once a command runs. */
  readonly session: () => Session
}

export type Verb = (parent: Command, context: Context) => void

const GROUPS: readonly (readonly [heading: string, verbs: readonly Verb[]])[] = [
  ['Start here:', [demo, serve, work, enqueue]],
  ['Look and move:', [jobs, deadLetters, operations, queues, limits, schedules, workers, tail, top, explain]],
  ['The machine:', [machine, derive, verify, policy]],
  ['Run it:', [migrate, doctor, token, audit, exportJobs, importJobs, bench, completion]],
]

export function program(context: Context): Command {
  const root = new Command('pawl')
    .description('Durable jobs: enqueue them, watch them, move them, run them.')
    .version(versionOfPawl() ?? 'unknown', '--version')
    .option('--url <url>', 'a file, postgres://…, redis://…, or a gateway’s http://… (PAWL_URL; .pawl/jobs.db)')
    .option('--url-file <file>', 'a file that holds it, - for standard input (PAWL_URL_FILE)')
    .option('--token <token>', 'the gateway’s token (PAWL_TOKEN)')
    .option('--token-file <file>', 'a file that holds it, - for standard input (PAWL_TOKEN_FILE)')
    .option('--keys-file <file>', 'the keys of encrypted jobs, as JSON (PAWL_KEYS_FILE)')
    .option('--tenant <tenant>', 'whose jobs, where the store is at hand (PAWL_TENANT)')
    .option('--schema <schema>', 'Postgres: pawl’s schema (PAWL_SCHEMA; pawl)')
    .option('--direct-url <url>', 'Postgres: past the pooler, for hints and migrations (PAWL_DIRECT_URL)')
    .option(
      '--dashboard-url <url>',
      'where people see these jobs; what is told of them links there (PAWL_DASHBOARD_URL)',
    )
    .option('--json', 'JSON on standard output, one object or one per line: the stable contract')
    .option('--quiet', 'nothing but what was asked for')
    .option('--yes', 'do not ask before doing it to many')
    .option('--no-color', 'no colours (NO_COLOR; FORCE_COLOR for the opposite)')
    .showHelpAfterError('(pawl --help, or --help after any verb)')
    .addHelpText(
      'after',
      `\nSecrets: whatever stands on a command line can be read by everybody on the machine. URLs with passwords and tokens\nalso come from the environment or from files (above); Postgres passwords from PGPASSWORD or ~/.pgpass, too.\n\nExit codes:\n${EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padEnd(4)} ${meaning}`).join('\n')}`,
    )
  for (const [heading, verbs] of GROUPS) {
    root.commandsGroup(heading)
    for (const verb of verbs) verb(root, context)
  }
  return root
}
