/**
 * A condition in CEL (https://cel.dev), compiled once and asked for each job. Whoever writes one is trusted to write rules, not
 * to know what they cost: each is bounded before it is ever evaluated, by its length, its nesting and the steps it may take in
 * the worst case. What could grow without bound has no place in a condition and is refused by name: `matches`, because the
 * expressions it takes can be exponential; `map`, `join` and `cel.bind`, by which a text can be doubled again and again.
 */
import {
  type ASTNode,
  Environment,
  EvaluationError,
  type ParseResult,
  TypeError as TypeFault,
} from '@marcbachmann/cel-js'
import { reasonOf } from '../core/reason.ts'
import { FACT_TYPES, JobFacts } from './facts.ts'

export const EXPRESSION_BOUNDS = {
  /** Letters of the text. */
  length: 2_000,
  /** Operators, names and values in it. */
  nodes: 300,
  /** How deep they are nested. */
  depth: 24,
  /** Members of a list that is written out; `env` and `labels` of a job have fewer. */
  list: 100,
  /** Comprehensions (`exists`, `all`, `exists_one`, `filter`) inside each other. */
  comprehensions: 2,
  /** Steps in the worst case, where every list has as many members as it may have. */
  steps: 100_000,
} as const

export interface Expression {
  readonly text: string
  /** Throws `Untellable` where it cannot be told, as for a key that is not there. */
  holds(job: JobFacts): boolean
}

/** Why a text is not a condition. */
export class Unacceptable extends Error {
  override readonly name = 'Unacceptable'
}

/**
 * Why a condition cannot be told of a job: what is wrong, and where in the condition. In the words of the policy alone: those of the library
 * quote what the job has, and a pointer's query, which may be a secret, would stand in its record for good.
 */
export class Untellable extends Error {
  override readonly name = 'Untellable'

  constructor(text: string, error: unknown) {
    super(`${faultIn(error)}${placeIn(text, error)}`)
  }
}

export function compiled(text: string): Expression {
  if (text.length > EXPRESSION_BOUNDS.length)
    throw new Unacceptable(`has ${text.length} letters; ${EXPRESSION_BOUNDS.length} are the most`)
  const program = parsed(text)
  bounded(program.ast)
  const { valid, type, error } = program.check()
  if (!valid) throw new Unacceptable(firstLine(reasonOf(error)))
  if (type !== 'bool') throw new Unacceptable(`is ${String(type)}; a condition is true or false`)
  const context: { job: JobFacts | undefined } = { job: undefined }
  return {
    text,
    holds(job) {
      context.job = job
      try {
        return program(context) === true
      } catch (error) {
        throw new Untellable(text, error)
      }
    },
  }
}

const isOfTheLibrary = (error: unknown): error is EvaluationError | TypeFault =>
  error instanceof EvaluationError || error instanceof TypeFault

/** Of the codes of the library, which are words of its own. */
function faultIn(error: unknown): string {
  if (!isOfTheLibrary(error)) return 'it cannot be evaluated'
  return error.code === 'no_such_key' ? 'there is no such key' : error.code.replaceAll('_', ' ')
}

/** Letters of a condition that are told. */
const QUOTED = 80

function placeIn(text: string, error: unknown): string {
  if (!isOfTheLibrary(error) || error.range === undefined) return ''
  const { start, end } = error.range
  const part = text.slice(start, Math.max(end, start + 1))
  return ` at letter ${start + 1}: ${part.length > QUOTED ? `${part.slice(0, QUOTED)}…` : part}`
}

const environment = new Environment({
  limits: {
    maxAstNodes: EXPRESSION_BOUNDS.nodes,
    maxDepth: EXPRESSION_BOUNDS.depth,
    maxListElements: EXPRESSION_BOUNDS.list,
    maxMapEntries: EXPRESSION_BOUNDS.list,
    maxCallArguments: 4,
  },
})
  .registerType('Job', { ctor: JobFacts, fields: { ...FACT_TYPES } })
  .registerVariable('job', 'Job')

function parsed(text: string): ParseResult {
  try {
    return environment.parse(text)
  } catch (error) {
    throw new Unacceptable(firstLine(reasonOf(error)))
  }
}

/** Below it the library draws the place with an arrow; a file and a line say it already. */
const firstLine = (message: string): string => message.split('\n', 1)[0] ?? message

const COMPREHENSIONS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'filter'])

/** Each takes time and room in proportion to what it is given, and gives no more than that. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...COMPREHENSIONS,
  ...['has', 'size', 'startsWith', 'endsWith', 'contains', 'lowerAscii', 'upperAscii', 'trim'],
  ...['indexOf', 'lastIndexOf', 'substring', 'int', 'uint', 'double', 'string', 'bool'],
])

function bounded(ast: ASTNode): void {
  const found = { comprehension: false, sum: false }
  const steps = stepsOf(ast, 0, found)
  // A member of one list, added to itself in the next: by nesting alone a text grows to any size.
  if (found.comprehension && found.sum)
    throw new Unacceptable('has both a comprehension and +: only one of them may be')
  if (steps > EXPRESSION_BOUNDS.steps)
    throw new Unacceptable(`may take ${steps} steps for one job; ${EXPRESSION_BOUNDS.steps} are the most`)
}

/** How many steps it takes at most, and what there is in it. */
function stepsOf(node: ASTNode, depth: number, found: { comprehension: boolean; sum: boolean }): number {
  const all = (nodes: readonly ASTNode[], at = depth) => nodes.reduce((sum, each) => sum + stepsOf(each, at, found), 1)
  switch (node.op) {
    case 'value':
    case 'id':
      return 1
    case '.':
    case '.?':
      return all([node.args[0]])
    case '!_':
    case '-_':
      return all([node.args])
    case 'list':
      return all(node.args)
    case 'map':
      return all(node.args.flat())
    case 'call':
      allowed(node.args[0])
      return all(node.args[1])
    case 'rcall': {
      const [name, receiver, inner] = node.args
      allowed(name)
      if (!COMPREHENSIONS.has(name)) return all([receiver, ...inner])
      found.comprehension = true
      if (depth === EXPRESSION_BOUNDS.comprehensions)
        throw new Unacceptable(`has comprehensions more than ${EXPRESSION_BOUNDS.comprehensions} deep`)
      const members = receiver.op === 'list' ? receiver.args.length : EXPRESSION_BOUNDS.list
      return all([receiver]) + members * all(inner, depth + 1)
    }
    case '+':
      found.sum = true
      return all(node.args)
    default:
      return all(node.args)
  }
}

const INSTEAD: Readonly<Record<string, string>> = {
  matches:
    'expressions it takes can need longer than anybody waits; use startsWith, endsWith, contains, or a topic pattern',
}

function allowed(name: string): void {
  if (FUNCTIONS.has(name)) return
  const why = INSTEAD[name] ?? `those are: ${[...FUNCTIONS].join(', ')}`
  throw new Unacceptable(`calls ${name}, which is not for conditions: ${why}`)
}
