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
    '`pawl` works on a store (a file, `postgres://…`) or on a gateway (`http://…` with a token): the same verbs, the same words. People get tables and colours (none when piped, `NO_COLOR` and `FORCE_COLOR` are obeyed); programs say `--json` and get one object, or one per line where there is no end, which is the stable contract. Errors go to standard error: the code, why, who owns the job, what to do next. Whatever a job contains, control characters are shown and never sent to the terminal. Before anything is done to many, `--dry-run` says to how many.',
    '## Everywhere',
    optionTable(root.options),
    '## Exit codes',
    table(
      ['code', 'meaning'],
      EXIT_MEANINGS.map(([exit, meaning]) => [String(exit), meaning]),
    ),
    ...root.commands.flatMap((command) => [`## pawl ${command.name()}`, ...about(command, 'pawl')]),
  )
}

function about(command: Command, path: string): string[] {
  const here = `${path} ${command.name()}`
  const also = command.aliases().length === 0 ? '' : ` Also: ${command.aliases().map(code).join(', ')}.`
  const children = command.commands
  const parts = [`${capital(command.description())}.${also}`]
  if (children.length === 0) parts.push(`\`\`\`\n${here} ${command.usage()}\n\`\`\``)
  if (command.options.length > 0) parts.push(optionTable(command.options))
  const lines = examplesOf(command)
  if (lines.length > 0) parts.push(`\`\`\`sh\n${lines.join('\n')}\n\`\`\``)
  return [...parts, ...children.flatMap((child) => [`### ${here} ${child.name()}`, ...about(child, here)])]
}

const optionTable = (options: readonly Option[]): string =>
  table(
    ['option', 'what it does'],
    options.map(({ flags, description, defaultValue }) => [code(flags), `${description}${unless(defaultValue)}`]),
  )

const unless = (value: unknown): string => (typeof value === 'string' ? ` (${code(value)})` : '')

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
