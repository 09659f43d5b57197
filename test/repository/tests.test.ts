/** Tests where one looks for them: titles that say what they prove, groups that can be read at once, fixtures called fixtures. */
import { describe, expect, it } from 'vitest'
import { conformance } from '../../src/store/conformance/conformance.ts'
import { filesLike, sources } from '../support/source.ts'
import { isFunction, isNode, isText, linesIn, type Node, program, walk } from '../support/syntax.ts'

const files = sources('test/**/*.ts')

/** What a title begins with that goes on where another has left off, and is not to be understood in a report. */
const GOES_ON = /^(nor|not|and|or|but|so|also|the same)\b/i
/** Whether a file may have such a title: most are not worth taking apart. */
const MAY_GO_ON = /['"`](nor|not|and|or|but|so|also|the same)\b/i

describe('a title', () => {
  it('can be read alone', () => {
    const found = files.filter(({ text }) => MAY_GO_ON.test(text)).flatMap(({ path, text }) => titlesIn(path, text))
    expect(found.filter(({ title }) => GOES_ON.test(title))).toEqual([])
  })

  it('of a promise can be read alone', () => {
    const cases = conformance({ name: 'none', open: () => Promise.reject(new Error('nothing is run here')) })
    expect(cases.length).toBeGreaterThan(100)
    expect(cases.filter(({ name }) => GOES_ON.test(name)).map(({ name }) => name)).toEqual([])
  })

  it('is found, however the test is written', () => {
    const text = ['it.each([1])("nor %i", () => {})', 'describe.each([1])(`and`, () => {})', 'itPooled("so", () => {})']
    const found = titlesIn('test/none.ts', text.join('\n')).map(({ title }) => title)
    expect(found).toEqual(['nor %i', 'and', 'so'])
    expect(found.every((title) => GOES_ON.test(title))).toBe(true)
  })
})

/** Lines of a function, be it a test, a group of them or something that both use. */
const LINES = 150

/** Longer ones, by file and what they are about, and what they may come to at most: the list becomes shorter. */
const LONG: Readonly<Record<string, number>> = {
  'test/dialects/derive.test.ts: a log that is not what it should be': 161,
  'test/engine/encryption.test.ts: %s': 199,
  'test/engine/steps.test.ts: a store’s clock that is set forward': 154,
  'test/library/spawn.test.ts: a child': 153,
  'test/store/postgres/batcher.test.ts: group commit': 179,
  'test/store/postgres/migrations.test.ts: migrations': 171,
  'test/worker/cells.test.ts: a handler in a process of its own': 158,
  'test/worker/context.test.ts: a handler that waits for no answer': 160,
}

describe('a function in a test file', () => {
  it('can be read at once', () => {
    const long: Record<string, number> = {}
    // Those of the documents are as long as what each of their rules takes.
    const others = files.filter(({ path, lines }) => lines.length > LINES && !path.startsWith('test/compliance/'))
    for (const { path, text } of others)
      for (const { title, lines } of functionsIn(path, text)) if (lines > LINES) long[`${path}: ${title}`] = lines
    expect(Object.keys(long).sort()).toEqual(Object.keys(LONG).sort())
    for (const [name, lines] of Object.entries(long)) expect(lines, name).toBeLessThanOrEqual(LONG[name] ?? 0)
  })
})

/** What is set up for a test is its fixture (`worker-fixture.ts`), whatever it is a fixture of. */
const THEATRE = /(^|-)(stage|scene|seat|cast|actor|house)s?(-|$)/

describe('a fixture', () => {
  it('is called one', () => {
    const named = filesLike('{test,src/store/conformance}/**/*.ts').filter(
      (path) => !path.startsWith('test/compliance/'),
    )
    expect(named.filter((path) => path.split(/[/.]/).some((word) => THEATRE.test(word)))).toEqual([])
  })
})

interface Titled {
  readonly path: string
  readonly title: string
}

function titlesIn(path: string, text: string): readonly Titled[] {
  const found: Titled[] = []
  walk(program(path, text), (node) => {
    const title = titleOf(node)
    if (title !== undefined) found.push({ path, title })
  })
  return found
}

/** By the title of the test or group that each is of, or by its name. */
function functionsIn(path: string, text: string): readonly { readonly title: string; readonly lines: number }[] {
  const found: { title: string; lines: number }[] = []
  const titles = new Map<Node, string>()
  walk(program(path, text), (node) => {
    const title = titleOf(node)
    if (title !== undefined) for (const each of argumentsOf(node)) titles.set(each, title)
    if (!isFunction(node)) return
    const lines = node.end - node.start > LINES ? linesIn(text.slice(node.start, node.end)) + 1 : 1
    found.push({ title: titles.get(node) ?? nameOf(node), lines })
  })
  return found
}

/** Of a call of `it`, `describe` or the like, with a table in between or not. */
function titleOf(node: Node): string | undefined {
  if (node.type !== 'CallExpression' || !('callee' in node) || !/^(it|test|describe)/.test(calledIn(node.callee)))
    return undefined
  const [first] = argumentsOf(node)
  if (first === undefined) return undefined
  if (isText(first)) return first.value
  return first.type === 'TemplateLiteral' && 'quasis' in first ? cookedIn(first.quasis) : undefined
}

const argumentsOf = (node: Node): readonly Node[] =>
  'arguments' in node && Array.isArray(node.arguments) ? node.arguments.filter(isNode) : []

/** `it`, of `it.each(table)`. */
function calledIn(callee: unknown): string {
  if (!isNode(callee)) return ''
  if ('name' in callee) return String(callee.name)
  if ('object' in callee) return calledIn(callee.object)
  return 'callee' in callee ? calledIn(callee.callee) : ''
}

const cookedIn = (quasis: unknown): string =>
  Array.isArray(quasis) ? quasis.map(({ value }: { value: { cooked: string } }) => value.cooked).join('') : ''

const nameOf = (node: Node): string =>
  'id' in node && isNode(node.id) && 'name' in node.id ? String(node.id.name) : 'a function without a name'
