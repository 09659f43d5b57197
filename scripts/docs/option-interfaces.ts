/** The option interfaces that users see, with what their doc comments say: what an editor shows, as data. */
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

export interface Member {
  readonly name: string
  readonly optional: boolean
  readonly type: string
  /** What its doc comment says, without the default; empty where there is none. */
  readonly meaning: string
  /** What stands behind `@default`. */
  readonly default: string | undefined
}

export interface OptionInterface {
  readonly name: string
  readonly path: string
  readonly meaning: string
  /** Those it has besides. */
  readonly bases: readonly string[]
  readonly members: readonly Member[]
}

/** What is said to the library, by its name. */
const IS_OPTIONS = /(?:Options|Input|Asked|Hooks|Operation)$/

/** Every option interface that these modules export, and every one that those build upon, in the order they are met. */
export function optionInterfaces(...modules: readonly string[]): readonly OptionInterface[] {
  const found = new Map<string, OptionInterface>()
  const add = (name: string, path: string): void => {
    const declared = found.has(name) ? undefined : interfaceIn(readFileSync(path, 'utf8'), name, path)
    if (declared === undefined) return
    found.set(name, declared)
    for (const base of declared.bases) add(base, homeOf(base, path))
  }
  for (const module of modules) {
    for (const name of namesIn(module)) if (IS_OPTIONS.test(name)) add(name, homeOf(name, module))
  }
  return [...found.values()]
}

const EXPORTS = /^export (?:type )?\{([^}]*)\} from '([^']+)'/gm
const IMPORTS = /^import (?:type )?\{([^}]*)\} from '([^']+)'/gm

const namesOf = (list: string): readonly string[] =>
  list
    .split(',')
    .map((word) => word.replace(/^\s*type\s+/, '').trim())
    .filter((word) => word !== '')

function namesIn(path: string): readonly string[] {
  const text = readFileSync(path, 'utf8')
  const passed = [...text.matchAll(EXPORTS)].flatMap(([, list = '']) => namesOf(list))
  const own = [...text.matchAll(/^export interface (\w+)/gm)].map(([, name = '']) => name)
  return [...passed, ...own]
}

/** Where a name comes from that a file mentions, however many files have passed it on. */
function homeOf(name: string, path: string): string {
  const text = readFileSync(path, 'utf8')
  if (new RegExp(`^(?:export )?(?:interface|type) ${name}\\b`, 'm').test(text)) return path
  for (const [, list = '', from = ''] of [...text.matchAll(EXPORTS), ...text.matchAll(IMPORTS)]) {
    if (namesOf(list).includes(name)) return homeOf(name, posix.join(posix.dirname(path), from))
  }
  throw new Error(`${path} does not say where ${name} is from`)
}

const HEAD = String.raw`(?:/\*\*((?:(?!\*/)[\s\S])*)\*/\n)?export interface `

/** Undefined where it is no interface but an alias. */
export function interfaceIn(text: string, name: string, path: string): OptionInterface | undefined {
  const head = new RegExp(`${HEAD}${name}\\b([^{]*)\\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text)
  if (head === null) return undefined
  const [, doc, extended = '', body = ''] = head
  const bases = /extends\s+([\s\S]+)/.exec(extended.replaceAll(/<[^<>]*>/g, ''))?.[1]?.split(',') ?? []
  return {
    name,
    path,
    meaning: told(doc).meaning,
    bases: bases.map((base) => base.trim()).filter((base) => IS_OPTIONS.test(base)),
    members: membersIn(body.split('\n')),
  }
}

const MEMBER = /^ {2}(?:readonly )?(\w+)(\??)(?::(?: |$)|(?=\())(.*)$/

/** As the formatter leaves them: a member's doc comment and its first line are indented by two. */
function membersIn(lines: readonly string[]): readonly Member[] {
  const members: (Omit<Member, 'meaning' | 'default'> & { type: string; readonly doc: string })[] = []
  let doc = ''
  let inDoc = false
  for (const line of lines) {
    const [, name = '', mark = '', type = ''] = (inDoc ? null : MEMBER.exec(line)) ?? []
    if (inDoc || /^ {2}\/\*\*/.test(line)) {
      doc = inDoc ? `${doc}\n${line}` : line
      inDoc = !line.includes('*/')
    } else if (name !== '') {
      members.push({ name, optional: mark === '?', type, doc })
      doc = ''
    } else {
      const last = members.at(-1)
      if (last !== undefined) last.type += ` ${line.trim()}`
    }
  }
  return members.map(({ doc, type, ...member }) => ({
    ...member,
    type: type.trim().replace(/ \| undefined$/, ''),
    ...told(doc.replaceAll(/\/\*\*|\*\//g, '')),
  }))
}

function told(doc: string | undefined): Pick<Member, 'meaning' | 'default'> {
  const text = (doc ?? '')
    .split('\n')
    .map((line) => line.replace(/^\s*\*? ?/, '').trimEnd())
    .join('\n')
    .trim()
  const [meaning = '', ...rest] = text.split(/^@default /m)
  return {
    meaning: meaning.replaceAll(/\s+/g, ' ').trim(),
    default: rest.length === 0 ? undefined : rest.join(' ').replaceAll(/\s+/g, ' ').trim(),
  }
}
