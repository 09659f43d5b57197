/** `pawl completion`: what a shell needs to know, read off the tree of verbs. */
import { type Command, Option } from 'commander'
import { chosen } from '../choice.ts'
import { examples } from '../example.ts'
import type { Context } from '../program.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export function completion(parent: Command, { session }: Context): void {
  const command = parent
    .command('completion <shell>')
    .description('completions for bash, zsh or fish')
    .action((shell: string) => session().terminal.print(SCRIPTS[chosen('shell', shell, SHELLS)](nodesOf(parent))))
  examples(
    command,
    'source <(pawl completion bash)',
    'pawl completion zsh > ~/.zfunc/_pawl',
    'pawl completion fish > ~/.config/fish/completions/pawl.fish',
  )
}

/** A verb: the words before it, the words that may follow it, its options. */
interface Node {
  readonly path: string
  readonly verbs: readonly { readonly name: string; readonly about: string }[]
  readonly options: readonly {
    readonly long: string
    readonly short: string | undefined
    readonly about: string
    readonly takes: boolean
  }[]
}

function nodesOf(root: Command): readonly Node[] {
  const shared = [...root.options, new Option('--help', 'what there is')]
  const node = (command: Command, path: string): readonly Node[] => [
    {
      path,
      verbs: command.commands.flatMap((child) =>
        [child.name(), ...child.aliases()].map((name) => ({ name, about: child.description() })),
      ),
      options: (command === root ? shared : [...command.options, ...shared]).flatMap(
        ({ long, short, description, required, optional }) =>
          long === undefined || long === null
            ? []
            : [{ long, short: short ?? undefined, about: description, takes: required || optional }],
      ),
    },
    ...command.commands.flatMap((child) =>
      [child.name(), ...child.aliases()].flatMap((name) => node(child, `${path}${path === '' ? '' : ' '}${name}`)),
    ),
  ]
  return node(root, '')
}

const SCRIPTS: Readonly<Record<(typeof SHELLS)[number], (nodes: readonly Node[]) => string>> = { bash, zsh, fish }

/** The path of verbs is found among the words so far; options and their values are passed over. */
function bash(nodes: readonly Node[]): string {
  const cases = nodes.map(
    ({ path, verbs, options }) =>
      `    '${path}') words='${[...verbs.map(({ name }) => name), ...options.map(({ long }) => long)].join(' ')}' ;;`,
  )
  const paths = nodes.map(({ path }) => `'${path}'`).join('|')
  return `# pawl: source <(pawl completion bash)
_pawl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at='' words='' i next
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${at:+$at }\${COMP_WORDS[i]}"
    case "$next" in ${paths}) at="$next" ;; esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _pawl pawl
`
}

function zsh(nodes: readonly Node[]): string {
  const described = (name: string, about: string) =>
    `'${`${name.replaceAll(':', '\\:')}:${about}`.replaceAll("'", "'\\''")}'`
  const cases = nodes.map(
    ({ path, verbs, options }) =>
      `    '${path}') words=(${[...verbs.map(({ name, about }) => described(name, about)), ...options.map(({ long, about }) => described(long, about))].join(' ')}) ;;`,
  )
  const paths = nodes.map(({ path }) => `'${path}'`).join('|')
  return `#compdef pawl
_pawl() {
  local at='' i next
  local -a words_so_far words
  words_so_far=("\${(@)words[2,CURRENT-1]}")
  for i in "\${words_so_far[@]}"; do
    next="\${at:+$at }$i"
    case "$next" in ${paths}) at="$next" ;; esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  _describe 'pawl' words
  _files
}
compdef _pawl pawl
`
}

function fish(nodes: readonly Node[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = nodes.flatMap(({ path, verbs, options }) => {
    const when = `-n ${quoted(`__pawl_at ${quoted(path)}`)}`
    return [
      ...verbs.map(({ name, about }) => `complete -c pawl -f ${when} -a ${name} -d ${quoted(about)}`),
      ...options.map(
        ({ long, short, about, takes }) =>
          `complete -c pawl ${when} -l ${long.slice(2)}${short === undefined ? '' : ` -s ${short.slice(1)}`}${takes ? ' -r' : ''} -d ${quoted(about)}`,
      ),
    ]
  })
  return `# pawl: pawl completion fish > ~/.config/fish/completions/pawl.fish
function __pawl_at
  set -l known ${nodes
    .filter(({ path }) => path !== '')
    .map(({ path }) => quoted(path))
    .join(' ')}
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    contains -- $next $known; and set at $next
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`
}
