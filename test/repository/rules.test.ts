/**
 * Every rule about jobs is in core: what a state is called, which rank it has and by which letter it is written down is known
 * to core and codec. Whoever else names one has a reason, which stands here, or asks core.
 */
import { describe, expect, it } from 'vitest'
import { RANK, STATES } from '../../src/core/job.ts'
import { EVENT_CODES, STATE_CODES } from '../../src/store/codec/codes.ts'
import { type Source, sources } from '../support/source.ts'
import { isFunction, isText, linesIn, type Node, program, walk } from '../support/syntax.ts'

const HOMES = ['src/core/', 'src/store/codec/', 'src/store/conformance/']

const typescript = sources('src/**/*.ts')
const elsewhere = typescript.filter(({ path }) => !HOMES.some((home) => path.startsWith(home)))

interface Exemption {
  readonly names: readonly string[]
  readonly why: string
}

const OPTION = 'the words of a policy’s options, which are named after states'
const EVENTS = 'names of events: what happened is told, nothing is decided by the state of a job'
const PEOPLE = 'words for people: columns, filters and aliases'
const ONES_OWN = 'the mode of an execution, not the state of a job'
const CLAIM = 'the event of a claim, which is what a store does by itself'

/** By file: the states it may name, and why. What is not needed any more must go. */
const NAMED: Readonly<Record<string, Exemption>> = {
  'src/cli/bulk.ts': { names: ['cancelled'], why: PEOPLE },
  'src/cli/choice.ts': { names: ['cancelled', 'dead_lettered', 'succeeded'], why: PEOPLE },
  'src/cli/commands/doctor.ts': { names: ['claimed', 'running', 'stalled'], why: PEOPLE },
  'src/cli/commands/enqueue.ts': { names: ['succeeded'], why: PEOPLE },
  'src/cli/operated.ts': { names: ['cancelled'], why: PEOPLE },
  'src/cli/commands/machine.ts': { names: ['claimed'], why: EVENTS },
  'src/cli/commands/queues.ts': { names: STATES, why: PEOPLE },
  'src/cli/commands/top.ts': {
    names: [
      'claimed',
      'failed',
      'parked',
      'pending',
      'queued',
      'retrying',
      'running',
      'stalled',
      'succeeded',
      'waiting',
    ],
    why: PEOPLE,
  },
  'src/cli/keep.ts': { names: ['succeeded'], why: PEOPLE },
  'src/client/words.ts': { names: ['failed'], why: OPTION },
  'src/gateway/contract/queries.ts': { names: ['cancelled'], why: PEOPLE },
  'src/gateway/contract/schemas.ts': { names: ['failed', 'stalled', 'timed_out'], why: OPTION },
  'src/gateway/contract/wire.ts': { names: ['claimed'], why: EVENTS },
  'src/gateway/traffic/traffic.ts': { names: ['claimed', 'succeeded'], why: EVENTS },
  'src/engine/observer.ts': { names: ['claimed', 'dead_lettered', 'failed', 'stalled', 'timed_out'], why: EVENTS },
  'src/engine/verify-bodies.ts': { names: ['dead_lettered', 'failed', 'succeeded', 'timed_out'], why: EVENTS },
  'src/library/hooks.ts': { names: ['dead_lettered', 'stalled'], why: EVENTS },
  'src/store/postgres/read/by-type.ts': { names: ['claimed'], why: CLAIM },
  'src/store/postgres/settle/change-row.ts': { names: ['claimed'], why: CLAIM },
  'src/store/postgres/postgres.ts': { names: ['claimed'], why: CLAIM },
  'src/store/postgres/read/records.ts': { names: ['claimed'], why: CLAIM },
  'src/store/postgres/schema/constants.ts': {
    names: ['parked', 'pending', 'queued', 'retrying', 'stalled', 'waiting'],
    why: 'where records of a state stand, for SQL: compared with every record by the port’s promises about reads',
  },
  'src/worker/alerts.ts': { names: ['running'], why: ONES_OWN },
  'src/worker/execution.ts': { names: ['running'], why: ONES_OWN },
}

