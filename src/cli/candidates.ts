/** What the last of some typed words may become: verbs, options or values, read off the tree of verbs. */
import type { Command, Option } from 'commander'

export interface Candidate {
  readonly word: string
  readonly about: string
}

export interface Wanted {
  readonly name: string
  readonly typed: string
  readonly prefix: string
  /** How much of what was typed the shell keeps, and is not to be told again. */
  readonly stays?: number
}

export interface Place {
  /** What may stand here, if it begins so. */
  readonly candidates: readonly Candidate[]
  /** The name of the value that is wanted here, and how much of it has been typed; after `prefix`, which stays. */
  readonly wants: Wanted | undefined
  /** Options given so far that say where the jobs are. */
  readonly options: Readonly<Record<string, string>>
}

export function placeOf(root: Command, typed: readonly string[]): Place {
  // Bash takes `--state=failed` for three words, and `state:failed` as well.
  const [args, stays] = rejoined(typed.at(-1) === '=' || typed.at(-1) === ':' ? [...typed, ''] : typed)
  const current = args.at(-1) ?? ''
  const options: Record<string, string> = {}
  let at = root
  let positionals = 0
  let awaiting: Option | undefined
  for (const word of args.slice(0, -1)) {
    if (awaiting !== undefined && word === '=') continue
    if (awaiting !== undefined) {
      options[awaiting.attributeName()] = word
      awaiting = undefined
      continue
    }
    const child = childOf(at, word)
    if (word.startsWith('-')) awaiting = word.includes('=') ? undefined : takingValue(optionOf(root, at, word))
    else if (child === undefined) positionals += 1
    else at = child
  }
  const candidates = (all: readonly Candidate[]) => all.filter(({ word }) => word.startsWith(current))
  if (awaiting !== undefined) {
    return { candidates: [], wants: { name: nameOf(awaiting.flags), typed: current, prefix: '' }, options }
  }
  const joined = /^(--[\w-]+)=(.*)$/s.exec(current)
  if (joined !== null) {
    const [, long = '', value = ''] = joined
    const option = takingValue(optionOf(root, at, long))
    const name = option === undefined ? '' : nameOf(option.flags)
    return { candidates: [], wants: { name, typed: value, prefix: `${long}=` }, options }
  }
  if (current.startsWith('-')) return { candidates: candidates(optionsOf(root, at)), wants: undefined, options }
  const wanted = at.registeredArguments[Math.min(positionals, at.registeredArguments.length - 1)]
  const open = wanted !== undefined && (positionals < at.registeredArguments.length || wanted.variadic)
  const wants = open ? { name: wanted.name(), typed: current, prefix: '', stays } : undefined
  return { candidates: candidates(positionals === 0 ? verbsOf(at) : []), wants, options }
}

/** The last word with what stands before a colon, and how long that is. */
function rejoined(words: readonly string[]): readonly [words: readonly string[], stays: number] {
  const [field = '', colon, last = ''] = words.slice(-3)
  if (words.length < 3 || colon !== ':') return [words, 0]
  return [[...words.slice(0, -3), `${field}:${last}`], field.length + 1]
}

const visible = (command: Command): readonly Command[] => command.createHelp().visibleCommands(command)

const childOf = (at: Command, word: string): Command | undefined =>
  at.commands.find((child) => child.name() === word || child.aliases().includes(word))

const verbsOf = (at: Command): readonly Candidate[] =>
  at.commands
    .filter((child) => visible(at).includes(child))
    .flatMap((child) => [child.name(), ...child.aliases()].map((word) => ({ word, about: child.description() })))

const optionsOf = (root: Command, at: Command): readonly Candidate[] =>
  [...(at === root ? [] : at.options), ...root.options]
    .map(({ long, description }) => ({ word: long ?? '', about: description }))
    .concat({ word: '--help', about: 'what there is' })

const optionOf = (root: Command, at: Command, word: string): Option | undefined =>
  [...at.options, ...root.options].find(({ long, short }) => long === word || short === word)

const takingValue = (option: Option | undefined): Option | undefined =>
  option !== undefined && (option.required || option.optional) ? option : undefined

/** `-q, --queue <queues>`: queues. */
const nameOf = (flags: string): string => /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? ''
