import type { Command, Option } from 'commander'
import { examplesOf } from '../../src/cli/example.ts'
import { EXIT_MEANINGS } from '../../src/cli/exit.ts'
import { program } from '../../src/cli/program.ts'
import { code, page, table } from './markdown.ts'

export function cliPage(): string {
  const root = program({
    session: () => {
      throw new Error('nothing is run here')
    },
  })
  return page(
    'The command line',
    'src/cli/program.ts',
    '`pawl` works on a store (a file, `postgres://…`) or on a gateway (`http://…` with a token): the same verbs, the same words. People get tables and colours (none when piped, `NO_COLOR` and `FORCE_COLOR` are obeyed); programs say `--json` and get one object, or one per line where there is no end, which is the stable contract. Errors go to standard error: the code, why, who owns the job, what to do next. Whatever a job contains, control characters and those that turn text around are shown and never sent to the terminal; in JSON they are escaped, which is the same JSON. Before anything is done to many, `--dry-run` says to how many.',
    '## Everywhere',
    optionTable(root.options),
    '## Secrets',
    'Whatever stands on a command line can be read by everybody on the machine, and stays in the history of the shell. A URL with a password comes from `PAWL_URL` or from a file (`--url-file`, `PAWL_URL_FILE`), a token from `PAWL_TOKEN` or from a file (`--token-file`, `PAWL_TOKEN_FILE`), the keys of [encrypted](encryption.md) jobs from a file; a file named `-` is standard input. A Postgres URL without a password uses `PGPASSWORD` or `~/.pgpass`, as `psql` does. Who types a secret nevertheless is warned once, and the process is shown without it from then on. No output, error or log has one in it.',
    '## Exit codes',
    table(
      ['code', 'meaning'],
      EXIT_MEANINGS.map(([exit, meaning]) => [String(exit), meaning]),
    ),
    ...visible(root).flatMap((command) => [`## pawl ${command.name()}`, ...about(command, 'pawl')]),
  )
}

function about(command: Command, path: string): string[] {
  const here = `${path} ${command.name()}`
  const also = command.aliases().length === 0 ? '' : ` Also: ${command.aliases().map(code).join(', ')}.`
  const children = visible(command)
  const parts = [`${capital(command.description())}.${also}`]
  if (children.length === 0) parts.push(`\`\`\`\n${here} ${command.usage()}\n\`\`\``)
  if (command.options.length > 0) parts.push(optionTable(command.options))
  const lines = examplesOf(command)
  if (lines.length > 0) parts.push(`\`\`\`sh\n${lines.join('\n')}\n\`\`\``)
  return [...parts, ...children.flatMap((child) => [`### ${here} ${child.name()}`, ...about(child, here)])]
}

/** What help shows; `help` itself is no verb of ours. */
const visible = (command: Command): readonly Command[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => command.commands.includes(child))

const optionTable = (options: readonly Option[]): string =>
  table(
    ['option', 'what it does'],
    options.map(({ flags, description, defaultValue }) => [code(flags), `${description}${unless(defaultValue)}`]),
  )

const unless = (value: unknown): string => (typeof value === 'string' ? ` (${code(value)})` : '')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