const VERDICTS = 'verdicts, places and operations, as a letter each in the JSON of a function'
const DRIVERS = 'letters of the driver or the protocol'

/** By file: the letters it may write although a state or an event has the same one. */
const LETTERED: Readonly<Record<string, Exemption>> = {
  'src/store/postgres/connection/callers-transaction.ts': { names: ['T'], why: DRIVERS },
  'src/store/postgres/settle/change-row.ts': { names: ['p'], why: VERDICTS },
  'src/store/postgres/connection/client.ts': { names: ['t'], why: DRIVERS },
  'src/store/postgres/settle/commits.ts': { names: ['a', 'c', 'l'], why: VERDICTS },
  'src/store/postgres/read/find.ts': { names: ['t'], why: DRIVERS },
  'src/store/postgres/keep/keeping.ts': { names: ['a'], why: VERDICTS },
  'src/store/postgres/schema/migrate.ts': { names: ['t'], why: DRIVERS },
  'src/store/postgres/keep/settings.ts': { names: ['g', 'l', 'p', 'r'], why: VERDICTS },
  'src/store/postgres/names/step.ts': { names: ['l', 'p', 'r', 's'], why: VERDICTS },
}

describe('the names of states', () => {
  it('are known to core, codec and those who have a reason', () => {
    expect(namedIn(elsewhere, STATES)).toEqual(allowed(NAMED))
  })
})

describe('the letters of states and events', () => {
  it('are known to codec, and to nobody else who keeps records', () => {
    const letters = [...new Set([...Object.values(STATE_CODES), ...Object.values(EVENT_CODES)])]
    const stores = elsewhere.filter(({ path }) => path.startsWith('src/store/'))
    expect(namedIn(stores, letters)).toEqual(allowed(LETTERED))
  })
})

const NAME_OF_A_STATE = new RegExp(`'(?:${STATES.join('|')})'`, 'g')

