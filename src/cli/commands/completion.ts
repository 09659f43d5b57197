/**
 * `pawl completion`: what a shell needs to complete our words. The scripts know nothing: they ask `pawl complete` what may
 * stand where the cursor is, so that all shells say the same, and values come from where the jobs are.
 */
import type { Command } from 'commander'
import { placeOf } from '../candidates.ts'
import { chosen } from '../choice.ts'
import { examples } from '../example.ts'
import type { Context } from '../program.ts'
import type { Session } from '../session.ts'
import { SHELLS, valuesFor } from '../values.ts'

export function completion(parent: Command, { session }: Context): void {
  const command = parent
    .command('completion <shell>')
    .description('completions for bash, zsh or fish: verbs, options, and values from the store that PAWL_URL names')
    .action((shell: string) => session().terminal.print(SCRIPTS[chosen('shell', shell, SHELLS)]))
  examples(
    command,
    'source <(pawl completion bash)',
    'pawl completion zsh > ~/.zfunc/_pawl',
    'pawl completion fish > ~/.config/fish/completions/pawl.fish',
  )
  parent
    .command('complete [words...]', { hidden: true })
    .description('what may stand in place of the last word, a line each, with a tab before what it means')
    .allowUnknownOption()
    .action((words: readonly string[]) => complete(session(), parent, words))
}

async function complete(session: Session, root: Command, args: readonly string[]): Promise<void> {
  const { candidates, wants, options } = placeOf(root, args)
  for (const { word, about } of candidates) session.terminal.print(`${word}\t${about}\n`)
  if (wants === undefined) return
  const { url = session.url, token = session.token, tenant = session.tenant, schema = session.schema } = options
  const there = { ...session, url, token, tenant, schema }
  for (const value of await valuesFor(there, wants.name, wants.typed))
    session.terminal.print(`${wants.prefix}${value.slice(wants.stays ?? 0)}\n`)
}

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = {
  bash: `# pawl: source <(pawl completion bash)
_pawl() {
  local IFS=$'\\n'
  COMPREPLY=($(pawl complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _pawl pawl
`,
  zsh: `#compdef pawl
_pawl() {
  local -a found
  local word about tab=$'\\t'
  pawl complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | while IFS=$tab read -r word about; do
    found+=("\${word//:/\\\\:}\${about:+:$about}")
  done
  if (( \${#found} )); then _describe pawl found; else _files; fi
}
compdef _pawl pawl
`,
  fish: `# pawl: pawl completion fish > ~/.config/fish/completions/pawl.fish
function __pawl_complete
  set -l found (pawl complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c pawl -f -a '(__pawl_complete)'
`,
}