/** What SQL, Lua and the stores' TypeScript may not know by themselves: each is filled in from core and codec when it is applied. */
const WRITTEN_DOWN = [
  ['a state by its letter', /\bstate\b\s*(?:=|<>|in)\s*\(?\s*'[A-Za-z]'/i],
  ['a state by its name', new RegExp(NAME_OF_A_STATE.source)],
  ['a shape by its letters', /\bshapes?\b[^;]*'\{?\s*[A-Za-z]{3}\s*\}?'/i],
  ['a rank or a place in a step', /\b\w*step\b(?!\.)[^,;'\n]{0,20}(?:&|>>|<<|=|<>)\s*\d/i],
  ['a place in a lane', /\blane\b\s*[/%*]\s*\d/i],
  ['the end of a lease', /[-+]\s*(?:\w+\.(?:window(?:_ms)?|lease_ms)|window)\b/i],
] as const

const FOR_PEOPLE: Readonly<Record<string, string>> = {
  'src/store/postgres/read/events.sql':
    'a view for people: a birth and a claim are told by their names, no text has their letters',
  'src/store/postgres/ledger/events.sql': 'the same view, of a ledger',
}

describe('SQL and scripts', () => {
  const functions = sources('src/**/*.sql').filter(({ path }) => !/\/schema\/\d/.test(path))
  const texts = [
    ...functions.map(({ path, text }) => ({ path, text: text.replaceAll(/--.*$/gm, '') })),
    ...sources('src/**/*.lua').map(({ path, text }) => ({ path, text: text.replaceAll(/--.*$/gm, '') })),
  ]
  /** Names that TypeScript has stand above, with their reasons: there a name is often one of an event, or of a field. */
  const programs = elsewhere
    .filter(({ path }) => path.startsWith('src/store/'))
    .map(({ path, text }) => ({
      path,
      text: text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, '').replaceAll(NAME_OF_A_STATE, "''"),
    }))

  it.each(WRITTEN_DOWN)('does not write down %s', (_, pattern) => {
    const found = [...texts, ...programs].filter(
      ({ path, text }) => pattern.test(text) && FOR_PEOPLE[path] === undefined,
    )
    expect(found.map(({ path }) => path)).toEqual([])
  })

  it('would be found out', () => {
    const bad = [
      "where p.state <> 'S'",
      "when s = 'queued' then",
      "shapes text[] := '{qcc}'",
      `step & 15 in (${RANK.claimed})`,
      'lane / 10',
      'claimed_at + r.window_ms',
    ]
    for (const [n, [, pattern]] of WRITTEN_DOWN.entries()) expect(bad[n]).toMatch(pattern)
  })
})

const FUNCTION_LINES = 80
const FILE_LINES = 400

/** Longer ones, and what they may come to at most: no others may come, and who has become short enough must go. */
const LONG_FUNCTIONS: Readonly<Record<string, number>> = {
  // One case for each event type, exhaustively.
  'src/store/codec/payload.ts pack': 100,
}

const LONG_FILES: Readonly<Record<string, number>> = {
  // One thing with a life, whose modes exclude each other.
  'src/worker/execution.ts': 445,
  // The port: all of it is to be read at once.
  'src/store/store.ts': 430,
  // A method for each call of the library, with what users read about it.
  'src/library/pawl.ts': 430,
}

const READ_TOO = ['src/**/*.{sql,lua}', 'dashboard/src/**/*.{ts,tsx,css}', 'scripts/**/*.{ts,mjs}', 'bench/**/*.ts']

describe('nothing grows beyond what can be read at once', () => {
  it('functions', () => {
    expectWithin(longFunctions(), LONG_FUNCTIONS)
  })

  it('files', () => {
    const all = [...typescript, ...READ_TOO.flatMap((glob) => sources(glob))].map(
      ({ path, text }) => [path, linesIn(text)] as const,
    )
    expectWithin(Object.fromEntries(all.filter(([, lines]) => lines > FILE_LINES)), LONG_FILES)
  })
})

/** Whoever mends one lowers the number. */
const CASTS = 9

it('a value is not called what it is not: `as never` and casts of casts are counted, and become fewer', () => {
  let casts = 0
  for (const { path, text } of typescript) {
    walk(program(path, text), (node) => {
      if (isCast(node) && (node.typeAnnotation.type === 'TSNeverKeyword' || isCast(node.expression))) casts += 1
    })
  }
  expect(casts).toBe(CASTS)
})

function expectWithin(found: Readonly<Record<string, number>>, most: Readonly<Record<string, number>>): void {
  expect(Object.keys(found).sort()).toEqual(Object.keys(most).sort())
  for (const [name, lines] of Object.entries(found)) expect(lines, name).toBeLessThanOrEqual(most[name] ?? 0)
}

function longFunctions(): Readonly<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const { path, text } of typescript) {
    walk(program(path, text), (node) => {
      const lines = linesIn(text.slice(node.start, node.end)) + 1
      if (isFunction(node) && lines > FUNCTION_LINES) found[`${path} ${nameOf(node)}`] = lines
    })
  }
  for (const { path, text } of sources('src/**/*.sql')) {
    const lines = linesIn(text.slice(text.search(/^create or replace function/m)))
    if (text.includes('create or replace function') && lines > FUNCTION_LINES) found[path] = lines
  }
  return found
}

const nameOf = (node: Node): string =>
  'id' in node && typeof node.id === 'object' && node.id !== null && 'name' in node.id ? String(node.id.name) : '=>'

type Cast = Node & { readonly expression: Node; readonly typeAnnotation: Node }

const isCast = (node: Node): node is Cast => node.type === 'TSAsExpression'

/** Names in the order of the alphabet, by file. Types do not count: they decide nothing. */
function namedIn(files: readonly Source[], names: readonly string[]): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for (const { path, text } of files) {
    const here = new Set<string>()
    walk(program(path, text), (node) => {
      if (isText(node) && names.includes(node.value)) here.add(node.value)
    })
    if (here.size > 0) found[path] = [...here].sort()
  }
  return found
}

const allowed = (exempt: Readonly<Record<string, Exemption>>): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(Object.entries(exempt).map(([path, { names }]) => [path, [...names].sort()]))
